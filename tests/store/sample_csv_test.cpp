#include "store/sample_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sparkops::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SampleCsv : public ::testing::Test {
 protected:
  SampleCsv() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

Sample warm_sample() {
  Sample sample;
  sample.taken = {1777108678059};  // 2026-04-25T09:17:58.059Z
  sample[Reading::gpu_temperature] = 37;
  sample[Reading::gpu_power] = 10.618;
  return sample;
}

std::string line(const Sample& sample, const Columns& columns, Units units = Units::written) {
  std::string text;
  append_csv_line(text, sample, columns, units);
  return text;
}

TEST_F(SampleCsv, TheContractLine) {
  EXPECT_EQ(csv_header(thermal_columns()), "timestamp,temperature.gpu,power.draw\n");
  EXPECT_EQ(line(warm_sample(), thermal_columns()), "2026/04/25 09:17:58.059, 37, 10.62 W\n");
}

TEST_F(SampleCsv, WhatCouldNotBeReadIsNeverZero) {
  Sample sample = warm_sample();
  sample[Reading::gpu_power].reset();
  EXPECT_EQ(line(sample, thermal_columns()), "2026/04/25 09:17:58.059, 37, [N/A]\n");
  EXPECT_THAT(metrics_text(sample), Not(HasSubstr("power")));
  const auto object = nlohmann::json::parse(json_line(sample, thermal_columns(), "the driver hangs"));
  EXPECT_TRUE(object["power_w"].is_null());
  EXPECT_EQ(object["unknown"]["power_w"], "the driver hangs");
  EXPECT_EQ(object["temperature_c"], 37);
  EXPECT_FALSE(object["unknown"].contains("temperature_c"));
}

TEST_F(SampleCsv, LocalTimeAsNvidiaSmiWritesIt) {
  ::setenv("TZ", "UTC-2", 1);  // two hours east
  ::tzset();
  EXPECT_THAT(line(warm_sample(), thermal_columns()), ::testing::StartsWith("2026/04/25 11:17:58.059, "));
}

TEST_F(SampleCsv, TheColumnsOfSamplesCsv) {
  EXPECT_EQ(csv_header(samples_columns()),
            "timestamp,temperature.gpu,power.draw,clocks.sm,utilization.gpu,clocks_event_reasons_counters.sw_power_cap,"
            "clocks_event_reasons_counters.sw_thermal_slowdown,clocks_event_reasons_counters.hw_thermal_slowdown,"
            "clocks_event_reasons_counters.hw_power_brake,clocks_event_reasons_counters.sync_boost,mem.available,"
            "mem.free,mem.cached,gpu.process_bytes,swap.used,psi.memory.some.avg10,psi.memory.full.avg10,nvml.age_ms,"
            "sync_lag_ms\n");
  const std::string text = line(warm_sample(), samples_columns(), Units::left_out);
  EXPECT_EQ(split(text, ',').size(), samples_columns().size() + 1);
  EXPECT_THAT(text, HasSubstr(", 10.62, [N/A]"));
}

TEST_F(SampleCsv, ColumnsByEitherName) {
  const auto columns = parse_columns("clocks.current.sm, pstate,clocks_event_reasons.active");
  ASSERT_TRUE(columns) << columns.error().message;
  Sample sample = warm_sample();
  sample[Reading::sm_clock] = 2405;
  sample[Reading::performance_state] = 8;
  sample[Reading::event_reasons] = 0x21;
  EXPECT_EQ(line(sample, *columns), "2026/04/25 09:17:58.059, 2405 MHz, P8, 0x0000000000000021\n");
  const auto wrong = parse_columns("clocks.sm,fan.speed");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_THAT(wrong.error().message, HasSubstr("no column 'fan.speed'; there are temperature.gpu, "));
  EXPECT_FALSE(parse_columns(""));
}

TEST_F(SampleCsv, ALineNeedsNoNewMemory) {
  Sample sample = warm_sample();
  std::string text = line(sample, samples_columns());
  const char* const place = text.data();
  text.clear();
  append_csv_line(text, sample, samples_columns(), Units::written);
  EXPECT_EQ(text.data(), place);
}

}  // namespace
}  // namespace sparkops::store
