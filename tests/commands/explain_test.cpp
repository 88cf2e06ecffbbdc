#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "run_program.h"

namespace sparkops {
namespace {

using sparkops::testing::run_sparkops;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Explain, NumbersTopicsAndWordsAreAnswered) {
  for (const char* number : {"G3", "g03", "3"}) {
    const auto result = run_sparkops({"explain", number});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("G3  "));
  }
  EXPECT_THAT(run_sparkops({"explain", "page-cache"}).out, StartsWith("page-cache  "));
  EXPECT_THAT(run_sparkops({"explain", "the", "box", "freezes"}).out, HasSubstr("\numa-freeze  "));
  EXPECT_THAT(run_sparkops({"explain"}).out, HasSubstr("  G10  "));
}

TEST(Explain, UnknownWordsAreAUsageErrorWithAWayOut) {
  const auto slip = run_sparkops({"explain", "pagecahce"});
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_THAT(slip.out, IsEmpty());
  EXPECT_THAT(slip.err, HasSubstr("did you mean page-cache?"));
  EXPECT_THAT(run_sparkops({"explain", "xylophone"}).err, HasSubstr("sparkops explain --list"));
  EXPECT_EQ(run_sparkops({"explain", "G3", "--list"}).exit_code, 2);
}

TEST(Explain, TwoNumbersAreShownOneAfterTheOther) {
  const auto both = run_sparkops({"explain", "G3", "G4"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, StartsWith("G3  "));
  EXPECT_THAT(both.out, HasSubstr("\n\nG4  "));
  EXPECT_EQ(run_sparkops({"explain", "G3", "3"}).out, run_sparkops({"explain", "G3"}).out);
  const auto json = run_sparkops({"explain", "G3", "G4", "--json"});
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_THAT(json.out, IsEmpty());
  EXPECT_THAT(json.err, HasSubstr("one entry at a time"));
}

TEST(Explain, WhatIsUnknownIsSaidToBeAndTheNearestAreNamed) {
  const auto unknown_words = run_sparkops({"explain", "illegal memory access"});
  EXPECT_EQ(unknown_words.exit_code, 2);
  EXPECT_THAT(unknown_words.out, IsEmpty());
  EXPECT_THAT(unknown_words.err, HasSubstr("nearest in wording: "));
  EXPECT_THAT(unknown_words.err, HasSubstr("G3 (out of memory in one shared pool)"));
}

class OwnKnowledge : public ::testing::Test {
 protected:
  OwnKnowledge() {
    std::string name = (std::filesystem::temp_directory_path() / "sparkops-own-XXXXXX").string();
    directory_ = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  ~OwnKnowledge() override { std::filesystem::remove_all(directory_); }
  void SetUp() override { ASSERT_FALSE(directory_.empty()); }

  void write_topics(const std::string& content) const { std::ofstream(directory_ + "/topics.yaml") << content; }
  [[nodiscard]] sparkops::testing::ProgramResult explain(const std::string& words) const {
    return run_sparkops({"explain", words}, {{"SPARKOPS_KNOWLEDGE", directory_}});
  }
  std::string directory_;
};

TEST_F(OwnKnowledge, AnEntryOfOurOwnIsShownWithItsAge) {
  write_topics(
      "- id: our-rack\n  title: where the boxes stand\n  text: Second shelf.\n"
      "  sources: [{title: the wiki}]\n  last_verified: 2025-01-15\n");
  const auto result = explain("our-rack");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Second shelf."));
  EXPECT_THAT(result.out, HasSubstr("Last verified 2025-01-15: "));
  EXPECT_THAT(result.out, HasSubstr("It may have aged"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(Explain, AKnowledgeDirectoryThatIsNotThereIsOneLineOnStderr) {
  const auto result = run_sparkops({"explain", "G3"}, {{"SPARKOPS_KNOWLEDGE", "/nowhere/knowledge"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("SPARKOPS_KNOWLEDGE: /nowhere/knowledge: no directory"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST_F(OwnKnowledge, ABrokenEntryIsNamedAndTheCompiledInOneShown) {
  write_topics("- id: swap\n  title: mine\n  colour: green\n");
  const auto result = explain("swap");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("swap  swap on a unified pool"));
  EXPECT_THAT(result.err, HasSubstr(directory_ + "/topics.yaml:3: unknown field 'colour'"));
}

}  // namespace
}  // namespace sparkops
