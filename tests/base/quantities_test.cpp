#include "base/quantities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sparkops {
namespace {

using testing::HasSubstr;

TEST(Quantities, SizesAsAPersonTypesThem) {
  EXPECT_EQ(parse_size("8")->value, 8 * k_gib) << "a bare number counts GiB";
  EXPECT_EQ(parse_size("8", {1})->value, 8);
  EXPECT_EQ(parse_size("8GiB")->value, 8 * k_gib);
  EXPECT_EQ(parse_size(" 8 g ")->value, 8 * k_gib);
  EXPECT_EQ(parse_size("8GB")->value, 8'000'000'000);
  EXPECT_EQ(parse_size("512m")->value, 512 * k_mib);
  EXPECT_EQ(parse_size("1.5T")->value, 1536 * k_gib);
  EXPECT_EQ(parse_size("100 kb")->value, 100'000);
  EXPECT_EQ(parse_size("7b")->value, 7);
  EXPECT_EQ(parse_size("-2Ki")->value, -2048);
}

TEST(Quantities, WhatIsNoSizeSaysWhatWouldBe) {
  for (const char* const text : {"", "GiB", "8 x", "8GiBs", "1e400", "nan", "8 GiB 3", "99999999T", "0x10", "8,5GiB"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size.has_value()) << text;
    EXPECT_EQ(size.error().kind, ErrorKind::usage);
    EXPECT_THAT(size.error().message, HasSubstr("write e.g. 8GiB"));
  }
  EXPECT_THAT(parse_size("\x1b[31m").error().message, HasSubstr("\\x1b[31m"));
}

TEST(Quantities, SizesForAPerson) {
  EXPECT_EQ(format_size({0}), "0 B");
  EXPECT_EQ(format_size({1023}), "1023 B");
  EXPECT_EQ(format_size(kibibytes(3)), "3 KiB");
  EXPECT_EQ(format_size(mebibytes(512)), "512 MiB");
  EXPECT_EQ(format_size({44'237'300'000}), "41.2 GiB");
  EXPECT_EQ(format_size(gibibytes(-2)), "-2.0 GiB");
}

TEST(Quantities, Durations) {
  EXPECT_DOUBLE_EQ(parse_duration("30")->value, 30);
  EXPECT_DOUBLE_EQ(parse_duration("30s")->value, 30);
  EXPECT_DOUBLE_EQ(parse_duration("2m")->value, 120);
  EXPECT_DOUBLE_EQ(parse_duration("2 min")->value, 120);
  EXPECT_DOUBLE_EQ(parse_duration("1.5h")->value, 5400);
  EXPECT_DOUBLE_EQ(parse_duration("250ms")->value, 0.25);
  EXPECT_DOUBLE_EQ(parse_duration("1d")->value, 86400);
  for (const char* const text : {"", "-1", "s", "1 year", "1e999"})
    EXPECT_EQ(parse_duration(text).error().kind, ErrorKind::usage) << text;
}

TEST(Quantities, DurationsForAPerson) {
  EXPECT_EQ(format_duration({0.44}), "0.4 s");
  EXPECT_EQ(format_duration({12.2}), "12 s");
  EXPECT_EQ(format_duration({190}), "3 min");
  EXPECT_EQ(format_duration({29 * 3600 + 51 * 60 + 20}), "29 h 51 min");
  EXPECT_EQ(format_duration({6 * 86400 + 4 * 3600 + 5}), "6 d 4 h");
}

TEST(Quantities, UnitsAddAndCompare) {
  static_assert(gibibytes(1) + mebibytes(1) > gibibytes(1));
  Bytes sum = gibibytes(3);
  sum += gibibytes(1);
  EXPECT_EQ(sum - gibibytes(4), Bytes{0});
}

RC_GTEST_PROP(Quantities, AnyTextIsASizeOrAnError, (const std::string& text)) {
  const auto size = parse_size(text);
  RC_ASSERT(size.has_value() || size.error().kind == ErrorKind::usage);
}

RC_GTEST_PROP(Quantities, AFormattedSizeReadsBackNearby, ()) {
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 45);
  const auto again = parse_size(format_size({bytes}));
  RC_ASSERT(again.has_value());
  // MiB and KiB are cut, GiB are rounded to a tenth.
  const std::int64_t unit = bytes >= k_gib ? k_gib / 10 : bytes >= k_mib ? k_mib : bytes >= k_kib ? k_kib : 1;
  RC_ASSERT(std::abs(again->value - bytes) <= unit);
}

}  // namespace
}  // namespace sparkops
