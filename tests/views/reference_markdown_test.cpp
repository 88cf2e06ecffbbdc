#include "views/reference_markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "knowledge/lookup.h"

namespace sparkops::views {
namespace {

using testing::HasSubstr;

const ReferencePage& page_named(std::string_view name) {
  const auto pages = reference_pages();
  return *std::find_if(pages.begin(), pages.end(), [&](const ReferencePage& page) { return page.name == name; });
}

TEST(ReferenceMarkdown, EveryEntryOfEveryPageIsKnown) {
  const knowledge::Tables tables(std::vector<std::string>{});
  for (const ReferencePage& page : reference_pages())
    for (const std::string_view id : page.entries) EXPECT_TRUE(knowledge::find_entry(tables, id)) << id;
}

TEST(ReferenceMarkdown, AGotchaComesWithItsFixItsDateAndItsSources) {
  const knowledge::Tables tables(std::vector<std::string>{});
  const std::string text = reference_markdown(tables, page_named("gotcha-checks"));
  EXPECT_THAT(text, HasSubstr("## G1: CUDA 12 and CUDA 13 libraries mixed"));
  EXPECT_THAT(text, HasSubstr("    $ pip uninstall -y torch\n"));
  EXPECT_THAT(text, HasSubstr("Last verified 2026-"));
  EXPECT_THAT(text, HasSubstr("](https://"));
  EXPECT_THAT(text, testing::EndsWith(".\n"));
}

TEST(ReferenceMarkdown, TheStackTableHasARowForEachPackage) {
  const knowledge::Tables tables(std::vector<std::string>{});
  const std::string text = reference_markdown(tables, page_named("stack-matrix"));
  for (const auto& package : tables.stack()) EXPECT_THAT(text, HasSubstr("\n| " + package.name + " | "));
}

}  // namespace
}  // namespace sparkops::views
