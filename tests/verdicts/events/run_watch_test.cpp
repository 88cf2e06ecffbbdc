#include "verdicts/events/run_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double k_gb = 1e9;

facts::GpuSample gpu(double at, double celsius, double watts, double megahertz, double busy) {
  facts::GpuSample sample;
  sample.monotonic_s = at;
  sample.temperature = as_read(Celsius{celsius});
  sample.power = as_read(Watts{watts});
  sample.sm_clock = as_read(Megahertz{megahertz});
  sample.utilization = as_read(Percent{busy});
  sample.event_reasons = as_read(std::uint64_t{0});
  sample.counters.sw_power_cap_ns = as_read(std::int64_t{0});
  sample.counters.sw_thermal_slowdown_ns = as_read(std::int64_t{0});
  sample.counters.hw_thermal_slowdown_ns = as_read(std::int64_t{0});
  return sample;
}

/// Every event of a series as "kind status".
class Series {
 public:
  void at(double second, WatchReading reading) {
    reading.monotonic_s = second;
    for (const Finding& finding : watch.observe(reading)) {
      events.push_back(finding.id + " " + std::string(to_string(finding.status)));
      headlines.push_back(finding.headline);
    }
  }
  RunWatch watch;
  std::vector<std::string> events, headlines;
};

WatchReading with_gpu(const facts::GpuSample& sample) {
  WatchReading reading;
  reading.gpu = sample;
  return reading;
}
WatchReading with_memory(double available, double swap = 0, double pressure = 0) {
  WatchReading reading;
  reading.available_bytes = available;
  reading.swap_used_bytes = swap;
  reading.pressure_full_percent = pressure;
  return reading;
}

TEST(RunWatchTest, AHealthyRunIsQuiet) {
  Series series;
  for (int i = 0; i < 600; ++i) {
    WatchReading reading = with_memory(30 * k_gb + i * 1e6, 1e8, 0.2);
    reading.gpu = gpu(i, 71, 88, 2405 + i % 60, 96);
    reading.nvml_age_ms = 3;
    reading.disk_free_bytes = std::int64_t{200} << 30;
    series.at(i, reading);
  }
  EXPECT_THAT(series.events, IsEmpty());
}

TEST(RunWatchTest, AWedgeIsToldOnceWithinTenSecondsAndWhenItIsOver) {
  Series series;
  for (int i = 0; i < 20; ++i) series.at(i, with_gpu(gpu(i, 60, 90, 2420, 96)));
  for (int i = 20; i < 120; ++i) {
    series.at(i, with_gpu(gpu(i, 44, 12, 507, 96)));
    if (i == 29) {
      EXPECT_THAT(series.events, ElementsAre("wedged fail"));
    }
  }
  EXPECT_THAT(series.events, ElementsAre("wedged fail"));
  EXPECT_THAT(series.headlines[0], HasSubstr("44 °C, 12 W, 507 MHz, 96 % busy"));
  for (int i = 120; i < 140; ++i) series.at(i, with_gpu(gpu(i, 60, 90, 2420, 96)));
  EXPECT_THAT(series.events, ElementsAre("wedged fail", "wedged info"));
}

TEST(RunWatchTest, HeatIsAnEventAfterFiveSecondsAndOneSampleIsNone) {
  Series series;
  const auto hot = [](int second) {
    facts::GpuSample sample = gpu(second, 87, 70, 1700, 96);
    sample.counters.sw_thermal_slowdown_ns = as_read(std::int64_t{second} * 500'000'000);
    return sample;
  };
  for (int i = 0; i < 5; ++i) series.at(i, with_gpu(hot(i)));
  EXPECT_THAT(series.events, IsEmpty());
  for (int i = 5; i < 30; ++i) series.at(i, with_gpu(hot(i)));
  EXPECT_THAT(series.events, ElementsAre("thermal-software warn"));
}

TEST(RunWatchTest, ACollapseOfTheMemoryIsToldAtItsEnd) {
  Series series;
  for (int i = 0; i < 20; ++i) series.at(i, with_memory(34 * k_gb));
  series.at(20, with_memory(12.7 * k_gb));
  EXPECT_THAT(series.events, IsEmpty()) << "a load: far from the end";
  series.at(21, with_memory(6.3 * k_gb));
  EXPECT_THAT(series.events, ElementsAre("memory-collapse fail"));
  EXPECT_THAT(series.headlines[0], HasSubstr("fell from 31.7 GiB to 5.9 GiB within 10 s"));
}

TEST(RunWatchTest, ASlowFallIsNoCollapse) {
  Series series;
  for (int i = 0; i < 100; ++i) series.at(i, with_memory(34 * k_gb - i * 0.3 * k_gb));
  EXPECT_THAT(series.events, IsEmpty());
}

TEST(RunWatchTest, SwapAndPressure) {
  Series series;
  series.at(0, with_memory(8 * k_gb, 1e9, 0));
  series.at(1, with_memory(8 * k_gb, 1e9, 12));
  series.at(2, with_memory(8 * k_gb, 1.5e9, 12));
  series.at(3, with_memory(8 * k_gb, 1.5e9, 1));
  EXPECT_THAT(series.events, ElementsAre("memory-pressure warn", "swap warn", "memory-pressure info"));
  Series resident;  // swap that lies there since before
  for (int i = 0; i < 100; ++i) resident.at(i, with_memory(8 * k_gb, 4e9, 0));
  EXPECT_THAT(resident.events, IsEmpty());
}

TEST(RunWatchTest, ADriverThatDoesNotAnswerAndAFullDisk) {
  Series series;
  WatchReading reading;
  reading.nvml_age_ms = 4999;
  reading.disk_free_bytes = std::int64_t{3} << 30;
  series.at(0, reading);
  EXPECT_THAT(series.events, IsEmpty());
  reading.nvml_age_ms = 5400;
  reading.disk_free_bytes = std::int64_t{1} << 30;
  series.at(1, reading);
  EXPECT_THAT(series.events, ElementsAre("gpu-unresponsive fail", "disk-nearly-full warn"));
}

TEST(RunWatchTest, WhatCannotBeReadIsNoEvent) {
  Series series;
  for (int i = 0; i < 50; ++i) series.at(i, WatchReading{});
  EXPECT_THAT(series.events, IsEmpty());
  // And it does not end one: the driver hangs while the box is wedged.
  for (int i = 50; i < 60; ++i) series.at(i, with_gpu(gpu(i, 44, 12, 507, 96)));
  for (int i = 60; i < 70; ++i) series.at(i, WatchReading{});
  EXPECT_THAT(series.events, ElementsAre("wedged fail"));
}

}  // namespace
}  // namespace sparkops::verdicts
