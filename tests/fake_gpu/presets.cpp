#include <array>

#include "scenario.h"

namespace fake_gpu {
namespace {

/// An idle GB10: what answers and what does not as published for drivers 580.95 to 595.58.
constexpr std::string_view k_gb10 = R"(
gpus 1
name "NVIDIA GB10"
uuid GPU-3f0c1d52-8a47-4be1-9d6e-5b2f7a60c918
vbios 9A.0B.25.00.00
pci_domain 15
pci_bus 1
pci_device 0
pci_device_id 0x2E1210DE
capability_major 12
capability_minor 1
architecture 10
brand 13
persistence 1
addressing_mode 2
c2c 1
temperature 41
temperature_margin 49
power_mw 4310
power_instant_mw 4380
energy_mj 812345678 per_second 4310
sm_clock 208
graphics_clock 208
video_clock 598
memory_clock unsupported
max_sm_clock 3003
max_graphics_clock 3003
max_memory_clock unsupported
applications_clock 2418
utilization 0
memory_utilization 0
performance_state 8
event_reasons 0x1
sw_power_cap_ns 0
sync_boost_ns 0
sw_thermal_ns 0
hw_thermal_ns 0
hw_power_brake_ns 0
processes_visible 1
)";

/// A discrete workstation board, for the answers that GB10 does not give.
constexpr std::string_view k_discrete = R"(
gpus 1
name "NVIDIA RTX 4000 Ada Generation"
uuid GPU-7d1e90aa-42c3-4f7b-8b7a-0c9e4d5f6a21
vbios 95.04.4B.00.0C
pci_domain 0
pci_bus 1
pci_device 0
pci_device_id 0x27B210DE
capability_major 8
capability_minor 9
architecture 8
brand 13
persistence 0
addressing_mode 1
c2c unsupported
temperature 36
temperature_margin 57
power_mw 11200
power_instant_mw 11800
energy_mj 5512345678 per_second 11200
sm_clock 210
graphics_clock 210
video_clock 1185
memory_clock 405
max_sm_clock 3105
max_graphics_clock 3105
max_memory_clock 9001
applications_clock 2175
utilization 0
memory_utilization 0
performance_state 8
event_reasons 0x1
sw_power_cap_ns 0
sync_boost_ns 0
sw_thermal_ns 0
hw_thermal_ns 0
hw_power_brake_ns 0
memory_total 21474836480
memory_free 20937965568
memory_used 67108864
memory_reserved 469762048
power_limit_mw 130000
fan 30
slowdown_temperature 98
shutdown_temperature 103
processes_visible 1
)";

/// What tells one driver from another through NVML: CUDA version, the first of the three slowdown counters, and the
/// number of the highest field (NVML_FI_MAX − 1 of its header).
struct DriverGeneration {
  std::string_view version;
  int cuda_version;
  int first_counter_field;  ///< 0: no such counters
  int highest_field;
};

constexpr std::array k_generations = {
    DriverGeneration{"550.163.01", 12040, 0, 199},   DriverGeneration{"580.76.05", 13000, 251, 273},
    DriverGeneration{"580.95.05", 13000, 269, 273},  DriverGeneration{"580.126.09", 13000, 269, 288},
    DriverGeneration{"580.142", 13000, 269, 295},    DriverGeneration{"580.159.03", 13000, 269, 302},
    DriverGeneration{"580.173.02", 13000, 269, 302}, DriverGeneration{"580.178.04", 13000, 269, 302},
    DriverGeneration{"590.48.01", 13010, 269, 288},  DriverGeneration{"595.58.03", 13020, 269, 302},
    DriverGeneration{"610.43.03", 13030, 269, 302},
};

}  // namespace

std::string_view profile_lines(std::string_view name) {
  if (name == "gb10") return k_gb10;
  if (name == "discrete") return k_discrete;
  return {};
}

std::string driver_lines(std::string_view version) {
  for (const DriverGeneration& driver : k_generations) {
    if (driver.version != version) continue;
    return "driver_version " + std::string(version) + "\ncuda_version " + std::to_string(driver.cuda_version) +
           "\nfirst_counter_field " + std::to_string(driver.first_counter_field) + "\nhighest_field " +
           std::to_string(driver.highest_field) + "\n";
  }
  return {};
}

}  // namespace fake_gpu
