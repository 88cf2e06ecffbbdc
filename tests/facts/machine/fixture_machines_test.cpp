// Each fixture machine reads to the values it was made for (tests/fixtures/make_machines.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "facts/machine/machine.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Root fixture(const std::string& name) {
  return Root::open(std::string(SPARKOPS_FIXTURES "/machines/") + name + ".machine").value();
}

Gpu gpu_of(const std::string& name) {
  const auto gpus = read_gpus(fixture(name));
  EXPECT_TRUE(gpus.known()) << name << ": " << gpus.reason();
  return gpus->gpus.at(0);
}

ProcessTable processes_of(const std::string& name) {
  const Root root = fixture(name);
  const auto gpus = read_gpus(root);
  return read_processes(root,
                        gpus ? gpus->gpus.at(0).latest().processes : Known<std::vector<GpuProcess>>(gpus.as_unknown()));
}

TEST(FixtureMachines, IdentityOfASpark) {
  const Identity identity = read_identity(fixture("spark-idle-healthy"));
  EXPECT_EQ(*identity.architecture, "aarch64");
  EXPECT_EQ(*identity.page_size, 4096);
  EXPECT_EQ(*identity.product_name, "NVIDIA_DGX_Spark");
  EXPECT_EQ(*identity.product_family, "DGX Spark");
  EXPECT_EQ(identity.nvidia_devices->at(0).address, "000f:01:00.0");
  EXPECT_EQ(identity.nvidia_devices->at(0).id, k_gb10_pci_id);
  EXPECT_EQ(*identity.dgx_release, "7.5.0") << "the last OTA version, not the factory's";
  EXPECT_EQ(*identity.fastos_release, "1.91.51");
  EXPECT_EQ(*identity.driver_version, "580.159.03");
  EXPECT_TRUE(*identity.driver_is_open);
  EXPECT_EQ(*identity.last_boot_end, BootEnd::shutdown);
}

TEST(FixtureMachines, PoolsOfEveryKind) {
  const auto gib = [](const std::string& name, auto part) { return in_gib(*(read_memory(fixture(name)).info.*part)); };
  EXPECT_NEAR(gib("spark-idle-healthy", &MemoryInfo::total), 121.68, 0.01);
  EXPECT_GT(gib("spark-idle-healthy", &MemoryInfo::free), 110);
  EXPECT_LT(gib("spark-full-page-cache", &MemoryInfo::free), 22) << "less than 16 GiB of headroom now";
  EXPECT_GT(gib("spark-full-page-cache", &MemoryInfo::available), 110);
  EXPECT_NEAR(gib("spark-fragmented", &MemoryInfo::available), 118, 0.5);
  EXPECT_LT(gib("spark-uncapped-vllm", &MemoryInfo::available), 12);
  EXPECT_NEAR(gib("spark-memory-host-and-cuda", &MemoryInfo::anonymous), 36, 0.1);
  EXPECT_LT(gib("spark-swapping", &MemoryInfo::available), 6);
}

TEST(FixtureMachines, FreeBlocksAddUpToFreeMemory) {
  for (const char* const name : {"spark-idle-healthy", "spark-fragmented", "spark-swapping", "laptop-x86"}) {
    const Memory memory = read_memory(fixture(name));
    const auto free = memory.free_blocks->count_at_least(Bytes{4096}) * 4096;
    EXPECT_NEAR(static_cast<double>(free), static_cast<double>(memory.info.free->value), 1e6) << name;
  }
  constexpr Bytes k_large_block = mebibytes(32);
  EXPECT_GT(read_memory(fixture("spark-idle-healthy")).free_blocks->count_at_least(k_large_block), 1000);
  EXPECT_EQ(read_memory(fixture("spark-fragmented")).free_blocks->count_at_least(k_large_block), 0);
  EXPECT_EQ(read_memory(fixture("spark-fragmented")).free_blocks->largest_order(), 12);
}

