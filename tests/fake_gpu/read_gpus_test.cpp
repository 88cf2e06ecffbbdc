// The reader over the stand-in library, found by dlopen as the real one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/root.h"
#include "facts/machine/gpu.h"
#include "facts/machine/nvml_interpretation.h"
#include "facts/machine/nvml_json.h"
#include "facts/machine/nvml_session.h"

namespace sparkops::facts {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const std::string k_busy_gpu = "profile gb10\ndriver 580.159.03\nutilization 95\n";

class ReadGpus : public ::testing::Test {
 protected:
  void use_file(const std::string& name) {
    setenv("FAKE_GPU_SCENARIO", (SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/" + name + ".txt").c_str(), 1);
  }

  void use(const std::string& scenario) {
    path_ = std::filesystem::temp_directory_path() /
            ("read-gpus-" + std::to_string(getpid()) + "-" + std::to_string(++files_) + ".txt");
    std::ofstream(path_) << scenario;
    setenv("FAKE_GPU_SCENARIO", path_.c_str(), 1);
  }

  void TearDown() override {
    if (!path_.empty()) std::filesystem::remove(path_);
  }

  static Known<GpuInventory> read(milliseconds settle = milliseconds(0)) {
    return read_gpus(Root::live(), {milliseconds(2000), settle});
  }

  std::filesystem::path path_;
  static int files_;
};
int ReadGpus::files_ = 0;

TEST_F(ReadGpus, AnIdleSpark) {
  use_file("idle");
  const Known<GpuInventory> inventory = read(milliseconds(1000));
  ASSERT_TRUE(inventory) << inventory.reason();
  EXPECT_EQ(*inventory->driver_version, "580.159.03");
  EXPECT_EQ(*inventory->nvml_version, "13.580.159.03");
  EXPECT_EQ(*inventory->cuda_version, 13000);
  ASSERT_EQ(inventory->gpus.size(), 1U);
  const Gpu& gpu = inventory->gpus[0];
  EXPECT_EQ(gpu.name, "NVIDIA GB10");
  EXPECT_EQ(*gpu.pci_bus_id, "0000000F:01:00.0");
  EXPECT_EQ(*gpu.pci_id, "10de:2e12");
  EXPECT_EQ(*gpu.compute_capability_major, 12);
  EXPECT_EQ(*gpu.compute_capability_minor, 1);
  EXPECT_EQ(*gpu.addressing_mode, "ATS");
  EXPECT_TRUE(*gpu.persistence_mode);
  EXPECT_EQ(gpu.max_sm_clock->value, 3003);
  EXPECT_EQ(gpu.applications_clock->value, 2418);
  EXPECT_EQ(gpu.memory.reason(), "NVML: Not Supported (3)");
  EXPECT_EQ(gpu.samples.size(), 1U) << "an idle GPU is not waited for";
  const GpuSample& sample = gpu.latest();
  EXPECT_EQ(sample.temperature->value, 41);
  EXPECT_EQ(sample.temperature_margin->value, 49);
  EXPECT_DOUBLE_EQ(sample.power->value, 4.31);
  EXPECT_DOUBLE_EQ(sample.power_instant->value, 4.38);
  EXPECT_GE(*sample.energy_mj, 812345678);
  EXPECT_EQ(sample.sm_clock->value, 208);
  EXPECT_EQ(sample.memory_clock.reason(), "NVML: Not Supported (3)");
  EXPECT_EQ(*sample.performance_state, 8);
  EXPECT_EQ(*sample.event_reasons, 1U);
  EXPECT_EQ(*sample.counters.sw_thermal_slowdown_ns, 0);
  ASSERT_TRUE(sample.processes);
  EXPECT_TRUE(sample.processes->empty());
}

TEST_F(ReadGpus, ABusyGpuIsSampledOverTheSettlingTimeAndCountersGrow) {
  use_file("power-limited");
  const Known<GpuInventory> inventory = read(milliseconds(80));
  ASSERT_TRUE(inventory) << inventory.reason();
  const std::vector<GpuSample>& samples = inventory->gpus[0].samples;
  ASSERT_EQ(samples.size(), 5U);
  const double seconds = samples.back().monotonic_s - samples.front().monotonic_s;
  EXPECT_GE(seconds, 0.08);
  const double gained_s =
      static_cast<double>(*samples.back().counters.sw_power_cap_ns - *samples.front().counters.sw_power_cap_ns) / 1e9;
  EXPECT_NEAR(gained_s / seconds, 0.88, 0.2);
}

TEST_F(ReadGpus, ACallThatHangsEndsTheSettling) {
  use(k_busy_gpu + "at 0.2\nhang nvmlDeviceGetPowerUsage 1\n");
  const Known<GpuInventory> inventory = read_gpus(Root::live(), {milliseconds(100), milliseconds(1000)});
  ASSERT_TRUE(inventory) << inventory.reason();
  const std::vector<GpuSample>& samples = inventory->gpus[0].samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_TRUE(samples[0].power);
  EXPECT_THAT(samples[1].power.reason(), HasSubstr("nvmlDeviceGetPowerUsage has not returned"));
}

TEST_F(ReadGpus, ProcessesOfBothListsAreMerged) {
  use("profile gb10\ndriver 580.159.03\nprocess 11 C 1000\nprocess 12 C+G unavailable\nprocess 13 G 3000\n");
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  const auto& processes = inventory->gpus[0].latest().processes;
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 3U);
  EXPECT_EQ((*processes)[0].kind, GpuProcess::Kind::compute);
  EXPECT_EQ((*processes)[0].used_memory->value, 1000);
  EXPECT_EQ((*processes)[1].kind, GpuProcess::Kind::both);
  EXPECT_EQ((*processes)[1].used_memory.reason(), "NVML: not available for this process");
  EXPECT_EQ((*processes)[2].kind, GpuProcess::Kind::graphics);
}

TEST_F(ReadGpus, MoreProcessesThanTheFirstRoom) {
  std::string scenario = "profile gb10\ndriver 580.159.03\n";
  for (int pid = 1; pid <= 100; ++pid) scenario += "process " + std::to_string(pid) + " C 4096\n";
  use(scenario);
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  ASSERT_TRUE(inventory->gpus[0].latest().processes);
  EXPECT_EQ(inventory->gpus[0].latest().processes->size(), 100U);
}

TEST_F(ReadGpus, ADiscreteGpuTellsItsMemory) {
  use_file("discrete");
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  const Gpu& gpu = inventory->gpus[0];
  ASSERT_TRUE(gpu.memory) << gpu.memory.reason();
  EXPECT_EQ(gpu.memory->total.value, 21474836480);
  EXPECT_EQ(gpu.memory->free.value, 6442450944);
  EXPECT_EQ(gpu.slowdown_temperature->value, 98);
  EXPECT_FALSE(*gpu.persistence_mode);
}

TEST_F(ReadGpus, CountersAreNeverTakenFromPowerSmoothing) {
  for (const char* driver : {"580.95.05", "580.126.09", "580.142", "580.159.03", "580.173.02", "580.178.04",
                             "590.48.01", "595.58.03", "610.43.03"}) {
    use("profile gb10\ndriver " + std::string(driver) +
        "\nsw_thermal_ns 5\nhw_thermal_ns 6\nhw_power_brake_ns 7\nsw_power_cap_ns 8\n");
    const Known<GpuInventory> inventory = read();
    ASSERT_TRUE(inventory) << inventory.reason();
    const ClocksEventCounters& counters = inventory->gpus[0].latest().counters;
    EXPECT_EQ(*counters.sw_thermal_slowdown_ns, 5) << driver;
    EXPECT_EQ(*counters.hw_thermal_slowdown_ns, 6) << driver;
    EXPECT_EQ(*counters.hw_power_brake_ns, 7) << driver;
    EXPECT_EQ(*counters.sw_power_cap_ns, 8) << driver;
  }
}

TEST_F(ReadGpus, AnOldDriverKeepsItsCountersElsewhereOrHasNone) {
  use("profile gb10\ndriver 580.76.05\nsw_thermal_ns 5\n");
  EXPECT_EQ(*read()->gpus[0].latest().counters.sw_thermal_slowdown_ns, 5);
  use("profile gb10\ndriver 550.163.01\n");
  const Known<GpuInventory> inventory = read();
  EXPECT_EQ(inventory->gpus[0].latest().counters.sw_thermal_slowdown_ns.reason(),
            "driver 550.163.01 has no such counter");
  EXPECT_TRUE(inventory->gpus[0].latest().counters.sw_power_cap_ns);
}

TEST_F(ReadGpus, InitCodesAreExplained) {
  use_file("driver-not-loaded");
  EXPECT_THAT(read().reason(), HasSubstr("Driver Not Loaded (9): the kernel module nvidia is not loaded"));
  use_file("version-mismatch");
  EXPECT_THAT(read().reason(), HasSubstr("(18): the driver was updated under the running kernel module; reboot"));
  use("profile gb10\ndriver 580.159.03\nfail nvmlInit* 999\n");
  EXPECT_THAT(read().reason(), HasSubstr("Unknown Error (999): inside a container"));
}

TEST_F(ReadGpus, OneFailingCallIsOneUnknownValue) {
  use("profile gb10\ndriver 580.159.03\nfail nvmlDeviceGetUtilizationRates 4\nfail nvmlDeviceGetUUID 999\n");
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  EXPECT_EQ(inventory->gpus[0].uuid.reason(), "NVML: Unknown Error (999)");
  EXPECT_EQ(inventory->gpus[0].latest().utilization.reason(), "NVML: Insufficient Permissions (4)");
  EXPECT_TRUE(inventory->gpus[0].latest().power);
}

TEST_F(ReadGpus, NoGpuIsKnownAndEmpty) {
  use("profile gb10\ndriver 580.159.03\ngpus 0\n");
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  EXPECT_TRUE(inventory->gpus.empty());
}

TEST_F(ReadGpus, AHungCallAgesItsReadingAndKeepsTheEarlierAnswers) {
  use("profile gb10\ndriver 580.159.03\nhang nvmlDeviceGetPowerUsage 0.4 for 1 calls\n");
  const auto before = std::chrono::steady_clock::now();
  const Known<GpuInventory> inventory = read_gpus(Root::live(), {milliseconds(100), milliseconds(0)});
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds(390));
  ASSERT_TRUE(inventory) << inventory.reason();
  const GpuSample& sample = inventory->gpus[0].latest();
  EXPECT_EQ(sample.temperature->value, 41) << "was answered before";
  EXPECT_THAT(sample.power.reason(), HasSubstr("NVML call nvmlDeviceGetPowerUsage has not returned for 0.1 s"));
  EXPECT_THAT(sample.sm_clock.reason(), HasSubstr("nvmlDeviceGetPowerUsage has not returned"));
  EXPECT_THAT(sample.processes.reason(), HasSubstr("nvmlDeviceGetPowerUsage has not returned"));
}

TEST_F(ReadGpus, AHungInitIsUnknownAsAWhole) {
  use("profile gb10\ndriver 580.159.03\nhang nvmlInit_v2 0.3\n");
  const Known<GpuInventory> inventory = read_gpus(Root::live(), {milliseconds(50), milliseconds(0)});
  ASSERT_FALSE(inventory);
  EXPECT_THAT(inventory.reason(), HasSubstr("NVML call nvmlInit_v2 has not returned for 0."));
}

TEST_F(ReadGpus, ASessionWorksAgainOnceTheCallReturns) {
  use("profile gb10\ndriver 580.159.03\nhang nvmlDeviceGetPowerUsage 0.3 for 1 calls\n");
  Result<NvmlSession> session = NvmlSession::open();
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_EQ(session->identify(milliseconds(1000)).devices.size(), 1U);
  EXPECT_FALSE(interpret_nvml_sample(session->sample(milliseconds(50))[0], "580.159.03").power);
  const GpuSample stuck = interpret_nvml_sample(session->sample(milliseconds(50))[0], "580.159.03");
  EXPECT_FALSE(stuck.temperature) << "a later reading has nothing new";
  EXPECT_THAT(stuck.temperature.reason(), HasSubstr("nvmlDeviceGetPowerUsage has not returned"));
  std::this_thread::sleep_for(milliseconds(400));
  EXPECT_TRUE(interpret_nvml_sample(session->sample(milliseconds(1000))[0], "580.159.03").power);
}

TEST_F(ReadGpus, ALostGpuComesBackWithANewStart) {
  use("profile gb10\ndriver 580.142\nfail nvmlDeviceGetTemperatureV 15 for 1 calls\n");
  Result<NvmlSession> session = NvmlSession::open();
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_EQ(session->identify(milliseconds(1000)).devices.size(), 1U);
  const GpuSample lost = interpret_nvml_sample(session->sample(milliseconds(1000))[0], "580.142");
  EXPECT_EQ(lost.temperature.reason(), "NVML: GPU is lost (15)");
  const GpuSample back = interpret_nvml_sample(session->sample(milliseconds(1000))[0], "580.142");
  EXPECT_EQ(back.temperature->value, 41);
}

TEST_F(ReadGpus, AGpuThatIsLostSaysSoInEveryValue) {
  use("profile gb10\ndriver 580.142\nlose\n");
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  ASSERT_EQ(inventory->gpus.size(), 1U);
  EXPECT_EQ(inventory->gpus[0].uuid.reason(), "nvmlDeviceGetHandleByIndex_v2: NVML: Unknown Error (999)");
  EXPECT_EQ(inventory->gpus[0].latest().power.reason(), "nvmlDeviceGetHandleByIndex_v2: NVML: Unknown Error (999)");
}

TEST_F(ReadGpus, InsideAContainerNoProcessIsListed) {
  use_file("container");
  const Known<GpuInventory> inventory = read();
  ASSERT_TRUE(inventory) << inventory.reason();
  ASSERT_TRUE(inventory->gpus[0].latest().processes);
  EXPECT_TRUE(inventory->gpus[0].latest().processes->empty());
  EXPECT_EQ(*inventory->cuda_version, 13020);
}

TEST_F(ReadGpus, ARecordingSurvivesItsJson) {
  use_file("loaded-healthy");
  const Known<NvmlRecording> recording = record_nvml(2, milliseconds(20));
  ASSERT_TRUE(recording) << recording.reason();
  ASSERT_EQ(recording->devices.size(), 1U);
  ASSERT_EQ(recording->devices[0].samples.size(), 2U);
  const Result<Known<NvmlRecording>> again = raw_from_json(raw_to_json(recording));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->known());
  EXPECT_EQ(**again, *recording);
}

}  // namespace
}  // namespace sparkops::facts
