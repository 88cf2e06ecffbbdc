#include "base/timestamp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sparkops {
namespace {

TEST(Timestamp, WritesUtcWithMillisecondsWhereThereAreAny) {
  EXPECT_EQ(to_rfc3339({0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339({1'796'030'278'059}), "2026-11-30T09:17:58.059Z");
  EXPECT_EQ(to_rfc3339({-1}), "1969-12-31T23:59:59.999Z");
}

TEST(Timestamp, ReadsTheFormsThatOccur) {
  const std::int64_t expected = 1'796'030'278'059;
  for (const char* const text :
       {"2026-11-30T09:17:58.059Z", "2026-11-30 09:17:58.059Z", "2026-11-30t09:17:58.059z",
        "2026-11-30T11:17:58.059+02:00", "2026-11-30T03:47:58.059-0530", "2026-11-30T09:17:58,059",
        "2026-11-30T09:17:58.059999Z", " 2026-11-30T09:17:58.059Z\n"}) {
    ASSERT_TRUE(parse_rfc3339(text).has_value()) << text;
    EXPECT_EQ(parse_rfc3339(text)->unix_ms, expected) << text;
  }
  EXPECT_EQ(parse_rfc3339("2026-11-30")->unix_ms, 1'795'996'800'000);
  EXPECT_EQ(parse_rfc3339("2028-02-29T00:00:00Z").has_value(), true) << "a leap day";
}

TEST(Timestamp, RefusesWhatIsNoTime) {
  for (const char* const text :
       {"", "yesterday", "2026-13-01", "2026-02-30", "2026-11-30T", "2026-11-30T25:00:00Z", "2026-11-30T09:60:00Z",
        "2026-11-30T09:17:61Z", "2026-11-30T09:17:58.Z", "2026-11-30T09:17:58+2", "2026-11-30T09:17:58Zebra",
        "2026-11-30X09:17:58Z", "2026-11-30T24:17:58Z", "2026-11-30T09:17:58+99:99", "20261130", "2026-1-1"})
    EXPECT_FALSE(parse_rfc3339(text).has_value()) << text;
}

TEST(Timestamp, NowIsAfterThisProgramWasWritten) {
  EXPECT_GT(Timestamp::now(), *parse_rfc3339("2026-01-01"));
}

RC_GTEST_PROP(Timestamp, WhatIsWrittenReadsBack, ()) {
  // Years 0 to 9999, which is what four digits can say.
  const Timestamp time{*rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000)};
  const auto again = parse_rfc3339(to_rfc3339(time));
  RC_ASSERT(again.has_value() && *again == time);
}

RC_GTEST_PROP(Timestamp, AnyTextIsATimeOrNothing, (const std::string& tail)) {
  const auto cut = *rc::gen::inRange<std::size_t>(0, 25);
  const std::string text = std::string("2026-11-30T09:17:58.059+02:00").substr(0, cut) + tail;
  if (const auto time = parse_rfc3339(text)) RC_ASSERT(parse_rfc3339(to_rfc3339(*time)) == time);
}

}  // namespace
}  // namespace sparkops
