#include "facts/workload/python_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "facts/workload/python_tokens.h"

namespace sparkops::facts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

bool any(const PythonCall&) {
  return true;
}
bool named_f(const PythonCall& call) {
  return call.last_name() == "f";
}

/// The value of keyword x of the one call f(…), or why it is not told, in angle brackets.
std::string value(const std::string& expression, const std::string& before = "", const PythonNames& known = {}) {
  const auto script = read_python(before + "\nf(x=" + expression + ")\n", named_f, known);
  if (!script) return "error: " + script.error().message;
  if (script->calls.size() != 1) return std::to_string(script->calls.size()) + " calls";
  const PythonArgument* const argument = script->calls[0].find("x");
  if (argument == nullptr) return "no x";
  if (!argument->cannot_tell.empty()) return "<" + argument->cannot_tell + ">";
  std::vector<Setting> settings;
  append_settings(argument->value, "f", settings);
  std::string text;
  for (const Setting& setting : settings)
    text += (text.empty() ? "" : " ") + (setting.key.empty() ? "" : setting.key + "=") + setting.value;
  return text;
}

TEST(PythonCalls, ReadLiterals) {
  EXPECT_EQ(value("4"), "4");
  EXPECT_EQ(value("-2_048"), "-2048");
  EXPECT_EQ(value("2e-5"), "2e-5");
  EXPECT_EQ(value("0x10"), "16");
  EXPECT_EQ(value("True"), "true");
  EXPECT_EQ(value("None"), "");
  EXPECT_EQ(value("\"a\" 'b'"), "ab");
  EXPECT_EQ(value("r'C:\\n'"), "C:\\n");
  EXPECT_EQ(value("'''long\n text'''"), "long\n text");
  EXPECT_EQ(value("torch.bfloat16"), "torch.bfloat16");
  EXPECT_EQ(value("[\"q_proj\", 'v_proj',]"), "0=q_proj 1=v_proj");
  EXPECT_EQ(value("(1, 2)"), "0=1 1=2");
  EXPECT_EQ(value("(7)"), "7");
  EXPECT_EQ(value("{'a': 1, 'b': [2]}"), "a=1 b.0=2");
  EXPECT_EQ(value("4 * 1024"), "4096");
  EXPECT_EQ(value("2**14"), "16384");
  EXPECT_EQ(value("2 * 4 + 1"), "9");
}

TEST(PythonCalls, FollowNamesThatAreAssignedOnce) {
  EXPECT_EQ(value("n", "n = 2048"), "2048");
  EXPECT_EQ(value("n", "n: int = 2048  # tokens"), "2048");
  EXPECT_EQ(value("n * 2", "n = 2048"), "4096");
  EXPECT_EQ(value("n", "n = 1\nn = 2"), "<n, which is assigned more than once>");
  EXPECT_EQ(value("n", "n = os.environ['N']"), "<the name n>");
  EXPECT_EQ(value("n", "if big: n = 4"), "<the name n>");
}

TEST(PythonCalls, FollowDefaultsOfOptionsUnlessTheyAreGiven) {
  const std::string parser = "parser.add_argument('--batch-size', type=int, default=8)";
  EXPECT_EQ(value("args.batch_size", parser), "8");
  EXPECT_EQ(value("args.batch_size", parser, {{"batch_size", "2"}}), "2");
  EXPECT_EQ(value("args.other", parser), "<the name args.other>");
  EXPECT_EQ(value("args.n", "p.add_argument('-x', '--xx', dest='n', default=3)"), "3");
}

TEST(PythonCalls, SayWhatTheyCannotTell) {
  EXPECT_THAT(value("g(1)"), HasSubstr("an expression: g ( 1 )"));
  EXPECT_THAT(value("a if b else c"), HasSubstr("expression"));
  EXPECT_THAT(value("f'{n}'"), HasSubstr("put together"));
  EXPECT_THAT(value("[1, n]"), HasSubstr("the name n"));
  EXPECT_THAT(value("2**80"), HasSubstr("too large"));
  EXPECT_THAT(value("10**18 * 100"), HasSubstr("too large"));
  EXPECT_THAT(value("lambda x: x"), HasSubstr("<"));
  EXPECT_THAT(value("[i for i in range(4)]"), HasSubstr("<"));
  EXPECT_THAT(value("1 // 0"), HasSubstr("too large"));
}

TEST(PythonCalls, AreFoundInsideOthersAndInFunctions) {
  const auto script = read_python(
      "from trl import SFTTrainer\nimport torch, os\ndef main():\n  t = SFTTrainer(model, args=SFTConfig(a=1,\n"
      "      b=2), **extra)\nclass Trainer(Base): pass\n",
      any);
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_THAT(script->imports, ElementsAre("trl", "torch"));
  ASSERT_THAT(script->calls, SizeIs(2));
  EXPECT_EQ(script->calls[0].name, "SFTTrainer");
  EXPECT_EQ(script->calls[0].line, 4);
  EXPECT_FALSE(script->calls[0].find("args")->cannot_tell.empty());
  EXPECT_FALSE(script->calls[0].find("**")->cannot_tell.empty());
  EXPECT_EQ(script->calls[1].find("b")->value.text(), "2");
}

TEST(PythonCalls, OfHostileFilesEnd) {
  EXPECT_THAT(value("'open"), HasSubstr("does not end"));
  EXPECT_THAT(value("'''open"), HasSubstr("does not end"));
  EXPECT_TRUE(read_python(std::string("f(x=1)\0f(x=2)", 13), any));
  EXPECT_TRUE(read_python("f(]", any));
  EXPECT_TRUE(read_python("f(}){[)(", any));
  EXPECT_TRUE(read_python(std::string(100'000, '('), any));
  EXPECT_TRUE(read_python("f(x=" + std::string(100'000, '['), any));
  std::string calls;
  for (int i = 0; i < 200'000; ++i) calls += "f(";
  EXPECT_FALSE(read_python(calls, any));  // would take hours
  std::string doubling = "a0 = [1, 2]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    doubling += "a" + std::to_string(i) + " = [" + before + ", " + before + "]\n";
  }
  EXPECT_FALSE(read_python(doubling + "f(x=a59)", any));
  EXPECT_FALSE(read_python(std::string(3'000'000, '+'), any));
}

RC_GTEST_PROP(PythonCalls, OfAnyTextGiveValuesOrAnError, (const std::string& text)) {
  (void)read_python(text, any);
  (void)read_python("f(" + text, any);
}

TEST(Notebook, GivesItsCodeWithoutShellLines) {
  const auto code = python_of_notebook(
      R"nb({"cells":[{"cell_type":"markdown","source":["# f(1)"]},
          {"cell_type":"code","source":["%%capture\n","!pip install x\n","f(x=1)\n"],
           "outputs":[{"data":{"image/png":"AA"}}]},
          {"cell_type":"code","source":"%%bash\nrm -rf /\n"},{"source":"g(2)","cell_type":"code"}],"nbformat":4})nb");
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_THAT(*code, HasSubstr("f(x=1)"));
  EXPECT_THAT(*code, HasSubstr("g(2)"));
  EXPECT_THAT(*code, testing::Not(HasSubstr("pip")));
  EXPECT_THAT(*code, testing::Not(HasSubstr("rm")));
  EXPECT_THAT(*code, testing::Not(HasSubstr("# f")));
  EXPECT_FALSE(python_of_notebook("{}"));
  EXPECT_FALSE(python_of_notebook("{\"cells\":["));
  EXPECT_FALSE(python_of_notebook("{\"cells\":" + std::string(1000, '[')));
}

}  // namespace
}  // namespace sparkops::facts
