#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace sparkops {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, TrimTakesBlanksNewlinesAndNulsFromBothEnds) {
  EXPECT_EQ(trim(std::string_view(" \t\r\n a b \0\n", 11)), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, LinesEndWithOrWithoutCarriageReturn) {
  EXPECT_THAT(split_lines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(split_lines(""), IsEmpty());
}

TEST(Text, WordsLieBetweenRunsOfBlanks) {
  EXPECT_THAT(split_words("  Node 0,\tzone  DMA "), ElementsAre("Node", "0,", "zone", "DMA"));
  EXPECT_THAT(split_words(" \t "), IsEmpty());
}

TEST(Text, ComparesWithoutCase) {
  EXPECT_TRUE(contains_ignoring_case("NVIDIA GB10", "gb10"));
  EXPECT_FALSE(contains_ignoring_case("NVIDIA GB10", "gb100"));
  EXPECT_TRUE(contains_ignoring_case("", ""));
  EXPECT_EQ(to_lower("ÄBC"), "Äbc") << "ASCII only: other letters keep their bytes";
}

TEST(Text, NumbersAreWholeTextsThatFit) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* const text : {"", " 1", "1 ", "+1", "0x1", "1.0", "9223372036854775808", "-", "1e3"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  EXPECT_EQ(parse_hexadecimal("0x10DE"), 0x10deU);
  EXPECT_EQ(parse_hexadecimal("ffffffffffffffff"), UINT64_MAX);
  for (const char* const text : {"", "0x", "0xg", "-1", "10000000000000000", " 1"})
    EXPECT_EQ(parse_hexadecimal(text), std::nullopt) << text;
  EXPECT_EQ(parse_number("+1.5e3"), 1500.0);
  EXPECT_EQ(parse_number("-0.25"), -0.25);
  for (const char* const text : {"", "nan", "inf", "-inf", "1e999", "1,5", "1.5 ", "--1", "+-1"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(Text, PrintableEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("abc\x1b[31m\n"), "abc\\x1b[31m\\x0a");
  EXPECT_EQ(printable("Zürich"), "Zürich");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m")
      << "a C1 control sequence introducer";
  EXPECT_EQ(printable("\xff\xC0\xAF\xED\xA0\x80"), "\\xff\\xc0\\xaf\\xed\\xa0\\x80")
      << "no UTF-8: 0xFF, overlong, surrogate";
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(Text, QuotesForAShell) {
  EXPECT_EQ(shell_quoted({"vllm", "serve", "a b", "it's", "", "$HOME"}), "vllm serve 'a b' 'it'\\''s' '' '$HOME'");
  EXPECT_EQ(shell_quoted({}), "");
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

RC_GTEST_PROP(Text, PrintableIsAlwaysPrintableUtf8, (const std::string& bytes)) {
  RC_ASSERT(is_printable(printable(bytes)));
  RC_ASSERT(is_printable(printable(bytes, 5)));
}

RC_GTEST_PROP(Text, PrintableLeavesPrintableTextAlone, (const std::string& bytes)) {
  const std::string once = printable(bytes, bytes.size() * 4 + 1);
  RC_ASSERT(printable(once, once.size()) == once);
}

RC_GTEST_PROP(Text, SplitAndJoinAreInverse, (const std::string& text)) {
  std::vector<std::string> pieces;
  for (const std::string_view piece : split(text, 'a')) pieces.emplace_back(piece);
  RC_ASSERT(join(pieces, "a") == text);
}

RC_GTEST_PROP(Text, IntegersReadBack, (std::int64_t number)) {
  RC_ASSERT(parse_integer(std::to_string(number)) == number);
}

}  // namespace
}  // namespace sparkops
