#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sparkops::facts {

/// Symbols that answer the same question, best first; drivers lack the newer ones.
inline constexpr std::array k_init_calls = {"nvmlInit_v2", "nvmlInit"};
inline constexpr std::array k_cuda_version_calls = {"nvmlSystemGetCudaDriverVersion_v2",
                                                    "nvmlSystemGetCudaDriverVersion"};
inline constexpr std::array k_count_calls = {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"};
inline constexpr std::array k_handle_calls = {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"};
inline constexpr std::array k_pci_calls = {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2",
                                           "nvmlDeviceGetPciInfo"};
inline constexpr std::array k_memory_calls = {"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo"};
inline constexpr std::array k_event_reason_calls = {"nvmlDeviceGetCurrentClocksEventReasons",
                                                    "nvmlDeviceGetCurrentClocksThrottleReasons"};
inline constexpr std::array k_compute_process_calls = {"nvmlDeviceGetComputeRunningProcesses_v3",
                                                       "nvmlDeviceGetComputeRunningProcesses_v2",
                                                       "nvmlDeviceGetComputeRunningProcesses"};
inline constexpr std::array k_graphics_process_calls = {"nvmlDeviceGetGraphicsRunningProcesses_v3",
                                                        "nvmlDeviceGetGraphicsRunningProcesses_v2",
                                                        "nvmlDeviceGetGraphicsRunningProcesses"};
/// The plain call takes the sensor: its key is "nvmlDeviceGetTemperature(0)".
inline constexpr std::array k_temperature_calls = {"nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature(0)"};

/// nvmlClockType_t.
inline constexpr std::uint32_t k_clock_graphics = 0;
inline constexpr std::uint32_t k_clock_sm = 1;
inline constexpr std::uint32_t k_clock_memory = 2;
inline constexpr std::uint32_t k_clock_video = 3;

/// nvmlTemperatureThresholds_t.
inline constexpr std::uint32_t k_threshold_shutdown = 0;
inline constexpr std::uint32_t k_threshold_slowdown = 1;

/// Field ids (NVML_FI_…) whose number never changed.
namespace nvml_field {
inline constexpr std::uint32_t k_sw_power_cap = 74;  ///< ns
inline constexpr std::uint32_t k_sync_boost = 76;    ///< ns
inline constexpr std::uint32_t k_memory_temperature = 82;
inline constexpr std::uint32_t k_power_average = 185;                     ///< mW, scope 0: the GPU rail
inline constexpr std::uint32_t k_power_instant = 186;                     ///< mW
inline constexpr std::uint32_t k_power_limits[] = {187, 188, 189, 190};   ///< min, max, default, current; mW
inline constexpr std::uint32_t k_limit_margins[] = {193, 194, 195, 196};  ///< shutdown, slowdown, memory max, GPU max
inline constexpr std::uint32_t k_recovery_action = 230;
}  // namespace nvml_field

/// Where a driver keeps the counters of software thermal, hardware thermal and power brake slowdown, ns. Drivers
/// 575.51 to 580.76 have them at 251–253; 580.82.07 and later (every GB10 driver) at 269–271, where 251–253 mean
/// power smoothing; older ones have none.
struct SlowdownCounterFields {
  std::uint32_t sw_thermal, hw_thermal, hw_power_brake;
  friend bool operator==(const SlowdownCounterFields&, const SlowdownCounterFields&) = default;
};

/// None for drivers without them. Chosen by driver version ("580.159.03"), never by NVML's API version.
[[nodiscard]] std::optional<SlowdownCounterFields> slowdown_counter_fields(std::string_view driver_version);

}  // namespace sparkops::facts
