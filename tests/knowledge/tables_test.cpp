#include "knowledge/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/text.h"

namespace sparkops::knowledge {
namespace {

using testing::AllOf;
using testing::AnyOfArray;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class OverrideDirectory : public testing::Test {
 protected:
  OverrideDirectory() { std::filesystem::create_directories(directory()); }
  ~OverrideDirectory() override { std::filesystem::remove_all(directory()); }

  // Each test is a process of its own, and many run at once.
  static std::string directory() {
    return testing::TempDir() + "sparkops-knowledge-test-" + std::to_string(::getpid());
  }
  static void write(const std::string& name, const std::string& content) {
    std::ofstream(directory() + "/" + name) << content;
  }
};

const char* const k_smaller_gb10 = R"(
- id: gb10
  name: our box
  pool_kib: 117755084
  architecture: aarch64
  cuda_major: 13
  capability_major: 12
  capability_minor: 1
  copy_low_gb_s: 1
  copy_high_gb_s: 2
  read_gb_s: 3
  bandwidth_text: measured here
  sources: [{title: our own bench}]
  last_verified: 2026-11-01
)";

TEST(CompiledInTables, HaveNoProblem) {
  const Tables tables(std::vector<std::string>{});
  EXPECT_THAT(tables.gotchas(), SizeIs(10));
  EXPECT_THAT(tables.topics(), SizeIs(Ge(25)));
  EXPECT_THAT(tables.symptoms(), SizeIs(Ge(25)));
  EXPECT_THAT(tables.servers(), SizeIs(9));
  EXPECT_THAT(tables.platforms(), SizeIs(Ge(1)));
  EXPECT_THAT(tables.playbooks(), SizeIs(Ge(15)));
  EXPECT_THAT(tables.stack(), SizeIs(Ge(12)));
  EXPECT_THAT(tables.wheels(), SizeIs(Ge(3)));
  EXPECT_THAT(tables.combinations(), SizeIs(Ge(3)));
  EXPECT_THAT(tables.recipes(), SizeIs(Ge(5)));
  EXPECT_THAT(tables.problems(), IsEmpty());
}

template <class Entries>
void expect_dates(const Entries& entries, const std::string& table) {
  const auto today = Timestamp::now();
  for (const auto& entry : entries) {
    const auto age = age_in_days(entry.last_verified, today);
    EXPECT_TRUE(age && *age >= 0) << table << ": " << entry.last_verified;
  }
}

template <class Entries>
void expect_sources(const Entries& entries, const std::string& table) {
  for (const auto& entry : entries) {
    EXPECT_FALSE(entry.sources.empty()) << table;
    for (const auto& source : entry.sources)
      EXPECT_TRUE(source.url.empty() || source.url.starts_with("https://")) << source.url;
  }
}

TEST(CompiledInTables, EveryEntryHasADateAndASource) {
  const Tables tables(std::vector<std::string>{});
  expect_dates(tables.gotchas(), "gotchas");
  expect_dates(tables.topics(), "topics");
  expect_dates(tables.symptoms(), "symptoms");
  expect_dates(tables.servers(), "servers");
  expect_dates(tables.platforms(), "platforms");
  expect_dates(tables.playbooks(), "playbooks");
  expect_dates(tables.stack(), "stack");
  expect_dates(tables.wheels(), "wheels");
  expect_dates(tables.combinations(), "combinations");
  expect_dates(tables.recipes(), "recipes");
  expect_sources(tables.gotchas(), "gotchas");
  expect_sources(tables.topics(), "topics");
  expect_sources(tables.servers(), "servers");
  expect_sources(tables.platforms(), "platforms");
  expect_sources(tables.playbooks(), "playbooks");
  expect_sources(tables.stack(), "stack");
  expect_sources(tables.wheels(), "wheels");
  expect_sources(tables.combinations(), "combinations");
  expect_sources(tables.recipes(), "recipes");
}

TEST(CompiledInTables, GotchasAreNumberedInOrder) {
  const Tables tables(std::vector<std::string>{});
  for (std::size_t i = 0; i < tables.gotchas().size(); ++i)
    EXPECT_EQ(tables.gotchas()[i].id, "G" + std::to_string(i + 1));
}

TEST(CompiledInTables, EveryReferenceLeadsSomewhere) {
  const Tables tables(std::vector<std::string>{});
  std::set<std::string> ids;
  for (const auto& gotcha : tables.gotchas()) ids.insert(gotcha.id);
  for (const auto& topic : tables.topics()) ids.insert(topic.id);
  EXPECT_EQ(ids.size(), tables.gotchas().size() + tables.topics().size());
  for (const auto& gotcha : tables.gotchas()) EXPECT_THAT(gotcha.see_also, Each(AnyOfArray(ids))) << gotcha.id;
  for (const auto& topic : tables.topics()) EXPECT_THAT(topic.see_also, Each(AnyOfArray(ids))) << topic.id;
  for (const auto& symptom : tables.symptoms()) EXPECT_THAT(symptom.leads_to, Each(AnyOfArray(ids))) << symptom.text;
}

/// All prose that a person may read in full.
std::vector<std::string> all_prose(const Tables& tables) {
  std::vector<std::string> texts;
  for (const auto& entry : tables.gotchas())
    texts.insert(texts.end(),
                 {entry.symptom, entry.cause, entry.check, entry.fix, entry.how_sure, entry.later_evidence});
  for (const auto& topic : tables.topics()) texts.push_back(topic.text);
  for (const auto& server : tables.servers()) texts.insert(texts.end(), {server.default_text, server.cap_advice});
  for (const auto& playbook : tables.playbooks()) texts.insert(texts.end(), {playbook.problem, playbook.fix});
  return texts;
}

TEST(CompiledInTables, CommandsFitATerminalAndExist) {
  constexpr std::size_t k_widest_command = 78;  // 80 columns less the indentation of the view
  const std::set<std::string> commands{"preflight", "explain", "capture", "status", "memory", "flush"};
  const Tables tables(std::vector<std::string>{});
  for (const auto& text : all_prose(tables)) {
    for (const auto& line : split_lines(text)) {
      const bool is_command = line.starts_with("$ ") || line.starts_with(">>> ");
      EXPECT_TRUE(!is_command || line.size() <= k_widest_command) << line;
    }
    for (auto at = text.find("sparkops "); at != std::string::npos; at = text.find("sparkops ", at + 1)) {
      const auto word = std::string(split_words(split_lines(std::string_view(text).substr(at))[0])[1]);
      EXPECT_THAT(commands, Contains(word)) << text;
    }
  }
}

TEST(CompiledInTables, Gb10IsWhatThePublishedFiguresSay) {
  const Tables tables(std::vector<std::string>{});
  const Platform& gb10 = tables.gb10();
  EXPECT_NEAR(in_gib(gb10.pool), 121.69, 0.005);
  EXPECT_EQ(gb10.architecture, "aarch64");
  EXPECT_EQ(gb10.cuda_major, 13);
  EXPECT_EQ(gb10.capability_major, 12);
  EXPECT_EQ(gb10.capability_minor, 1);
  EXPECT_EQ(gb10.management_interface, "enP7s7");
}

TEST(CompiledInTables, EveryServerIsThereUnderItsName) {
  const Tables tables(std::vector<std::string>{});
  for (const char* name :
       {"vllm", "sglang", "tensorrt_llm", "ollama", "llama_cpp", "lm_studio", "tgi", "comfyui", "triton_server"})
    EXPECT_NE(tables.server(name), nullptr) << name;
  EXPECT_EQ(tables.server("vLLM"), nullptr);
  EXPECT_EQ(tables.server("vllm")->default_fraction, 0.92);
  EXPECT_FALSE(tables.server("tensorrt_llm")->default_fraction);
}

TEST(CompiledInTables, MayBeAskedFromManyThreads) {
  const Tables tables(std::vector<std::string>{});
  std::vector<std::thread> threads;
  std::vector<std::size_t> counts(8);
  for (auto& count : counts) threads.emplace_back([&tables, &count] { count = tables.servers().size(); });
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(counts, Each(tables.servers().size()));
}

TEST_F(OverrideDirectory, ReplacesByKeyAndKeepsTheRest) {
  write("platforms.yaml", k_smaller_gb10);
  const Tables tables({directory()});
  EXPECT_EQ(tables.gb10().name, "our box");
  EXPECT_EQ(tables.gb10().pool.value, 117755084LL * 1024);
  EXPECT_THAT(tables.problems(), IsEmpty());
  EXPECT_NE(tables.server("vllm"), nullptr);
}

TEST_F(OverrideDirectory, ALaterDirectoryWins) {
  write("platforms.yaml", k_smaller_gb10);
  const auto second = directory() + "/second";
  std::filesystem::create_directories(second);
  std::string text = k_smaller_gb10;
  text.replace(text.find("our box"), 7, "the second");
  std::ofstream(second + "/platforms.yaml") << text;
  const Tables tables({directory(), second});
  EXPECT_EQ(tables.gb10().name, "the second");
}

TEST_F(OverrideDirectory, ABadEntryIsNamedAndLeavesTheCompiledInOne) {
  write("platforms.yaml", "- id: gb10\n  name: our box\n  pool_kib: many\n  colour: green\n  last_verified: soon\n");
  const Tables tables({directory()});
  EXPECT_EQ(tables.gb10().name, "NVIDIA DGX Spark (GB10)");
  const auto problems = tables.problems();
  EXPECT_THAT(problems, Contains(AllOf(HasSubstr("platforms.yaml:3"), HasSubstr("'pool_kib' must be a whole number"))));
  EXPECT_THAT(problems, Contains(AllOf(HasSubstr("platforms.yaml:4"), HasSubstr("unknown field 'colour'"))));
  EXPECT_THAT(problems, Contains(HasSubstr("'architecture' is missing")));
  EXPECT_THAT(problems, Contains(HasSubstr("'last_verified' must be a date such as 2026-11-30, not 'soon'")));
}

TEST_F(OverrideDirectory, OneBadEntryDoesNotTakeTheOthersAway) {
  write("platforms.yaml", std::string("- 7\n") + k_smaller_gb10);
  const Tables tables({directory()});
  EXPECT_EQ(tables.gb10().name, "our box");
  EXPECT_THAT(tables.problems(), SizeIs(Ge(1)));
}

TEST_F(OverrideDirectory, BrokenYamlIsNamedWithItsLine) {
  write("servers.yaml", "- server: vllm\n  name: [\n");
  const Tables tables({directory()});
  EXPECT_NE(tables.server("vllm"), nullptr);
  EXPECT_THAT(tables.problems(), Contains(AllOf(HasSubstr("servers.yaml: line "), HasSubstr(directory()))));
}

TEST_F(OverrideDirectory, AFileOfNoTableIsNamed) {
  write("platform.yaml", k_smaller_gb10);
  const Tables tables({directory()});
  EXPECT_THAT(tables.problems(), Contains(HasSubstr("platform.yaml: there is no table of this name")));
}

TEST_F(OverrideDirectory, AnEmptyFileIsNoProblem) {
  write("platforms.yaml", "# nothing of our own yet\n");
  const Tables tables({directory()});
  EXPECT_EQ(tables.gb10().name, "NVIDIA DGX Spark (GB10)");
  EXPECT_THAT(tables.problems(), IsEmpty());
}

TEST_F(OverrideDirectory, OneThatIsNotThereIsSaidAndTheOthersHold) {
  const Tables tables({directory(), directory() + "/absent"});
  EXPECT_EQ(tables.gb10().name, "NVIDIA DGX Spark (GB10)");
  EXPECT_THAT(tables.problems(),
              ::testing::ElementsAre(HasSubstr(directory() + "/absent: no directory that can be read")));
}

TEST_F(OverrideDirectory, HostileFilesEndAsProblems) {
  ASSERT_EQ(mkfifo((directory() + "/platforms.yaml").c_str(), 0600), 0);
  write("servers.yaml",
        "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n"
        "c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\n"
        "e: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e]\n"
        "g: [*f, *f, *f, *f, *f, *f, *f, *f]\n");
  write("stack.yaml", std::string("\0\xff\xfe- {", 6));
  const Tables tables({directory()});
  EXPECT_EQ(tables.gb10().name, "NVIDIA DGX Spark (GB10)");
  EXPECT_NE(tables.server("vllm"), nullptr);
  static_cast<void>(tables.stack());
  const auto problems = tables.problems();
  EXPECT_THAT(problems, Contains(HasSubstr("platforms.yaml")));
  EXPECT_THAT(problems, Contains(AllOf(HasSubstr("servers.yaml"), HasSubstr("too many values"))));
  EXPECT_THAT(problems, Contains(HasSubstr("stack.yaml")));
}

TEST(AgeInDays, CountsFromMidnightAndKnowsNoAgeOfWhatIsNoDate) {
  const auto now = *parse_rfc3339("2026-11-30T21:00:00Z");
  EXPECT_EQ(age_in_days("2026-11-30", now), 0);
  EXPECT_EQ(age_in_days("2026-06-03", now), 180);
  EXPECT_EQ(age_in_days("", now), std::nullopt);
  EXPECT_EQ(age_in_days("last summer", now), std::nullopt);
}

}  // namespace
}  // namespace sparkops::knowledge
