#include "facts/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../../emulation.h"
#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::Tree;

Machine fixture(const std::string& name) {
  return read_machine(Root::open(std::string(SPARKOPS_FIXTURES "/machines/") + name + ".machine").value());
}

TEST(Machine, AHealthySparkIsReadWhole) {
  const Machine machine = fixture("spark-idle-healthy");
  EXPECT_FALSE(machine.is_live);
  ASSERT_TRUE(machine.taken.known()) << machine.taken.reason();
  ASSERT_TRUE(machine.identity.known()) << machine.identity.reason();
  EXPECT_EQ(*machine.identity->architecture, "aarch64");
  ASSERT_THAT(*machine.identity->nvidia_devices, SizeIs(1));
  EXPECT_EQ(machine.identity->nvidia_devices->front().id, k_gb10_pci_id);
  EXPECT_TRUE(machine.identity->driver_version.known()) << machine.identity->driver_version.reason();
  EXPECT_EQ(*machine.identity->last_boot_end, BootEnd::shutdown) << machine.identity->last_boot_end.reason();
  ASSERT_TRUE(machine.memory.known()) << machine.memory.reason();
  EXPECT_GT(machine.memory->info.available->value, 64 * k_gib);
  EXPECT_TRUE(machine.memory->free_blocks.known()) << machine.memory->free_blocks.reason();
  EXPECT_TRUE(machine.memory->earlier_counters.known()) << machine.memory->earlier_counters.reason();
  ASSERT_TRUE(machine.gpus.known()) << machine.gpus.reason();
  ASSERT_NE(machine.gpu(), nullptr);
  EXPECT_THAT(machine.gpu()->name, HasSubstr("GB10"));
  ASSERT_TRUE(machine.processes.known()) << machine.processes.reason();
  ASSERT_TRUE(machine.sensors.known()) << machine.sensors.reason();
  EXPECT_TRUE(machine.sensors->temperatures.front().margin().known());
  ASSERT_TRUE(machine.kernel_log.known()) << machine.kernel_log.reason();
  EXPECT_THAT(machine.kernel_log->current, IsEmpty());
  ASSERT_TRUE(machine.network_links.known()) << machine.network_links.reason();
  EXPECT_THAT(machine.network_links->twins, SizeIs(2));
  EXPECT_FALSE(machine.container->inside.known());
}

TEST(Machine, AFullPageCacheHasItsFilesNamed) {
  const Machine machine = fixture("spark-full-page-cache");
  ASSERT_TRUE(machine.memory->cached_files.known()) << machine.memory->cached_files.reason();
  ASSERT_THAT(*machine.memory->cached_files, Not(IsEmpty()));
  EXPECT_THAT(machine.memory->cached_files->front().path, HasSubstr("safetensors"));
}

TEST(Machine, TwinsWithDifferentMtuAreFound) {
  const Machine machine = fixture("spark-two-node-mtu");
  const NetworkLinks& links = *machine.network_links;
  const bool any_differs = std::any_of(links.twins.begin(), links.twins.end(), [&](const auto& pair) {
    return links.links[pair.first].mtu && links.links[pair.second].mtu &&
           *links.links[pair.first].mtu != *links.links[pair.second].mtu;
  });
  EXPECT_TRUE(any_differs);
}

TEST(Machine, TheInsideOfAContainerIsRecognised) {
  const Machine machine = fixture("spark-ngc-container");
  ASSERT_TRUE(machine.container->inside.known()) << machine.container->inside.reason();
  EXPECT_TRUE(machine.container->ngc_product.known()) << machine.container->ngc_product.reason();
}

TEST(Machine, ALaptopHasNoGpuAndNothingIsMadeUp) {
  const Machine machine = fixture("laptop-x86");
  ASSERT_TRUE(machine.identity->nvidia_devices.known());
  EXPECT_THAT(*machine.identity->nvidia_devices, IsEmpty());
  EXPECT_EQ(machine.gpu(), nullptr);
  EXPECT_FALSE(machine.identity->driver_version.known());
  EXPECT_TRUE(machine.memory->info.total.known());
}

