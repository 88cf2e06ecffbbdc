// The reader over libraries that lack the newer symbols. FAKE_GPU_FOLDER says which one is loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/root.h"
#include "facts/machine/gpu.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;

TEST(OldDriver, MissingSymbolsAreSingleUnknownValues) {
  setenv("FAKE_GPU_SCENARIO", SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/discrete.txt", 1);
  const Known<GpuInventory> inventory = read_gpus(Root::live(), {std::chrono::seconds(2), std::chrono::seconds(0)});
  ASSERT_TRUE(inventory) << inventory.reason();
  ASSERT_EQ(inventory->gpus.size(), 1U);
  const Gpu& gpu = inventory->gpus[0];
  const GpuSample& sample = gpu.latest();
  EXPECT_THAT(sample.temperature_margin.reason(), HasSubstr("has no nvmlDeviceGetMarginTemperature"));
  EXPECT_THAT(gpu.addressing_mode.reason(), HasSubstr("has no nvmlDeviceGetAddressingMode"));
  EXPECT_EQ(sample.temperature->value, 71);
  EXPECT_EQ(*sample.event_reasons, 4U);
  EXPECT_EQ(gpu.memory->total.value, 21474836480);
  EXPECT_EQ(*gpu.pci_id, "10de:27b2");
  const bool oldest = std::string(FAKE_GPU_FOLDER) == "oldest";
  EXPECT_EQ(*gpu.pci_bus_id, oldest ? "0000:01:00.0" : "00000000:01:00.0");
  ASSERT_TRUE(sample.processes) << sample.processes.reason();
  ASSERT_EQ(sample.processes->size(), 1U);
  EXPECT_EQ((*sample.processes)[0].pid, 2877);
  EXPECT_EQ((*sample.processes)[0].used_memory->value, 14226423808);
}

}  // namespace
}  // namespace sparkops::facts
