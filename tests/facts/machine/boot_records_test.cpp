#include "facts/machine/boot_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>

#include "wtmp_writer.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using testing::RecordLayout;
using testing::utmp_record;

constexpr std::int16_t k_run_level = 1, k_boot = 2, k_user = 7, k_dead = 8;
constexpr std::int64_t k_start = 1'760'000'000;

class LoginRecords : public ::testing::TestWithParam<RecordLayout> {
 protected:
  static std::string record(std::int16_t type, const char* user, std::int64_t seconds) {
    return utmp_record(GetParam(), type, user, seconds);
  }
  static LastBoot last_boot(const std::string& bytes, std::int64_t boot_seconds) {
    const auto records = parse_login_records(bytes);
    EXPECT_TRUE(records) << (records ? "" : records.error().message);
    return last_boot_of(records.value_or(std::vector<LoginRecord>{}), as_read(Timestamp{boot_seconds * 1000}));
  }
};

TEST_P(LoginRecords, AShutdownBetweenTwoBootsIsOne) {
  const LastBoot last =
      last_boot(record(k_boot, "reboot", k_start) + record(k_user, "user", k_start + 60) +
                    record(k_run_level, "shutdown", k_start + 5000) + record(k_boot, "reboot", k_start + 6000) +
                    record(k_run_level, "runlevel", k_start + 6010),
                k_start + 6002);
  ASSERT_TRUE(last.end.known()) << last.end.reason();
  EXPECT_EQ(*last.end, BootEnd::shutdown);
  EXPECT_EQ(*last.last_sign_of_life, Timestamp{(k_start + 5000) * 1000});
}

TEST_P(LoginRecords, TwoBootsInARowMeanThatThePowerWentAway) {
  const LastBoot last =
      last_boot(record(k_boot, "reboot", k_start - 900) + record(k_run_level, "shutdown", k_start - 800) +
                    record(k_boot, "reboot", k_start) + record(k_dead, "", k_start + 3600) +
                    record(k_boot, "reboot", k_start + 7200),
                k_start + 7200);
  ASSERT_TRUE(last.end.known()) << last.end.reason();
  EXPECT_EQ(*last.end, BootEnd::without_shutdown);
  EXPECT_EQ(*last.last_sign_of_life, Timestamp{(k_start + 3600) * 1000});
}

TEST_P(LoginRecords, ZerosAndATornRecordAfterAPowerCutAreNoObstacle) {
  const std::string zeros(utmp_record(GetParam(), 0, "", 0).size(), '\0');
  const LastBoot last = last_boot(record(k_boot, "reboot", k_start) + zeros + zeros +
                                      record(k_boot, "reboot", k_start + 7200) + std::string("\x07\0", 2),
                                  k_start + 7200);
  ASSERT_TRUE(last.end.known()) << last.end.reason();
  EXPECT_EQ(*last.end, BootEnd::without_shutdown);
}

TEST_P(LoginRecords, AFileThatIsNoLongerWrittenSaysNothing) {
  const LastBoot last =
      last_boot(record(k_boot, "reboot", k_start) + record(k_boot, "reboot", k_start + 60), k_start + 900'000);
  EXPECT_THAT(last.end.reason(), HasSubstr("does not know this boot"));
  EXPECT_FALSE(last.last_sign_of_life.known());
}

TEST_P(LoginRecords, OneBootAloneSaysNothingAboutTheOneBefore) {
  EXPECT_FALSE(last_boot(record(k_boot, "reboot", k_start), k_start).end.known());
}

INSTANTIATE_TEST_SUITE_P(Layouts, LoginRecords,
                         ::testing::Values(RecordLayout::with_32_bit_time, RecordLayout::with_64_bit_time),
                         [](const auto& layout) {
                           return layout.param == RecordLayout::with_32_bit_time ? "Size384" : "Size400";
                         });

TEST(LoginRecordsOfAnyBytes, GiveRecordsOrAnError) {
  EXPECT_FALSE(parse_login_records(""));
  EXPECT_FALSE(parse_login_records(std::string(383, '\x02')));
  EXPECT_TRUE(rc::check("any bytes", [](const std::string& bytes) { (void)parse_login_records(bytes); }));
  EXPECT_TRUE(rc::check("many random bytes are no records", [] {
    const auto bytes = *rc::gen::container<std::string>(2000, rc::gen::inRange<char>(1, 127));
    RC_ASSERT(!parse_login_records(bytes).has_value());
  }));
}

TEST(LoginRecordsOfAnyBytes, ReadBackWhatWasWritten) {
  EXPECT_TRUE(rc::check("round trip of times", [] {
    const auto layout = *rc::gen::element(RecordLayout::with_32_bit_time, RecordLayout::with_64_bit_time);
    const auto times = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1'000'000'000, 2'000'000'000)));
    std::string bytes;
    for (const auto time : times) bytes += utmp_record(layout, k_boot, "reboot", time);
    const auto records = parse_login_records(bytes);
    RC_ASSERT(records.has_value());
    RC_ASSERT(records->size() == times.size());
    for (std::size_t i = 0; i < times.size(); ++i) RC_ASSERT((*records)[i].time.unix_ms == times[i] * 1000);
  }));
}

}  // namespace
}  // namespace sparkops::facts