TEST(Machine, ProcessesAreNotLostWhenNvmlHangs) {
  const Machine machine = fixture("spark-nvml-hung");
  ASSERT_TRUE(machine.processes.known()) << machine.processes.reason();
  EXPECT_TRUE(machine.processes->process_count.known());
}

TEST(Machine, EveryFixtureIsReadInEveryPart) {
  for (const auto& file : std::filesystem::directory_iterator(SPARKOPS_FIXTURES "/machines")) {
    if (file.path().extension() != ".machine") continue;
    const Machine machine = fixture(file.path().stem().string());
    EXPECT_TRUE(machine.identity && machine.memory && machine.sensors && machine.kernel_log && machine.network_links &&
                machine.container && machine.processes)
        << file.path();
    EXPECT_TRUE(machine.memory->info.total.known()) << file.path();
    EXPECT_TRUE(machine.memory->free_blocks.known()) << file.path() << ": " << machine.memory->free_blocks.reason();
  }
}

TEST(Machine, AnEmptyRootGivesReasonsThroughout) {
  const Tree tree;
  const Machine machine = read_machine(tree.root());
  EXPECT_FALSE(machine.taken.known());
  EXPECT_FALSE(machine.gpus.known());
  EXPECT_EQ(machine.gpu(), nullptr);
  EXPECT_FALSE(machine.memory->info.total.known());
  EXPECT_FALSE(machine.kernel_log->source.known());
}

TEST(Machine, PartsThatWereNotAskedForSaySo) {
  const Tree tree;
  MachineReadOptions options;
  options.kernel_log = false;
  options.network_links = false;
  const Machine machine = read_machine(tree.root(), options);
  EXPECT_EQ(machine.kernel_log.reason(), "not asked for");
  EXPECT_EQ(machine.network_links.reason(), "not asked for");
}

TEST(Machine, WithoutTimeEachPartIsUnknownAndNothingDangles) {
  MachineReadOptions options;
  options.deadline = std::chrono::milliseconds{0};
  for (int i = 0; i < 20; ++i) {
    const Tree tree;
    const Machine machine = read_machine(tree.root(), options);
    for (const std::string& reason : {machine.memory.reason(), machine.gpus.reason(), machine.processes.reason()})
      EXPECT_TRUE(reason.empty() || reason.find("did not answer within") != std::string::npos ||
                  machine.gpus.reason() == reason)
          << reason;
  }
}

TEST(Machine, TheGpuThatIsJudgedIsTheGb10) {
  Machine machine;
  EXPECT_EQ(machine.gpu(), nullptr);
  Gpu other, gb10;
  other.name = "NVIDIA RTX 4000";
  gb10.name = "NVIDIA GB10";
  GpuInventory inventory;
  inventory.gpus = {other};
  machine.gpus = as_read(inventory);
  EXPECT_EQ(machine.gpu()->name, "NVIDIA RTX 4000");
  inventory.gpus = {other, gb10};
  machine.gpus = as_read(inventory);
  EXPECT_EQ(machine.gpu()->name, "NVIDIA GB10");
}

TEST(LiveMachine, HoldsWhatMustHoldOnAnyLinux) {
  SPARKOPS_NEEDS_THIS_KERNEL();
  const Machine machine = read_machine(Root::live());
  EXPECT_TRUE(machine.is_live);
  EXPECT_LE(*machine.taken, Timestamp::now());
  ASSERT_TRUE(machine.identity.known()) << machine.identity.reason();
  EXPECT_TRUE(machine.identity->architecture.known());
  ASSERT_TRUE(machine.memory.known()) << machine.memory.reason();
  EXPECT_GT(machine.memory->info.total->value, 0);
  ASSERT_TRUE(machine.processes.known()) << machine.processes.reason();
  EXPECT_GT(*machine.processes->process_count, 0);
}

}  // namespace
}  // namespace sparkops::facts