TEST(FixtureMachines, PageCacheIsNamedLargestFirst) {
  const Memory memory = read_memory(fixture("spark-full-page-cache"));
  ASSERT_THAT(*memory.cached_files, SizeIs(3));
  EXPECT_THAT(memory.cached_files->front().path, HasSubstr("model-00001-of-00003.safetensors"));
  EXPECT_GT(in_gib(memory.cached_files->front().cached), 34);
  EXPECT_THAT(*read_memory(fixture("spark-idle-healthy")).cached_files, IsEmpty());
}

TEST(FixtureMachines, SwappingShowsInTheDifferenceOfTwoReadings) {
  const Memory memory = read_memory(fixture("spark-swapping"));
  EXPECT_EQ(memory.counters->taken.unix_ms - memory.earlier_counters->taken.unix_ms, 3000);
  EXPECT_EQ(*memory.counters->pages_swapped_out - *memory.earlier_counters->pages_swapped_out, 92'160);
  EXPECT_GT(memory.pressure_memory->full->average_10s, 20);
  EXPECT_GT(in_gib(memory.swap_devices->at(0).used), 8);
  const Memory quiet = read_memory(fixture("spark-idle-healthy"));
  EXPECT_EQ(*quiet.counters->pages_swapped_out - *quiet.earlier_counters->pages_swapped_out, 0);
}

TEST(FixtureMachines, HugePagesAreSetAside) {
  const Memory memory = read_memory(fixture("spark-hugepages"));
  EXPECT_EQ(*memory.info.huge_pages_total, 20'480);
  EXPECT_EQ(*memory.info.huge_pages_free, 15'360);
  EXPECT_EQ(*read_memory(fixture("spark-idle-healthy")).info.huge_pages_total, 0);
}

TEST(FixtureMachines, AnIdleGpuAnswersAsAGb10Does) {
  const Gpu gpu = gpu_of("spark-idle-healthy");
  EXPECT_EQ(gpu.name, "NVIDIA GB10");
  EXPECT_EQ(*gpu.pci_id, k_gb10_pci_id);
  EXPECT_EQ(*gpu.compute_capability_major * 10 + *gpu.compute_capability_minor, 121);
  EXPECT_FALSE(gpu.memory.known()) << "NOT_SUPPORTED";
  EXPECT_THAT(gpu.memory.reason(), HasSubstr("Not Supported"));
  EXPECT_EQ(*gpu.addressing_mode, "ATS");
  EXPECT_THAT(gpu.samples, SizeIs(2));
  EXPECT_EQ(gpu.latest().sm_clock->value, 208);
  EXPECT_FALSE(gpu.latest().memory_clock.known());
  EXPECT_EQ(*gpu.latest().performance_state, 8);
  EXPECT_THAT(*gpu.latest().processes, SizeIs(2)) << "the desktop";
}

TEST(FixtureMachines, AWedgedGpuGivesNoReason) {
  const Gpu gpu = gpu_of("spark-wedged");
  ASSERT_GE(gpu.samples.size(), 5U);
  for (const GpuSample& sample : gpu.samples) {
    EXPECT_EQ(sample.sm_clock->value, 522);
    EXPECT_GE(sample.utilization->value, 90);
    EXPECT_LT(sample.power->value, 40);
    EXPECT_EQ(*sample.event_reasons, 0U);
  }
  EXPECT_EQ(*gpu.samples.front().counters.sw_power_cap_ns, *gpu.latest().counters.sw_power_cap_ns);
}

TEST(FixtureMachines, CountersGrowOnlyWhereTheStoryIsAboutThem) {
  const Gpu hot = gpu_of("spark-thermal-software");
  EXPECT_GT(*hot.latest().counters.sw_thermal_slowdown_ns, *hot.samples.front().counters.sw_thermal_slowdown_ns);
  EXPECT_EQ(*hot.latest().counters.sw_power_cap_ns, *hot.samples.front().counters.sw_power_cap_ns);
  const Gpu limited = gpu_of("spark-power-limited-healthy");
  EXPECT_GT(*limited.latest().counters.sw_power_cap_ns, *limited.samples.front().counters.sw_power_cap_ns);
  EXPECT_EQ(*limited.latest().counters.sw_thermal_slowdown_ns, 0);
  EXPECT_GT(limited.latest().power->value, 85);
}

TEST(FixtureMachines, ADriverThatDoesNotAnswerIsUnknownWithItsReason) {
  EXPECT_THAT(read_gpus(fixture("spark-driver-not-loaded")).reason(), HasSubstr("Driver Not Loaded"));
  EXPECT_THAT(read_gpus(fixture("spark-nvml-hung")).reason(), HasSubstr("has not returned for 2.0 s"));
  EXPECT_THAT(read_gpus(fixture("laptop-x86")).reason(), HasSubstr("libnvidia-ml.so.1"));
  EXPECT_FALSE(read_identity(fixture("spark-driver-not-loaded")).driver_version.known());
  EXPECT_THAT(read_kernel_log(fixture("spark-nvml-hung")).current, SizeIs(1));
}

TEST(FixtureMachines, ServersAndTrainersWithWhatTheyHold) {
  const ProcessTable table = processes_of("spark-capped-vllm-and-trainer");
  const auto process = [&](std::int64_t pid) {
    const auto found = std::find_if(table.processes.begin(), table.processes.end(),
                                    [pid](const Process& candidate) { return candidate.pid == pid; });
    return found == table.processes.end() ? Process{} : *found;
  };
  const Process server = process(21'660), engine = process(21'804), trainer = process(30'118);
  ASSERT_TRUE(server.command_line.known()) << "a server that itself holds nothing";
  EXPECT_THAT(*server.command_line, ::testing::Contains("--gpu-memory-utilization"));
  EXPECT_EQ(engine.parent, server.pid);
  EXPECT_TRUE(engine.on_gpu);
  EXPECT_NEAR(in_gib(*engine.gpu_memory), 47.6, 0.1);
  EXPECT_TRUE(server.container.known()) << server.container.reason();
  EXPECT_LT(trainer.gpu_memory->value, 4'000'000'000);
  EXPECT_EQ(*trainer.owner, 1000U);
  EXPECT_THAT(*table.gpu_pids_without_process, IsEmpty());
}

TEST(FixtureMachines, SevenZonesAndFourNicChips) {
  const Sensors sensors = read_sensors(fixture("spark-idle-healthy"));
  const auto count = [&](std::string_view part) {
    return std::count_if(sensors.temperatures.begin(), sensors.temperatures.end(),
                         [&](const auto& sensor) { return sensor.name.find(part) != std::string::npos; });
  };
  EXPECT_EQ(count(" (acpitz)"), 7);
  EXPECT_EQ(count("mlx5 "), 4);
  EXPECT_EQ(count("mlx5 0002:01:00.1"), 1) << "told apart by their device";
  EXPECT_GT(read_sensors(fixture("spark-power-limited-healthy")).temperatures.front().margin()->value, 5);
}

TEST(FixtureMachines, LinksOfTwoBoxes) {
  const NetworkLinks links = read_network_links(fixture("spark-two-node-mtu"));
  ASSERT_THAT(links.twins, SizeIs(2));
  int unequal = 0;
  for (const auto& [first, second] : links.twins) {
    const NetworkLink& a = links.links[first];
    const NetworkLink& b = links.links[second];
    EXPECT_EQ(*a.up, *b.up);
    if (*a.mtu == *b.mtu) continue;
    ++unequal;
    EXPECT_EQ(a.name, "enp1s0f1np1");
    EXPECT_EQ(*b.mtu, 1500);
    EXPECT_TRUE(*b.has_address);
    EXPECT_EQ(*a.rdma_state, "4: ACTIVE");
  }
  EXPECT_EQ(unequal, 1);
}

TEST(FixtureMachines, InsideAnNgcContainer) {
  const Root root = fixture("spark-ngc-container");
  const Container container = read_container(root);
  ASSERT_TRUE(container.inside.known());
  EXPECT_GE(container.signs.size(), 3U) << "marker file, overlay and environment";
  EXPECT_EQ(*container.ngc_version, "25.11");
  EXPECT_EQ(*container.cuda_version, "13.0.2.006");
  EXPECT_THAT(*gpu_of("spark-ngc-container").latest().processes, IsEmpty());
  EXPECT_FALSE(read_container(fixture("spark-idle-healthy")).inside.known());
}

}  // namespace
}  // namespace sparkops::facts
