#include "facts/machine/kernel_log_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Timestamp at(const char* text) {
  return parse_rfc3339(text).value();
}

const Timestamp k_modified = at("2026-01-02T00:00:00Z");

TEST(LogLine, OfANewerLoggerStatesItsTime) {
  const auto line = parse_log_line("2026-01-01T21:43:12.250000+02:00 spark kernel: [   12.5] NVRM: text", k_modified,
                                   LogTimeZone::not_known);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(*line->time, at("2026-01-01T19:43:12.250Z"));
  EXPECT_EQ(line->message, "[   12.5] NVRM: text");
}

TEST(LogLine, OfTheClassicFormGetsTheYearThatPutsItBeforeTheFile) {
  const auto last_year = parse_log_line("Nov 30 21:43:12 spark kernel: text", k_modified, LogTimeZone::utc);
  EXPECT_EQ(*last_year->time, at("2025-11-30T21:43:12Z"));
  EXPECT_EQ(last_year->time.provenance().origin, Origin::derived);
  const auto this_year = parse_log_line("Jan  1 01:02:03 spark kernel: text", k_modified, LogTimeZone::utc);
  EXPECT_EQ(*this_year->time, at("2026-01-01T01:02:03Z"));
}

TEST(LogLine, WithoutATimeZoneHasNoTimeRatherThanAWrongOne) {
  const auto line = parse_log_line("Nov 30 21:43:12 spark kernel: text", k_modified, LogTimeZone::not_known);
  ASSERT_TRUE(line.has_value());
  EXPECT_THAT(line->time.reason(), HasSubstr("time zone"));
}

TEST(LogLine, OfAProgramIsNotTheKernels) {
  for (const char* const text : {"2026-01-01T21:43:12+00:00 spark trainer[77]: kernel: Out of memory: fake",
                                 "Nov 30 21:43:12 spark systemd[1]: up", "rubbish kernel: text", " kernel: text", ""})
    if (const auto line = parse_log_line(text, k_modified, LogTimeZone::utc))
      ADD_FAILURE() << text << " was taken for a line of the kernel";
}

std::string kernel_line(const char* time, const char* message) {
  return std::string(time) + " spark kernel: " + message + "\n";
}

const std::string k_two_boots =
    kernel_line("2026-01-01T08:00:00+00:00", "[    0.000000] Booting Linux on physical CPU 0x0000000000") +
    kernel_line("2026-01-01T08:00:00+00:00", "[    0.000000] Linux version 6.17.0-1021-nvidia (builder@host)") +
    kernel_line("2026-01-01T09:00:00+00:00", "[ 3600.000000] NVRM: before NV_ERR_NO_MEMORY") +
    kernel_line("2026-01-01T10:00:00+00:00", "[    0.000000] Booting Linux on physical CPU 0x0000000000") +
    kernel_line("2026-01-01T10:00:00+00:00", "[    0.000000] Linux version 6.17.0-1021-nvidia (builder@host)") +
    kernel_line("2026-01-01T11:00:00+00:00", "[ 3600.000000] NVRM: Xid (PCI:000f:01:00): 31, now");

TEST(Log, IsSplitIntoBoots) {
  const auto events = parse_log(k_two_boots, k_modified, LogTimeZone::utc, as_read(at("2026-01-01T10:00:00Z")));
  EXPECT_TRUE(events.covers_this_boot);
  ASSERT_THAT(events.current, SizeIs(1));
  EXPECT_EQ(events.current[0].kind, KernelEventKind::xid);
  EXPECT_EQ(*events.current[0].time, at("2026-01-01T11:00:00Z"));
  ASSERT_TRUE(events.previous.known()) << events.previous.reason();
  ASSERT_THAT(*events.previous, SizeIs(1));
  EXPECT_EQ(events.previous->front().kind, KernelEventKind::nvrm_no_memory);
}

TEST(Log, ThatIsNoLongerWrittenDoesNotSpeakOfThisBoot) {
  const auto events = parse_log(k_two_boots, k_modified, LogTimeZone::utc, as_read(at("2026-01-01T20:00:00Z")));
  EXPECT_FALSE(events.covers_this_boot);
  EXPECT_THAT(events.current, IsEmpty());
  ASSERT_TRUE(events.previous.known());
  EXPECT_EQ(events.previous->front().kind, KernelEventKind::xid) << "its last boot is the one before this";
}

TEST(Log, ThatBeginsInThisBootKnowsNothingOfTheOneBefore) {
  const auto events = parse_log(kernel_line("2026-01-01T11:00:00+00:00", "[ 3600.0] NVRM: now"), k_modified,
                                LogTimeZone::utc, as_read(at("2026-01-01T10:00:00Z")));
  EXPECT_THAT(events.current, SizeIs(1));
  EXPECT_FALSE(events.previous.known());
  EXPECT_FALSE(parse_log("", k_modified, LogTimeZone::utc, unknown("none")).covers_this_boot);
}

TEST(Log, AnyBytesNeverCrash) {
  EXPECT_TRUE(rc::check("any bytes", [](const std::string& bytes) {
    (void)parse_log(bytes, k_modified, LogTimeZone::utc, unknown("not known"));
    (void)parse_log("Nov 30 21:43:12 h kernel: " + bytes, Timestamp{}, LogTimeZone::utc, as_read(Timestamp{1}));
    (void)parse_log(bytes + " h kernel: " + bytes, k_modified, LogTimeZone::local, as_read(Timestamp{1}));
    (void)parse_ring_buffer("[" + bytes + "] NVRM: x\n" + bytes, as_read(Timestamp{1}));
  }));
}

TEST(RingBuffer, TimesCountFromTheBoot) {
  const auto events = parse_ring_buffer(
      "<6>[    0.000000] Linux version 6.17\n<3>[   10.500000] NVRM: Xid (PCI:000f:01:00): 13, text\n",
      as_read(at("2026-01-01T10:00:00Z")));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(*events[0].time, at("2026-01-01T10:00:10.500Z"));
  EXPECT_EQ(events[0].time.provenance().origin, Origin::derived);
}

TEST(RingBuffer, WithoutTheTimeOfTheBootEventsHaveNone) {
  const auto events = parse_ring_buffer("[   10.5] NVRM: text\n[9e300] NVRM: other\n", unknown("no btime"));
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_FALSE(events[0].time.known());
  EXPECT_FALSE(events[1].time.known());
}

}  // namespace
}  // namespace sparkops::facts
