#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "views/explain_json.h"
#include "views/explain_text.h"

namespace sparkops::views {
namespace {

using knowledge::look_up;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::size_t k_columns = 80;

std::size_t columns(std::string_view line) {
  std::size_t count = 0;
  for (const char c : line)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  return count;
}

/// Lines wider than a terminal; addresses cannot be broken and may be.
std::vector<std::string> too_wide(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : split_lines(text))
    if (columns(line) > k_columns && !contains(line, "https://")) lines.emplace_back(line);
  return lines;
}

class ExplainViews : public testing::Test {
 protected:
  std::string text(std::string_view words, const TextStyle& style = {}) const {
    return explain_text(tables_, look_up(tables_, words), now_, style);
  }
  knowledge::Tables tables_{std::vector<std::string>{}};
  Timestamp now_ = *parse_rfc3339("2026-12-01T08:00:00Z");
};

TEST_F(ExplainViews, EveryEntryFitsEightyColumns) {
  for (const auto& gotcha : tables_.gotchas()) EXPECT_THAT(too_wide(text(gotcha.id)), testing::IsEmpty()) << gotcha.id;
  for (const auto& topic : tables_.topics()) EXPECT_THAT(too_wide(text(topic.id)), testing::IsEmpty()) << topic.id;
  EXPECT_THAT(too_wide(explain_index_text(tables_, IndexDetail::brief, {})), testing::IsEmpty());
  EXPECT_THAT(too_wide(explain_index_text(tables_, IndexDetail::complete, {})), testing::IsEmpty());
}

TEST_F(ExplainViews, AGotchaShowsAllItsPartsWithDateAndSources) {
  const auto shown = text("G4");
  EXPECT_THAT(shown, StartsWith("G4  heat, power"));
  for (const char* heading : {"\nSymptom\n", "\nCause\n", "\nHow it is checked\n", "\nFix\n", "\nHow sure\n",
                              "\nWhat later evidence changed\n", "\nSee also\n", "\nSources\n"})
    EXPECT_THAT(shown, HasSubstr(heading));
  EXPECT_THAT(shown, HasSubstr("https://docs.nvidia.com/dgx/dgx-spark/hardware.html"));
  EXPECT_THAT(shown, HasSubstr("Last verified 2026-11-30.\n"));
}

TEST_F(ExplainViews, CommandsStandOnALineOfTheirOwn) {
  EXPECT_THAT(text("G3"), HasSubstr("\n  $ sudo sparkops flush --all\n"));
}

TEST_F(ExplainViews, AnOldEntrySaysSo) {
  now_ = *parse_rfc3339("2027-06-01T00:00:00Z");
  EXPECT_THAT(text("G4"), HasSubstr("Last verified 2026-11-30: 183 days ago. It may have aged"));
  now_ = *parse_rfc3339("2027-05-29T00:00:00Z");  // 180 days: not yet
  EXPECT_THAT(text("G4"), Not(HasSubstr("It may have aged")));
}

TEST_F(ExplainViews, SymptomsNameWhatWasUnderstood) {
  EXPECT_THAT(text("the box freezes"), AllOf(StartsWith("Understood as:\n  the whole box freezes"),
                                             HasSubstr("\numa-freeze  the whole box freezes\n")));
}

TEST_F(ExplainViews, ColourOnlyWhereTheStyleHasIt) {
  EXPECT_THAT(text("G1"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text("G1", {100, true}), HasSubstr("\x1b[1mFix"));
}

TEST_F(ExplainViews, TheIndexListsTheTen) {
  const auto shown = explain_index_text(tables_, IndexDetail::brief, {});
  for (const auto& gotcha : tables_.gotchas()) EXPECT_THAT(shown, HasSubstr("  " + gotcha.id + " ")) << gotcha.id;
  EXPECT_THAT(shown, HasSubstr("sparkops explain --list"));
  EXPECT_THAT(explain_index_text(tables_, IndexDetail::complete, {}), HasSubstr("\nSymptoms\n"));
}

TEST_F(ExplainViews, JsonOfAGotcha) {
  const auto json = nlohmann::json::parse(explain_json(look_up(tables_, "g3"), "g3", now_));
  EXPECT_EQ(json["schema"], "sparkops.explain/1");
  EXPECT_EQ(json["kind"], "entry");
  EXPECT_EQ(json["query"], "g3");
  EXPECT_EQ(json["entry"]["kind"], "gotcha");
  EXPECT_EQ(json["entry"]["id"], "G3");
  EXPECT_EQ(json["entry"]["last_verified"], "2026-11-30");
  EXPECT_EQ(json["entry"]["age_days"], 1);
  EXPECT_EQ(json["entry"]["is_old"], false);
  EXPECT_FALSE(json["entry"]["sources"].empty());
  EXPECT_TRUE(json["symptoms"].empty());
}

TEST_F(ExplainViews, JsonOfASymptomKeepsForeignBytesOut) {
  const auto json = nlohmann::json::parse(explain_json(look_up(tables_, "swapping"), "swapping\xff\x01", now_));
  EXPECT_EQ(json["entry"]["id"], "swap");
  EXPECT_EQ(json["query"], "swapping\\xff\\x01");
  EXPECT_FALSE(json["symptoms"].empty());
}

TEST_F(ExplainViews, JsonOfTheIndex) {
  const auto json = nlohmann::json::parse(explain_index_json(tables_));
  EXPECT_EQ(json["kind"], "index");
  EXPECT_EQ(json["gotchas"].size(), 10U);
  EXPECT_EQ(json["topics"].size(), tables_.topics().size());
  EXPECT_EQ(json["symptoms"].size(), tables_.symptoms().size());
}

}  // namespace
}  // namespace sparkops::views
