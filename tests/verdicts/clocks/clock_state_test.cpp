#include "verdicts/clocks/clock_state.h"

#include <gtest/gtest.h>

#include "../machine_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::busy_samples;
using testing::idle_sample;

ClockState state_of(const std::vector<facts::GpuSample>& samples) {
  return assess_clock_state(samples).state;
}

TEST(ClockState, NamesAreTheContract) {
  EXPECT_EQ(to_string(ClockState::busy_normal), "busy-normal");
  EXPECT_EQ(to_string(ClockState::thermal_hardware), "thermal-hardware");
  EXPECT_EQ(to_string(ClockState::user_locked), "user-locked");
}

TEST(ClockState, IdleNeedsOneSample) {
  EXPECT_EQ(state_of({idle_sample()}), ClockState::idle);
}

TEST(ClockState, NoSampleIsUnknown) {
  const ClockAssessment assessment = assess_clock_state({});
  EXPECT_EQ(assessment.state, ClockState::unknown);
  EXPECT_FALSE(assessment.low_clock);
}

TEST(ClockState, FiveWedgedSamplesAreAWedge) {
  EXPECT_EQ(state_of(busy_samples(5, 513, 11.8)), ClockState::wedged);
}

TEST(ClockState, FourWedgedSamplesAreNotYetOne) {
  const ClockAssessment assessment = assess_clock_state(busy_samples(4, 513, 11.8));
  EXPECT_EQ(assessment.state, ClockState::unknown);
  EXPECT_TRUE(assessment.low_clock);
  EXPECT_NE(assessment.caveat.find("4 of the 5"), std::string::npos);
}

TEST(ClockState, AWedgeWithAGapIsCountedFromTheEnd) {
  auto samples = busy_samples(8, 513, 11.8);
  samples[4].sm_clock = as_read(Megahertz{2400});
  EXPECT_NE(state_of(samples), ClockState::wedged);
}

TEST(ClockState, ALimitingReasonIsNoWedge) {
  auto samples = busy_samples(6, 900, 30);
  for (auto& sample : samples) sample.event_reasons = as_read(std::uint64_t{0x4});
  EXPECT_NE(state_of(samples), ClockState::wedged);
}

/// Readings that look hot, slow or hungry and are healthy: clock and power of published runs, as values of our own.
struct Healthy {
  double clock, watts, temperature;
};
class HealthyLoad : public ::testing::TestWithParam<Healthy> {};
TEST_P(HealthyLoad, IsNeverAFault) {
  auto samples = busy_samples(6, GetParam().clock, GetParam().watts);
  double wobble = 0;
  for (auto& sample : samples) {
    sample.temperature = as_read(Celsius{GetParam().temperature});
    sample.sm_clock = as_read(Megahertz{GetParam().clock + wobble});
    wobble += 12;  // boost clocks move from sample to sample
  }
  EXPECT_EQ(state_of(samples), ClockState::busy_normal);
}
INSTANTIATE_TEST_SUITE_P(Published, HealthyLoad,
                         ::testing::Values(Healthy{2205, 93, 79}, Healthy{2526, 30, 61}, Healthy{2280, 101, 82},
                                           Healthy{2410, 96, 86}, Healthy{2440, 38, 60}));

TEST(ClockState, AGrowingPowerCapAtANormalClockIsThePlateau) {
  auto samples = busy_samples(5, 2180, 92);
  samples.back().counters.sw_power_cap_ns = as_read(std::int64_t{9'000'000'000});
  EXPECT_EQ(state_of(samples), ClockState::power_limited);
}

TEST(ClockState, AThermalCounterAboveZeroIsNoFaultUntilItGrows) {
  auto samples = busy_samples(5, 2430, 80);
  for (auto& sample : samples) sample.counters.hw_thermal_slowdown_ns = as_read(std::int64_t{1'200'000'000});
  samples[1].sm_clock = as_read(Megahertz{2470});
  EXPECT_EQ(state_of(samples), ClockState::busy_normal);
  samples.back().counters.hw_thermal_slowdown_ns = as_read(std::int64_t{1'900'000'000});
  EXPECT_EQ(state_of(samples), ClockState::thermal_hardware);
}

TEST(ClockState, SoftwareThermalSlowdownByCounter) {
  auto samples = busy_samples(2, 2100, 70);
  samples.back().counters.sw_thermal_slowdown_ns = as_read(std::int64_t{400'000'000});
  EXPECT_EQ(state_of(samples), ClockState::thermal_software);
}

TEST(ClockState, ACounterThatWentBackSaysNothing) {
  auto samples = busy_samples(2, 2430, 70);
  samples.front().counters.sw_thermal_slowdown_ns = as_read(std::int64_t{5'000});
  samples.back().counters.sw_thermal_slowdown_ns = as_read(std::int64_t{0});
  EXPECT_EQ(state_of(samples), ClockState::busy_normal);
}

TEST(ClockState, FullClockAndHardlyAnyPowerIsWaiting) {
  EXPECT_EQ(state_of(busy_samples(2, 2412, 10.4)), ClockState::waiting);
}

TEST(ClockState, AFlatPlateauBelowBoostIsProbablyALock) {
  const ClockAssessment assessment = assess_clock_state(busy_samples(6, 1989, 55));
  EXPECT_EQ(assessment.state, ClockState::user_locked);
  EXPECT_NE(assessment.caveat.find("probably"), std::string::npos);
}

TEST(ClockState, WithoutCountersAPlateauIsNotCalledALock) {
  auto samples = busy_samples(6, 2229, 55);
  for (auto& sample : samples) sample.counters.sw_power_cap_ns = unknown("NVML: Not Supported (3)");
  EXPECT_EQ(state_of(samples), ClockState::busy_normal);
}

TEST(ClockState, ALowClockWithoutReasonIsUnknownAndLow) {
  auto samples = busy_samples(6, 1650, 60);
  samples[2].sm_clock = as_read(Megahertz{1720});
  const ClockAssessment assessment = assess_clock_state(samples);
  EXPECT_EQ(assessment.state, ClockState::unknown);
  EXPECT_TRUE(assessment.low_clock);
}

TEST(ClockState, MissingReadingsAreUnknownNotNormal) {
  auto samples = busy_samples(2, 2400, 60);
  samples.back().sm_clock = unknown("NVML: GPU is lost (15)");
  const ClockAssessment assessment = assess_clock_state(samples);
  EXPECT_EQ(assessment.state, ClockState::unknown);
  EXPECT_FALSE(assessment.low_clock);
  EXPECT_NE(assessment.caveat.find("GPU is lost"), std::string::npos);
}

}  // namespace
}  // namespace sparkops::verdicts
