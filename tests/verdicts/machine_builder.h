#pragma once

#include "facts/machine/machine.h"
#include "knowledge/tables.h"
#include "verdicts/gotchas/gotcha.h"

namespace sparkops::testing {

/// A healthy, idle Spark with values of our own; tests change what they are about.
inline facts::GpuSample idle_sample() {
  facts::GpuSample sample;
  sample.temperature = as_read(Celsius{41});
  sample.power = as_read(Watts{4.5});
  sample.sm_clock = as_read(Megahertz{208});
  sample.utilization = as_read(Percent{0});
  sample.event_reasons = as_read(std::uint64_t{1});
  sample.counters.sw_power_cap_ns = as_read(std::int64_t{7'000'000'000});
  sample.counters.sw_thermal_slowdown_ns = as_read(std::int64_t{0});
  sample.counters.hw_thermal_slowdown_ns = as_read(std::int64_t{0});
  sample.processes = as_read(std::vector<facts::GpuProcess>{});
  return sample;
}

/// `count` samples one second apart under load.
inline std::vector<facts::GpuSample> busy_samples(std::size_t count, double clock_mhz, double watts,
                                                  double utilization = 96) {
  std::vector<facts::GpuSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    facts::GpuSample sample = idle_sample();
    sample.monotonic_s = static_cast<double>(i);
    sample.temperature = as_read(Celsius{63});
    sample.power = as_read(Watts{watts});
    sample.sm_clock = as_read(Megahertz{clock_mhz});
    sample.utilization = as_read(Percent{utilization});
    sample.event_reasons = as_read(std::uint64_t{0});
    samples.push_back(sample);
  }
  return samples;
}

inline facts::Memory healthy_memory() {
  facts::Memory memory;
  facts::MemoryInfo& info = memory.info;
  info.total = as_read(mebibytes(124'500));
  info.free = as_read(gibibytes(111));
  info.available = as_read(gibibytes(116));
  info.buffers = as_read(mebibytes(200));
  info.cached = as_read(gibibytes(5));
  info.swap_cached = as_read(Bytes{0});
  info.anonymous = as_read(gibibytes(2));
  info.shared = as_read(mebibytes(100));
  info.slab_reclaimable = as_read(mebibytes(900));
  info.slab_unreclaimable = as_read(mebibytes(700));
  info.page_tables = as_read(mebibytes(40));
  info.kernel_stack = as_read(mebibytes(20));
  info.swap_free = as_read(gibibytes(16));
  info.huge_pages_total = as_read(std::int64_t{0});
  info.huge_pages_free = as_read(std::int64_t{0});
  info.huge_page_size = as_read(mebibytes(2));
  facts::FreeBlocks blocks;
  blocks.zones.push_back({0, "Normal", {900, 800, 700, 600, 500, 400, 300, 200, 150, 120, 110, 90, 80, 3400}});
  memory.free_blocks = as_read(blocks);
  memory.cached_files = as_read(std::vector<facts::CachedFile>{});
  return memory;
}

inline facts::Machine healthy_spark() {
  facts::Machine machine;
  machine.root_name = "test";
  facts::Identity identity;
  identity.architecture = as_read(std::string("aarch64"));
  identity.kernel_release = as_read(std::string("6.17.0-1021-nvidia"));
  identity.product_name = as_read(std::string("NVIDIA_DGX_Spark"));
  identity.nvidia_devices = as_read(std::vector<facts::PciDevice>{{"000f:01:00.0", facts::k_gb10_pci_id}});
  identity.last_boot_end = as_read(facts::BootEnd::shutdown);
  machine.identity = as_read(identity);
  facts::Container container;
  container.inside = unknown("no container marker found");
  machine.container = as_read(container);
  machine.memory = as_read(healthy_memory());
  facts::Gpu gpu;
  gpu.name = "NVIDIA GB10";
  gpu.compute_capability_major = as_read(12);
  gpu.compute_capability_minor = as_read(1);
  gpu.samples = {idle_sample()};
  facts::GpuInventory inventory;
  inventory.driver_version = as_read(std::string("580.159.03"));
  inventory.cuda_version = as_read(13000);
  inventory.gpus = {gpu};
  machine.gpus = as_read(inventory);
  facts::ProcessTable processes;
  processes.process_count = as_read(std::int64_t{312});
  machine.processes = as_read(processes);
  machine.sensors = as_read(facts::Sensors{});
  machine.kernel_log = as_read(facts::KernelLog{});
  machine.network_links = as_read(facts::NetworkLinks{});
  return machine;
}

/// A changed copy of a part: `with(machine.memory, [](auto& memory) { … })`.
template <class Part, class Change>
void change(Known<Part>& part, Change function) {
  Part copy = *part;
  function(copy);
  part = Known<Part>(std::move(copy), part.provenance());
}

/// Tables without override directories, shared by the tests of one program.
inline const knowledge::Tables& tables() {
  static const knowledge::Tables tables(std::vector<std::string>{});
  return tables;
}

inline verdicts::PreflightFacts facts_of(const facts::Machine& machine) {
  return verdicts::PreflightFacts{.machine = machine, .knowledge = tables(), .now = Timestamp{1'790'000'000'000}};
}

}  // namespace sparkops::testing
