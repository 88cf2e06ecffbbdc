#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_builder.h"

namespace sparkops::verdicts {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A clone fetched on the date of the table, without anything stale.
facts::PlaybookClone clone_of(const std::string& playbook, const std::string& readme) {
  facts::PlaybookClone clone;
  clone.directory = "/home/someone/dgx-spark-playbooks";
  clone.playbooks = {playbook};
  clone.commit = as_read(std::string(40, 'a'));
  clone.commit_time = as_read(*parse_rfc3339("2026-12-01"));
  clone.texts = {{"nvidia/" + playbook + "/README.md", readme}};
  return clone;
}

class G08 : public ::testing::Test {
 protected:
  Finding check(const facts::PlaybookClone& clone, const Known<std::vector<facts::Issue>>* issues = nullptr) const {
    auto facts = sparkops::testing::facts_of(machine_);
    facts.now = *parse_rfc3339("2026-12-02");
    facts.playbook = &clone;
    facts.open_issues = issues;
    return check_g08_playbooks(facts);
  }
  static ::testing::Matcher<const Finding&> evidence(const std::string& text) {
    return Field(&Finding::evidence, Contains(Field(&Evidence::reading, HasSubstr(text))));
  }
  facts::Machine machine_ = sparkops::testing::healthy_spark();
};

TEST_F(G08, NoPlaybookIsNotApplicable) {
  const auto finding = check_g08_playbooks(sparkops::testing::facts_of(machine_));
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("not applicable ("));
}

TEST_F(G08, ACleanKnownPlaybookPasses) {
  const auto finding = check(clone_of("comfy-ui", "# ComfyUI\ntorch from cu130\n"));
  EXPECT_EQ(finding.status, Status::pass);
  EXPECT_THAT(finding.headline, HasSubstr("no row known to be out of date in playbook comfy-ui (table of 2026-11-30)"));
}

TEST_F(G08, AStaleRowWarnsWithPlaceAndFix) {
  const auto finding = check(clone_of("comfy-ui", "# ComfyUI\n\n| Verify `nvcc --version` matches cu129 |\n"));
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("(nvidia/comfy-ui/README.md:3: matches cu129)"));
  ASSERT_EQ(finding.fixes.size(), 2U);
  EXPECT_THAT(finding.fixes[0].instruction, HasSubstr("nvcc 13.0 and torch from the cu130 index"));
  EXPECT_EQ(finding.fixes[1].run, "git -C /home/someone/dgx-spark-playbooks pull");
  EXPECT_THAT(finding.sources, Not(IsEmpty()));
}

TEST_F(G08, StaleTextsAreWholeWords) {
  EXPECT_EQ(check(clone_of("txt2kg", "OLLAMA_LLM_LIBRARY=cuda\n")).status, Status::warn);
  EXPECT_NE(check(clone_of("txt2kg", "OLLAMA_LLM_LIBRARY=cuda_v13\n")).status, Status::warn);
  EXPECT_EQ(check(clone_of("txt2kg", "OLLAMA_LLM_LIBRARY=cuda_v13 or OLLAMA_LLM_LIBRARY=cuda")).status, Status::warn);
}

TEST_F(G08, AnotherPlaybooksStaleRowIsNotThisOnes) {
  auto clone = clone_of("comfy-ui", "fine\n");
  clone.texts.emplace_back("nvidia/comfy-ui-2/README.md", "matches cu129");
  EXPECT_EQ(check(clone).status, Status::pass);
}

TEST_F(G08, OpenIssuesAreAReadingWithTheirDate) {
  const auto finding = check(clone_of("sglang", "fine\n"));
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("open issues as of 2026-11-30: 68: "));
}

TEST_F(G08, GitHubsIssuesReplaceTheTables) {
  const Known<std::vector<facts::Issue>> issues =
      as_read(std::vector<facts::Issue>{{120, "SGLang: image gone", "u", false}, {121, "Ollama: slow", "u", false}});
  const auto finding = check(clone_of("sglang", "fine\n"), &issues);
  EXPECT_THAT(finding.headline, AllOf(HasSubstr("open issues as of 2026-12-02: 120: SGLang: image gone"),
                                      Not(HasSubstr("68")), Not(HasSubstr("121"))));
}

TEST_F(G08, AnUnansweredQuestionIsSaidAndTheTableUsed) {
  const Known<std::vector<facts::Issue>> issues = unknown("no network");
  const auto finding = check(clone_of("sglang", "fine\n"), &issues);
  EXPECT_THAT(finding.headline,
              AllOf(HasSubstr("open issues as of 2026-11-30: 68"), HasSubstr("; GitHub did not tell (no network)")));
}

TEST_F(G08, APlaybookNobodyKnowsIsNoPass) {
  const auto finding = check(clone_of("brand-new", "fine\n"));
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("nothing is known about brand-new"));
}

TEST_F(G08, AnOldCloneWarnsEvenWithoutAStaleRow) {
  auto clone = clone_of("comfy-ui", "fine\n");
  clone.commit_time = as_read(*parse_rfc3339("2026-03-01"));
  EXPECT_EQ(check(clone).status, Status::warn);
  EXPECT_THAT(check(clone).headline, HasSubstr("2026-03-01, 276 days ago"));
  clone.commit_time = as_read(*parse_rfc3339("2026-10-01"));
  EXPECT_EQ(check(clone).status, Status::info);
  EXPECT_THAT(check(clone).headline, HasSubstr("checked out 2026-10-01, before the table's date"));
}

TEST_F(G08, AnUnknownAgeIsShownWithItsReason) {
  auto clone = clone_of("comfy-ui", "fine\n");
  clone.commit = unknown("it is a copy, not a clone");
  clone.commit_time = unknown("it is a copy, not a clone");
  const auto finding = check(clone);
  EXPECT_THAT(finding, evidence("commit unknown: it is a copy, not a clone"));
}

TEST_F(G08, OldImagesAreReadings) {
  EXPECT_THAT(check(clone_of("nemotron", "docker pull nvcr.io/nvidia/pytorch:25.09-py3\n")).headline,
              HasSubstr("uses nvcr.io/nvidia/pytorch:25.09, older than the 25.11-py3 of the stack table"));
  EXPECT_EQ(
      check(clone_of("nemotron", "nvcr.io/nvidia/pytorch:25.11-py3, once nvcr.io/nvidia/pytorch:25.10-py3")).status,
      Status::pass);
}

TEST_F(G08, NothingReadIsASkip) {
  auto clone = clone_of("comfy-ui", "");
  clone.texts.clear();
  clone.not_read = {"nvidia/comfy-ui/README.md: permission denied"};
  const auto finding = check(clone);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, HasSubstr("permission denied"));
}

TEST_F(G08, AWholeCloneNamesThePlaybooksThatAreStale) {
  auto clone = clone_of("comfy-ui", "matches cu129");
  clone.playbooks = {"comfy-ui", "llama-factory", "llama-cpp"};
  clone.texts.emplace_back("nvidia/llama-factory/README.md", "CUDA 12.9 or newer");
  clone.texts.emplace_back("nvidia/llama-cpp/README.md", "fine");
  const auto finding = check(clone);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline,
              HasSubstr("2 playbooks of this clone have rows known to be out of date: comfy-ui, llama-factory"));
}

}  // namespace
}  // namespace sparkops::verdicts
