#include "facts/workload/shell_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

ShellScript read(std::string_view text, ShellForm form = ShellForm::script) {
  auto script = parse_shell(text, form);
  EXPECT_TRUE(script) << script.error().message;
  return script ? *script : ShellScript{};
}

TEST(ShellReader, SplitsCommandsAndKeepsTheirLines) {
  const ShellScript script =
      read("#!/bin/sh\n# a comment: vllm serve nothing\ncd /x && vllm serve \\\n  m --port 1 | tee log; echo done &\n");
  ASSERT_EQ(script.commands.size(), 4U);
  EXPECT_THAT(script.commands[1].words, ElementsAre("vllm", "serve", "m", "--port", "1"));
  EXPECT_EQ(script.commands[1].line, 3);
  EXPECT_FALSE(script.commands[1].in_background);
  EXPECT_TRUE(script.commands[3].in_background);
}

TEST(ShellReader, JoinsArraysOverLinesWithCommentsInside) {
  const ShellScript script = read("ARGS=(\n  --tp 2   # both boxes\n  \"--name\" 'a b'\n)\nARGS+=(--x)\n");
  ASSERT_EQ(script.assignments.size(), 2U);
  EXPECT_THAT(script.assignments[0].words, ElementsAre("--tp", "2", "--name", "a b"));
  EXPECT_EQ(script.assignments[0].line, 1);
  EXPECT_THAT(script.assignments[1].words, ElementsAre("--tp", "2", "--name", "a b", "--x"));
}

TEST(ShellReader, ReplacesOnlyWhatTheTextItselfGave) {
  const ShellScript script = read(
      "TP=2\nMODEL=org/m\nexport MODEL\nLIST=(a 'b c')\n"
      "run \"$MODEL\" --tp ${TP} ${PP:-1} ${TP:-9} $OTHER ${OTHER} \"${LIST[@]}\" '$TP' \\$TP $(date) `id`\n");
  ASSERT_EQ(script.commands.size(), 1U);
  EXPECT_THAT(script.commands[0].words, ElementsAre("run", "org/m", "--tp", "2", "1", "2", "$OTHER", "${OTHER}", "a",
                                                    "b c", "$TP", "$TP", "$(date)", "`id`"));
  EXPECT_TRUE(script.assignments[1].exported);
  EXPECT_FALSE(script.assignments[0].exported);
}

TEST(ShellReader, SplitsAnUnquotedVariableIntoWords) {
  const ShellScript script = read("A='--tp 2  --pp 1'\nrun $A x\nrun \"$A\"\n");
  EXPECT_THAT(script.commands[0].words, ElementsAre("run", "--tp", "2", "--pp", "1", "x"));
  EXPECT_THAT(script.commands[1].words, ElementsAre("run", "--tp 2  --pp 1"));
}

TEST(ShellReader, KeepsAssignmentsBeforeACommandWithThatCommand) {
  const ShellScript script = read("A=1 B='x y' \\\n  run --z\n");
  ASSERT_EQ(script.commands.size(), 1U);
  EXPECT_THAT(script.commands[0].environment, ElementsAre(Pair("A", "1"), Pair("B", "x y")));
  EXPECT_TRUE(script.assignments.empty());
}

TEST(ShellReader, SkipsRedirectionsAndHereDocuments) {
  const ShellScript script = read("cat > out.yaml <<'END'\nvllm serve hidden\nEND\nrun a 2>&1 >>log < in &>all\n");
  ASSERT_EQ(script.commands.size(), 2U);
  EXPECT_THAT(script.commands[0].words, ElementsAre("cat"));
  EXPECT_THAT(script.commands[1].words, ElementsAre("run", "a"));
}

TEST(ShellReader, MarksAlternatives) {
  const ShellScript script = read("if [ $1 = a ]; then\n  run a &\nelse\n  run b &\nfi\nrun c\n");
  ASSERT_EQ(script.commands.size(), 4U);
  EXPECT_TRUE(script.commands[1].conditional);
  EXPECT_TRUE(script.commands[2].conditional);
  EXPECT_FALSE(script.commands[3].conditional);
}

TEST(ShellReader, TakesUnquotedValuesOfEnvironmentFilesToTheEndOfTheLine) {
  const ShellScript script =
      read("# note\nARGS=--tp 2 --x\nexport Q=\"a b\"\nN=4 # four\nURL=http://h/#frag\n", ShellForm::environment_file);
  ASSERT_EQ(script.assignments.size(), 4U);
  EXPECT_THAT(script.assignments[0].words, ElementsAre("--tp 2 --x"));
  EXPECT_THAT(script.assignments[1].words, ElementsAre("a b"));
  EXPECT_THAT(script.assignments[2].words, ElementsAre("4"));
  EXPECT_THAT(script.assignments[3].words, ElementsAre("http://h/#frag"));
}

TEST(ShellReader, ReadsSpacedAssignmentsOfConfFiles) {
  const ShellScript script = read("[section]\nnodes = 2\n");
  ASSERT_EQ(script.assignments.size(), 1U);
  EXPECT_EQ(script.assignments[0].name, "nodes");
  EXPECT_THAT(script.assignments[0].words, ElementsAre("2"));
}

TEST(ShellReader, KeepsSchedulerDirectives) {
  const ShellScript script = read("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCHED --no\n");
  ASSERT_EQ(script.scheduler_directives.size(), 1U);
  EXPECT_EQ(script.scheduler_directives[0], std::make_pair(std::string("--nodes=2"), 2));
}

TEST(ShellReader, EndsExpansionsThatDoubleThemselves) {
  std::string text = "A=xxxxxxxxxx\n";
  for (int i = 0; i < 100; ++i) text += "A=$A$A\n";
  const auto script = parse_shell(text);
  ASSERT_FALSE(script);
  EXPECT_THAT(script.error().message, HasSubstr("without end"));
}

TEST(ShellReader, SaysThatAQuoteNeverEnds) {
  const auto script = parse_shell("run ok\nrun \"open\n");
  ASSERT_FALSE(script);
  EXPECT_THAT(script.error().message, HasSubstr("quote"));
}

TEST(ShellReader, SplitsOneCommandLineAsAShellWould) {
  EXPECT_THAT(split_command("a 'b c' \"d\\\"e\" f\\ g ;h"), ElementsAre("a", "b c", "d\"e", "f g", ";h"));
  EXPECT_THAT(split_command("never 'ends"), ElementsAre("never 'ends"));
}

TEST(ShellReader, InterpolatesAsComposeDoes) {
  EXPECT_EQ(interpolate("${U:-0.9} $V $$V ${W}", {{"V", "x"}}), "0.9 x $V ${W}");
}

}  // namespace
}  // namespace sparkops::facts
