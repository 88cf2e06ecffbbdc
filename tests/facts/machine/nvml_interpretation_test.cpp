#include "facts/machine/nvml_interpretation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;

NvmlAnswer value(std::uint64_t number) {
  return {NvmlAnswer::Kind::returned, 0, 0, NvmlNumber(number)};
}
NvmlAnswer value(NvmlValue content) {
  return {NvmlAnswer::Kind::returned, 0, 0, std::move(content)};
}
NvmlAnswer code(int number) {
  return {NvmlAnswer::Kind::returned, number, 0, {}};
}
NvmlAnswer hung(double seconds) {
  return {NvmlAnswer::Kind::no_return, 0, seconds, {}};
}
NvmlAnswer no_symbol() {
  return {NvmlAnswer::Kind::no_symbol, 0, 0, {}};
}

GpuSample sample_of(NvmlAnswers answers, std::string_view driver = "580.159.03") {
  return interpret_nvml_sample({1'000, 2.5, std::move(answers)}, driver);
}

/// A driver that works, with one GPU that answers what the test adds.
NvmlRecording recording_with(NvmlAnswers identity) {
  NvmlRecording recording{"libnvidia-ml.so.1",
                          {{"nvmlInit_v2", code(0)},
                           {"nvmlDeviceGetCount_v2", value(1)},
                           {"nvmlSystemGetDriverVersion", value(NvmlValue(std::string("580.159.03")))}},
                          {}};
  recording.devices.push_back({std::move(identity), {}});
  return recording;
}

Gpu gpu_of(NvmlAnswers identity) {
  return interpret_nvml(recording_with(std::move(identity)))->gpus.at(0);
}

TEST(NvmlInterpretation, ConvertsUnits) {
  const GpuSample sample = sample_of({{"nvmlDeviceGetPowerUsage", value(71'250)},
                                      {"nvmlDeviceGetFieldValues(186)", value(72'001)},
                                      {"nvmlDeviceGetTotalEnergyConsumption", value(123'456'789)},
                                      {"nvmlDeviceGetFieldValues(74)", value(5'000'000'000)},
                                      {"nvmlDeviceGetFieldValues(269)", value(7)},
                                      {"nvmlDeviceGetClockInfo(1)", value(2418)}});
  EXPECT_EQ(sample.taken.unix_ms, 1'000);
  EXPECT_DOUBLE_EQ(sample.monotonic_s, 2.5);
  EXPECT_DOUBLE_EQ(sample.power->value, 71.25);
  EXPECT_DOUBLE_EQ(sample.power_instant->value, 72.001);
  EXPECT_EQ(*sample.energy_mj, 123'456'789);
  EXPECT_EQ(*sample.counters.sw_power_cap_ns, 5'000'000'000);
  EXPECT_EQ(*sample.counters.sw_thermal_slowdown_ns, 7);
  EXPECT_EQ(sample.sm_clock->value, 2418);
  EXPECT_EQ(sample.power.provenance().origin, Origin::read);
}

TEST(NvmlInterpretation, NotSupportedIsUnknownInNvmlsWords) {
  const GpuSample sample = sample_of({{"nvmlDeviceGetClockInfo(2)", code(3)}, {"nvmlDeviceGetPowerUsage", code(15)}});
  EXPECT_EQ(sample.memory_clock.reason(), "NVML: Not Supported (3)");
  EXPECT_EQ(sample.power.reason(), "NVML: GPU is lost (15)");
}

TEST(NvmlInterpretation, BothMemoryAnswersOfUnifiedMemory) {
  EXPECT_EQ(gpu_of({{"nvmlDeviceGetMemoryInfo_v2", code(3)}, {"nvmlDeviceGetMemoryInfo", code(3)}}).memory.reason(),
            "NVML: Not Supported (3)");
  const NvmlMembers whole_pool = {{"total", NvmlNumber(std::uint64_t{130'595'667'968})},
                                  {"free", NvmlNumber(std::uint64_t{8'000'000'000})},
                                  {"used", NvmlNumber(std::uint64_t{122'595'667'968})}};
  const Gpu gpu = gpu_of({{"nvmlDeviceGetMemoryInfo_v2", code(3)}, {"nvmlDeviceGetMemoryInfo", value(whole_pool)}});
  ASSERT_TRUE(gpu.memory);
  EXPECT_EQ(gpu.memory->total.value, 130'595'667'968);
  const NvmlMembers nothing = {{"total", NvmlNumber(std::uint64_t{0})},
                               {"free", NvmlNumber(std::uint64_t{0})},
                               {"used", NvmlNumber(std::uint64_t{0})}};
  EXPECT_EQ(gpu_of({{"nvmlDeviceGetMemoryInfo", value(nothing)}}).memory.reason(), "NVML answers a total of 0 bytes");
}

TEST(NvmlInterpretation, TheOlderFormAnswersForTheNewer) {
  const GpuSample sample = sample_of({{"nvmlDeviceGetTemperatureV", no_symbol()},
                                      {"nvmlDeviceGetTemperature(0)", value(61)},
                                      {"nvmlDeviceGetMarginTemperature", no_symbol()}});
  EXPECT_EQ(sample.temperature->value, 61);
  EXPECT_EQ(sample.temperature_margin.reason(),
            "the NVML library of this driver has no nvmlDeviceGetMarginTemperature");
}

TEST(NvmlInterpretation, AHungCallIsTheReasonOfEverythingAfterIt) {
  const GpuSample sample =
      sample_of({{"nvmlDeviceGetTemperatureV", value(61)}, {"nvmlDeviceGetPowerUsage", hung(2.04)}});
  EXPECT_EQ(sample.temperature->value, 61);
  EXPECT_EQ(sample.power.reason(), "NVML call nvmlDeviceGetPowerUsage has not returned for 2.0 s");
  EXPECT_EQ(sample.utilization.reason(), "NVML call nvmlDeviceGetPowerUsage has not returned for 2.0 s");
  EXPECT_EQ(sample.counters.sw_thermal_slowdown_ns.reason(),
            "NVML call nvmlDeviceGetPowerUsage has not returned for 2.0 s");
}

TEST(NvmlInterpretation, CountersNeedToKnowTheDriver) {
  const NvmlAnswers answers = {{"nvmlDeviceGetFieldValues(251)", value(1)},
                               {"nvmlDeviceGetFieldValues(269)", value(2)}};
  EXPECT_EQ(*sample_of(answers, "580.95.05").counters.sw_thermal_slowdown_ns, 2);
  EXPECT_EQ(*sample_of(answers, "580.76.05").counters.sw_thermal_slowdown_ns, 1);
  EXPECT_THAT(sample_of(answers, "").counters.sw_thermal_slowdown_ns.reason(), HasSubstr("driver version is unknown"));
  EXPECT_THAT(sample_of(answers, "570.1.2").counters.hw_power_brake_ns.reason(), HasSubstr("no such counter"));
}

TEST(NvmlInterpretation, ProcessListsMergeAndAllOnesIsUnknown) {
  using List = std::vector<NvmlProcessEntry>;
  const GpuSample sample = sample_of(
      {{"nvmlDeviceGetComputeRunningProcesses_v3", value(NvmlValue(List{{10, 500}, {11, k_nvml_not_available}}))},
       {"nvmlDeviceGetGraphicsRunningProcesses_v3", value(NvmlValue(List{{10, 700}, {12, 1ULL << 63}}))}});
  ASSERT_TRUE(sample.processes);
  ASSERT_EQ(sample.processes->size(), 3U);
  EXPECT_EQ((*sample.processes)[0].kind, GpuProcess::Kind::both);
  EXPECT_EQ((*sample.processes)[0].used_memory->value, 700);
  EXPECT_EQ((*sample.processes)[1].used_memory.reason(), "NVML: not available for this process");
  EXPECT_FALSE((*sample.processes)[2].used_memory) << "more bytes than fit is no figure";
}

TEST(NvmlInterpretation, AbsurdValuesAreUnknown) {
  const GpuSample sample =
      sample_of({{"nvmlDeviceGetUtilizationRates", value(NvmlMembers{{"gpu", NvmlNumber(std::uint64_t{250})}})},
                 {"nvmlDeviceGetPerformanceState", value(32)},
                 {"nvmlDeviceGetPowerUsage", value(NvmlValue(NvmlNumber(std::nan(""))))},
                 {"nvmlDeviceGetTotalEnergyConsumption", value(std::numeric_limits<std::uint64_t>::max())},
                 {"nvmlDeviceGetCurrentClocksEventReasons", value(NvmlValue(std::string("0x4")))},
                 {"nvmlDeviceGetComputeRunningProcesses_v3", value(7)},
                 {"nvmlDeviceGetClockInfo(1)", value(NvmlValue())}});
  EXPECT_FALSE(sample.utilization);
  EXPECT_EQ(sample.performance_state.reason(), "NVML does not know the performance state");
  EXPECT_FALSE(sample.power);
  EXPECT_FALSE(sample.energy_mj);
  EXPECT_FALSE(sample.event_reasons);
  EXPECT_FALSE(sample.processes);
  EXPECT_EQ(sample.sm_clock.reason(), "NVML's answer is not a number");
}

TEST(NvmlInterpretation, AnInventoryNeedsInitAndCount) {
  NvmlRecording recording{"libnvidia-ml.so.1", {{"nvmlInit_v2", code(9)}}, {}};
  EXPECT_THAT(interpret_nvml(recording).reason(), HasSubstr("NVML: Driver Not Loaded (9): the kernel module nvidia"));
  recording.system = {{"nvmlInit_v2", no_symbol()}, {"nvmlInit", code(18)}};
  EXPECT_THAT(interpret_nvml(recording).reason(), HasSubstr("Driver/library version mismatch (18)"));
  recording.system = {{"nvmlInit_v2", hung(3)}};
  EXPECT_EQ(interpret_nvml(recording).reason(), "NVML call nvmlInit_v2 has not returned for 3.0 s");
  recording.system = {{"nvmlInit_v2", code(0)}, {"nvmlDeviceGetCount_v2", code(999)}};
  EXPECT_FALSE(interpret_nvml(recording)) << "an unknown number of GPUs is not none";
  recording.system = {};
  EXPECT_FALSE(interpret_nvml(recording));
}

TEST(NvmlInterpretation, AGpuAlwaysHasASample) {
  const Gpu gpu = gpu_of({{"nvmlDeviceGetHandleByIndex_v2", code(999)}});
  EXPECT_EQ(gpu.name, "GPU without a name");
  EXPECT_EQ(gpu.uuid.reason(), "nvmlDeviceGetHandleByIndex_v2: NVML: Unknown Error (999)");
  ASSERT_EQ(gpu.samples.size(), 1U);
  EXPECT_EQ(gpu.latest().power.reason(), "nvmlDeviceGetHandleByIndex_v2: NVML: Unknown Error (999)");
}

}  // namespace
}  // namespace sparkops::facts
