#include "views/text_layout.h"

#include <gtest/gtest.h>

namespace sparkops::views {
namespace {

TEST(Wrap, WidthZeroKeepsOneLine) {
  EXPECT_EQ(wrap("G3 WARN: ", "a b  c", 0), "G3 WARN: a b  c");
}

TEST(Wrap, BreaksAtBlanksAndIndentsByThePrefix) {
  EXPECT_EQ(wrap("ab: ", "one two three four", 12), "ab: one two\n    three\n    four");
}

TEST(Wrap, AWordLongerThanTheLineStandsAlone) {
  EXPECT_EQ(wrap("", "a bbbbbbbbbb c", 5), "a\nbbbbbbbbbb\nc");
}

TEST(Wrap, CountsCodePointsNotBytes) {
  EXPECT_EQ(wrap("", "°°°° °°°°", 9), "°°°° °°°°");
}

TEST(Colored, OnlyWithColour) {
  EXPECT_EQ(colored("x", Color::red, {0, false}), "x");
  EXPECT_EQ(colored("x", Color::red, {0, true}), "\x1b[1;31mx\x1b[0m");
}

}  // namespace
}  // namespace sparkops::views
