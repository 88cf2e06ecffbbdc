#include "facts/machine/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using testing::Tree;

/// Shape: gb10-facts §1.2 (which calls answer on driver 580.159), values of our own.
constexpr const char* k_two_samples = R"json({
 "library": "libnvidia-ml.so.1",
 "system": {
  "nvmlInit_v2": {"code": 0},
  "nvmlSystemGetDriverVersion": {"code": 0, "value": "580.159.03"},
  "nvmlSystemGetNVMLVersion": {"code": 0, "value": "13.580.159.03"},
  "nvmlSystemGetCudaDriverVersion_v2": {"code": 0, "value": 13000},
  "nvmlDeviceGetCount_v2": {"code": 0, "value": 1}
 },
 "devices": [{
  "identity": {
   "nvmlDeviceGetName": {"code": 0, "value": "NVIDIA GB10"},
   "nvmlDeviceGetPciInfo_v3": {"code": 0, "value": {"bus_id": "0000000F:01:00.0", "pci_device_id": 772935902}},
   "nvmlDeviceGetCudaComputeCapability": {"code": 0, "value": {"major": 12, "minor": 1}},
   "nvmlDeviceGetMemoryInfo_v2": {"code": 3},
   "nvmlDeviceGetMemoryInfo": {"code": 3},
   "nvmlDeviceGetMaxClockInfo(1)": {"code": 0, "value": 3003},
   "nvmlDeviceGetAddressingMode": {"code": 0, "value": 2},
   "nvmlDeviceGetPersistenceMode": {"code": 0, "value": 1}
  },
  "samples": [
   {"at_ms": 1780000000000, "monotonic_s": 100.0, "answers": {
     "nvmlDeviceGetPowerUsage": {"code": 0, "value": 64210},
     "nvmlDeviceGetFieldValues(74)": {"code": 0, "value": 1000000000}}},
   {"at_ms": 1780000001500, "monotonic_s": 101.5, "answers": {
     "nvmlDeviceGetPowerUsage": {"code": 0, "value": 65930},
     "nvmlDeviceGetFieldValues(74)": {"code": 0, "value": 1750000000}}}
  ]
 }]
})json";

TEST(ReadGpusOfACapture, TellsWhatTheMachineTold) {
  const Tree tree;
  tree.write("sparkops/nvml.json", k_two_samples);
  const Known<GpuInventory> inventory = read_gpus(tree.root());
  ASSERT_TRUE(inventory) << inventory.reason();
  EXPECT_EQ(*inventory->cuda_version, 13000);
  ASSERT_EQ(inventory->gpus.size(), 1U);
  const Gpu& gpu = inventory->gpus[0];
  EXPECT_EQ(*gpu.pci_id, "10de:2e12");
  EXPECT_EQ(*gpu.addressing_mode, "ATS");
  EXPECT_EQ(gpu.memory.reason(), "NVML: Not Supported (3)");
  EXPECT_EQ(gpu.uuid.reason(), "NVML was not asked, or not before the deadline");
  ASSERT_EQ(gpu.samples.size(), 2U);
  EXPECT_DOUBLE_EQ(gpu.samples[1].monotonic_s - gpu.samples[0].monotonic_s, 1.5);
  EXPECT_EQ(*gpu.samples[1].counters.sw_power_cap_ns - *gpu.samples[0].counters.sw_power_cap_ns, 750'000'000);
  EXPECT_DOUBLE_EQ(gpu.latest().power->value, 65.93);
}

TEST(ReadGpusOfACapture, WithoutAnswersIsUnknown) {
  const Tree tree;
  tree.directory("proc");
  EXPECT_THAT(read_gpus(tree.root()).reason(), HasSubstr("sparkops/nvml.json"));
}

TEST(ReadGpusOfACapture, OfAMachineWithoutADriverSaysWhatThatMachineSaid) {
  const Tree tree;
  tree.write("sparkops/nvml.json", R"({"unknown": "libnvidia-ml.so.1: not found"})");
  EXPECT_EQ(read_gpus(tree.root()).reason(), "libnvidia-ml.so.1: not found");
}

TEST(ReadGpusOfACapture, DamagedNamesTheFileAndThePlace) {
  const Tree tree;
  tree.write("sparkops/nvml.json", R"({"library": "l", "system": 5})");
  EXPECT_EQ(read_gpus(tree.root()).reason(), "sparkops/nvml.json: /system is not an object of answers");
  tree.sparse("sparkops/nvml.json", std::int64_t{1} << 40);
  EXPECT_THAT(read_gpus(tree.root()).reason(), HasSubstr("sparkops/nvml.json"));
}

TEST(ReadGpusOfACapture, TheFixtureMachines) {
  const auto machine = [](const std::string& name) {
    const Result<Root> root = Root::open(SPARKOPS_FIXTURES "/machines/" + name + ".machine");
    return root ? read_gpus(*root) : Known<GpuInventory>(unknown(root.error()));
  };
  const Known<GpuInventory> idle = machine("spark-idle-healthy");
  ASSERT_TRUE(idle) << idle.reason();
  EXPECT_EQ(*idle->gpus.at(0).pci_id, "10de:2e12");
  EXPECT_GE(idle->gpus[0].samples.size(), 2U);
  EXPECT_TRUE(idle->gpus[0].latest().counters.sw_thermal_slowdown_ns);
  const Known<GpuInventory> wedged = machine("spark-wedged");
  ASSERT_TRUE(wedged) << wedged.reason();
  EXPECT_LT(wedged->gpus.at(0).latest().power->value, 40);
  EXPECT_GT(wedged->gpus[0].latest().utilization->value, 90);
  EXPECT_THAT(machine("spark-driver-not-loaded").reason(), HasSubstr("Driver Not Loaded (9)"));
  EXPECT_THAT(machine("spark-nvml-hung").reason(), HasSubstr("has not returned"));
  EXPECT_FALSE(machine("laptop-x86"));
}

}  // namespace
}  // namespace sparkops::facts
