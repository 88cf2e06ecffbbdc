#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/root.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// Bits of the clocks event reasons mask (NVML, unchanged 535 to 610).
enum class ClocksEventReason : std::uint64_t {
  gpu_idle = 0x1,
  applications_clocks_setting = 0x2,
  sw_power_cap = 0x4,
  hw_slowdown = 0x8,  ///< umbrella of the two hw_* below; has no counter
  sync_boost = 0x10,
  sw_thermal_slowdown = 0x20,
  hw_thermal_slowdown = 0x40,
  hw_power_brake_slowdown = 0x80,
  display_clock_setting = 0x100,
};

/// Cumulative time in each limiting state since the driver was loaded, nanoseconds. A counter above zero is no fault:
/// only its growth between two readings says anything (gb10-facts §1.3).
struct ClocksEventCounters {
  Known<std::int64_t> sw_power_cap_ns, sync_boost_ns, sw_thermal_slowdown_ns, hw_thermal_slowdown_ns, hw_power_brake_ns;
};

/// One process in NVML's list.
struct GpuProcess {
  enum class Kind { compute, graphics, both };
  std::int64_t pid = 0;
  Kind kind = Kind::compute;
  Known<Bytes> used_memory;  ///< unknown where NVML answers "not available" (all ones)
};

/// What changes from one moment to the next.
struct GpuSample {
  Timestamp taken;
  double monotonic_s = 0;  ///< for differences between samples
  Known<Celsius> temperature;
  Known<Celsius> temperature_margin;  ///< °C left before the nearest slowdown, signed
  Known<Watts> power;                 ///< GPU rail only, 1 s average
  Known<Watts> power_instant;
  Known<std::int64_t> energy_mj;  ///< since driver load
  Known<Megahertz> sm_clock, graphics_clock, memory_clock;
  Known<Percent> utilization;    ///< time with a kernel on the GPU; memory utilisation is constant 0 here and not kept
  Known<int> performance_state;  ///< 0 … 15
  Known<std::uint64_t> event_reasons;  ///< instantaneous mask: weak evidence
  ClocksEventCounters counters;
  Known<std::vector<GpuProcess>> processes;  ///< known and empty inside containers
};

/// NVML's memory answer, kept apart from every budget: on GB10 it is NOT_SUPPORTED, elsewhere a plain figure.
struct NvmlMemory {
  Bytes total, free, used;
};

/// One GPU as NVML tells it.
struct Gpu {
  std::string name;                            ///< "NVIDIA GB10"
  Known<std::string> uuid, pci_bus_id, vbios;  ///< pci_bus_id as NVML writes it: "0000000F:01:00.0"
  Known<std::string> pci_id;                   ///< "10de:2e12"
  Known<int> compute_capability_major, compute_capability_minor;
  Known<NvmlMemory> memory;
  Known<Megahertz> max_sm_clock, applications_clock;
  Known<Celsius> slowdown_temperature, shutdown_temperature;
  Known<bool> persistence_mode;
  Known<std::string> addressing_mode;  ///< None, HMM, ATS
  std::vector<GpuSample> samples;      ///< oldest first; at least one
  [[nodiscard]] const GpuSample& latest() const { return samples.back(); }
};

/// All GPUs of the machine and the library that told about them.
struct GpuInventory {
  Known<std::string> driver_version;  ///< nvmlSystemGetDriverVersion
  Known<std::string> nvml_version;
  Known<int> cuda_version;  ///< 1000·major + 10·minor, e.g. 13000
  std::vector<Gpu> gpus;
};

struct GpuReadOptions {
  std::chrono::milliseconds deadline{
      2000};  ///< a call that has not returned by then ages the reading; its thread is left behind
  /// When some GPU is at least 30 % utilised, four more samples are taken, evenly over this time. Zero: never.
  std::chrono::milliseconds settle{1000};
};

/// Reads NVML through dlopen("libnvidia-ml.so.1") on a live root, or sparkops/nvml.json of a capture. Unknown (with the
/// reason) when there is no library, no driver, or the first call did not return in time.
[[nodiscard]] Known<GpuInventory> read_gpus(const Root& root, const GpuReadOptions& options = {});

}  // namespace sparkops::facts
