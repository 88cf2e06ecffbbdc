#include "facts/machine/nvml_interpretation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "facts/machine/nvml_calls.h"
#include "facts/machine/plausible.h"

namespace sparkops::facts {
namespace {

constexpr double k_milliwatts_per_watt = 1000;
/// nvmlPstates_t: 32 stands for "unknown".
constexpr int k_highest_performance_state = 15;

/// The answer to a question that may have been asked in several forms, or why there is none.
struct Picked {
  const NvmlAnswer* answer = nullptr;  ///< only with code 0
  std::string reason;
  std::string failed_call;  ///< the form whose failure `reason` tells; empty when none was asked
  const NvmlAnswer* failed = nullptr;
};

/// Why a call is not among the answers of a page: an earlier one hung or failed.
std::string absence_reason(const NvmlAnswers& answers) {
  if (const auto hung = nvml_hung_call(answers)) return *hung;
  for (const auto& calls : {k_init_calls, k_handle_calls}) {
    for (const char* const call : calls) {
      const auto found = answers.find(call);
      if (found != answers.end() && found->second.code != nvml_code::k_success) {
        return fmt::format("{}: {}", call, nvml_reason(call, found->second));
      }
    }
  }
  return "NVML was not asked, or not before the deadline";
}

template <class Calls>
Picked pick(const NvmlAnswers& answers, const Calls& calls) {
  Picked picked;
  for (const std::string_view call : calls) {
    const auto found = answers.find(std::string(call));
    if (found == answers.end()) continue;
    const NvmlAnswer& answer = found->second;
    if (answer.kind == NvmlAnswer::Kind::returned && answer.code == nvml_code::k_success) return {&answer, {}, {}, {}};
    // What a form that exists answered says more than the absence of another.
    if (picked.failed != nullptr && answer.kind == NvmlAnswer::Kind::no_symbol) continue;
    picked.failed_call = call;
    picked.failed = &answer;
  }
  picked.reason = picked.failed == nullptr ? absence_reason(answers) : nvml_reason(picked.failed_call, *picked.failed);
  return picked;
}

Picked pick(const NvmlAnswers& answers, const char* call) {
  return pick(answers, std::array{call});
}
Picked pick(const NvmlAnswers& answers, const std::string& call) {
  return pick(answers, call.c_str());
}

Unknown not_what_it_should_be(std::string_view what) {
  return unknown(fmt::format("NVML's answer is not {}", what));
}

std::optional<double> as_real(const NvmlNumber& number) {
  const double value = std::visit([](auto stored) { return static_cast<double>(stored); }, number);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> as_unsigned(const NvmlNumber& number) {
  if (const auto* const value = std::get_if<std::uint64_t>(&number)) return *value;
  if (const auto* const value = std::get_if<std::int64_t>(&number); value != nullptr && *value >= 0) {
    return static_cast<std::uint64_t>(*value);
  }
  return std::nullopt;
}

std::optional<std::int64_t> as_signed(const NvmlNumber& number) {
  if (const auto* const value = std::get_if<std::int64_t>(&number)) return *value;
  const std::optional<std::uint64_t> value = as_unsigned(number);
  if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

Known<NvmlNumber> number_of(const Picked& picked) {
  if (picked.answer == nullptr) return unknown(picked.reason);
  const auto* const number = std::get_if<NvmlNumber>(&picked.answer->value);
  if (number == nullptr) return not_what_it_should_be("a number");
  return as_read(*number);
}

Known<double> real_of(const Picked& picked) {
  const Known<NvmlNumber> number = number_of(picked);
  if (!number) return number.as_unknown();
  const std::optional<double> value = as_real(*number);
  if (!value) return not_what_it_should_be("a finite number");
  return as_read(*value);
}

Known<std::int64_t> count_of(const Picked& picked) {
  const Known<NvmlNumber> number = number_of(picked);
  if (!number) return number.as_unknown();
  const std::optional<std::int64_t> value = as_signed(*number);
  if (!value) return not_what_it_should_be("a whole number that fits");
  return as_read(*value);
}

template <class Quantity>
Known<Quantity> plausible(double value) {
  if (value < Plausible<Quantity>::k_lowest || value > Plausible<Quantity>::k_highest)
    return not_what_it_should_be("a possible value");
  return as_read(Quantity{value});
}

template <class Quantity>
Known<Quantity> quantity_of(const Picked& picked) {
  const Known<double> value = real_of(picked);
  if (!value) return value.as_unknown();
  return plausible<Quantity>(*value);
}

Known<Watts> watts_of(const Picked& picked) {
  const Known<double> milliwatts = real_of(picked);
  if (!milliwatts) return milliwatts.as_unknown();
  return plausible<Watts>(*milliwatts / k_milliwatts_per_watt);
}

Known<std::string> text_of(const Picked& picked) {
  if (picked.answer == nullptr) return unknown(picked.reason);
  const auto* const text = std::get_if<std::string>(&picked.answer->value);
  if (text == nullptr || text->empty()) return not_what_it_should_be("a text");
  return as_read(*text);
}

Known<NvmlNumber> member_of(const Picked& picked, const char* name) {
  if (picked.answer == nullptr) return unknown(picked.reason);
  const auto* const members = std::get_if<NvmlMembers>(&picked.answer->value);
  if (members == nullptr) return not_what_it_should_be("a set of values");
  const auto found = members->find(name);
  if (found == members->end()) return unknown(fmt::format("NVML's answer has no {}", name));
  const auto* const number = std::get_if<NvmlNumber>(&found->second);
  if (number == nullptr) return not_what_it_should_be("a number");
  return as_read(*number);
}

Known<int> small_number(const Known<NvmlNumber>& number) {
  if (!number) return number.as_unknown();
  const std::optional<std::int64_t> value = as_signed(*number);
  if (!value || *value < 0 || *value > std::numeric_limits<int>::max()) return not_what_it_should_be("a small number");
  return as_read(static_cast<int>(*value));
}

Known<NvmlMemory> memory_of(const NvmlAnswers& answers) {
  const Picked picked = pick(answers, k_memory_calls);
  NvmlMemory memory = {};
  for (const auto& [name, target] :
       {std::pair{"total", &memory.total}, {"free", &memory.free}, {"used", &memory.used}}) {
    const Known<NvmlNumber> number = member_of(picked, name);
    if (!number) return number.as_unknown();
    const std::optional<std::int64_t> bytes = as_signed(*number);
    if (!bytes || *bytes < 0) return not_what_it_should_be("a number of bytes");
    target->value = *bytes;
  }
  if (memory.total.value == 0) return unknown("NVML answers a total of 0 bytes");
  return as_read(memory);
}

Known<std::string> pci_bus_id_of(const NvmlAnswers& answers) {
  const Picked picked = pick(answers, k_pci_calls);
  if (picked.answer == nullptr) return unknown(picked.reason);
  const auto* const members = std::get_if<NvmlMembers>(&picked.answer->value);
  if (members == nullptr || !members->contains("bus_id")) return not_what_it_should_be("a PCI address");
  const auto* const text = std::get_if<std::string>(&members->at("bus_id"));
  if (text == nullptr || text->empty()) return not_what_it_should_be("a PCI address");
  return as_read(*text);
}

/// NVML composes the id as device << 16 | vendor.
Known<std::string> pci_id_of(const NvmlAnswers& answers) {
  const Known<NvmlNumber> number = member_of(pick(answers, k_pci_calls), "pci_device_id");
  if (!number) return number.as_unknown();
  const std::optional<std::uint64_t> id = as_unsigned(*number);
  if (!id || *id > std::numeric_limits<std::uint32_t>::max()) return not_what_it_should_be("a PCI id");
  return as_read(fmt::format("{:04x}:{:04x}", *id & 0xFFFF, *id >> 16));
}

Known<std::string> addressing_mode_of(const NvmlAnswers& answers) {
  constexpr std::array k_modes = {"None", "HMM", "ATS"};  // nvmlDeviceAddressingModeType_t
  const Known<int> mode = small_number(number_of(pick(answers, "nvmlDeviceGetAddressingMode")));
  if (!mode) return mode.as_unknown();
  if (static_cast<std::size_t>(*mode) >= k_modes.size()) return unknown(fmt::format("NVML: addressing mode {}", *mode));
  return as_read(std::string(k_modes[static_cast<std::size_t>(*mode)]));
}

Known<bool> persistence_of(const NvmlAnswers& answers) {
  const Known<int> mode = small_number(number_of(pick(answers, "nvmlDeviceGetPersistenceMode")));
  if (!mode) return mode.as_unknown();
  return as_read(*mode != 0);
}

Known<Percent> utilization_of(const NvmlAnswers& answers) {
  constexpr double k_full = 100;
  const Known<NvmlNumber> number = member_of(pick(answers, "nvmlDeviceGetUtilizationRates"), "gpu");
  if (!number) return number.as_unknown();
  const std::optional<double> percent = as_real(*number);
  if (!percent || *percent < 0 || *percent > k_full) return not_what_it_should_be("a percentage");
  return as_read(Percent{*percent});
}

Known<int> performance_state_of(const NvmlAnswers& answers) {
  const Known<int> state = small_number(number_of(pick(answers, "nvmlDeviceGetPerformanceState")));
  if (state && *state > k_highest_performance_state) return unknown("NVML does not know the performance state");
  return state;
}

Known<std::uint64_t> event_reasons_of(const NvmlAnswers& answers) {
  const Known<NvmlNumber> number = number_of(pick(answers, k_event_reason_calls));
  if (!number) return number.as_unknown();
  const std::optional<std::uint64_t> mask = as_unsigned(*number);
  if (!mask) return not_what_it_should_be("a mask");
  return as_read(*mask);
}

Picked pick_field(const NvmlAnswers& answers, std::uint32_t field) {
  return pick(answers, nvml_call("nvmlDeviceGetFieldValues", field));
}

ClocksEventCounters counters_of(const NvmlAnswers& answers, std::string_view driver_version) {
  ClocksEventCounters counters;
  counters.sw_power_cap_ns = count_of(pick_field(answers, nvml_field::k_sw_power_cap));
  counters.sync_boost_ns = count_of(pick_field(answers, nvml_field::k_sync_boost));
  const std::optional<SlowdownCounterFields> fields = slowdown_counter_fields(driver_version);
  if (!fields) {
    const Unknown none = unknown(driver_version.empty() ? "the driver version is unknown, and with it where it counts"
                                                        : fmt::format("driver {} has no such counter", driver_version));
    counters.sw_thermal_slowdown_ns = counters.hw_thermal_slowdown_ns = counters.hw_power_brake_ns = none;
    return counters;
  }
  counters.sw_thermal_slowdown_ns = count_of(pick_field(answers, fields->sw_thermal));
  counters.hw_thermal_slowdown_ns = count_of(pick_field(answers, fields->hw_thermal));
  counters.hw_power_brake_ns = count_of(pick_field(answers, fields->hw_power_brake));
  return counters;
}

Known<Bytes> used_memory_of(std::uint64_t bytes) {
  if (bytes == k_nvml_not_available) return unknown("NVML: not available for this process");
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return not_what_it_should_be("a number of bytes");
  }
  return as_read(Bytes{static_cast<std::int64_t>(bytes)});
}

/// A process in both lists is listed once, with the larger of the two figures (they are the same allocation).
void merge_processes(std::map<std::uint32_t, GpuProcess>& merged, const std::vector<NvmlProcessEntry>& list,
                     GpuProcess::Kind kind) {
  for (const NvmlProcessEntry& entry : list) {
    const Known<Bytes> used = used_memory_of(entry.used_bytes);
    const auto [place, is_new] = merged.try_emplace(entry.pid, GpuProcess{entry.pid, kind, used});
    if (is_new) continue;
    GpuProcess& process = place->second;
    if (process.kind != kind) process.kind = GpuProcess::Kind::both;
    if (used && (!process.used_memory || *process.used_memory < *used)) process.used_memory = used;
  }
}

Known<std::vector<GpuProcess>> processes_of(const NvmlAnswers& answers) {
  const Picked compute = pick(answers, k_compute_process_calls);
  const Picked graphics = pick(answers, k_graphics_process_calls);
  std::map<std::uint32_t, GpuProcess> merged;
  if (compute.answer == nullptr) return unknown(compute.reason);
  const auto* const compute_list = std::get_if<std::vector<NvmlProcessEntry>>(&compute.answer->value);
  if (compute_list == nullptr) return not_what_it_should_be("a list of processes");
  merge_processes(merged, *compute_list, GpuProcess::Kind::compute);
  if (graphics.answer != nullptr) {
    const auto* const graphics_list = std::get_if<std::vector<NvmlProcessEntry>>(&graphics.answer->value);
    if (graphics_list == nullptr) return not_what_it_should_be("a list of processes");
    merge_processes(merged, *graphics_list, GpuProcess::Kind::graphics);
  }
  std::vector<GpuProcess> processes;
  for (auto& [pid, process] : merged) processes.push_back(std::move(process));
  return as_read(std::move(processes));
}

Known<Celsius> threshold_of(const NvmlAnswers& answers, std::uint32_t threshold) {
  return quantity_of<Celsius>(pick(answers, nvml_call("nvmlDeviceGetTemperatureThreshold", threshold)));
}

Gpu interpret_device(const NvmlDeviceRecord& device, std::string_view driver_version) {
  const NvmlAnswers& answers = device.identity;
  Gpu gpu;
  gpu.name = text_of(pick(answers, "nvmlDeviceGetName")).value_or("GPU without a name");
  gpu.uuid = text_of(pick(answers, "nvmlDeviceGetUUID"));
  gpu.vbios = text_of(pick(answers, "nvmlDeviceGetVbiosVersion"));
  gpu.pci_bus_id = pci_bus_id_of(answers);
  gpu.pci_id = pci_id_of(answers);
  const Picked capability = pick(answers, "nvmlDeviceGetCudaComputeCapability");
  gpu.compute_capability_major = small_number(member_of(capability, "major"));
  gpu.compute_capability_minor = small_number(member_of(capability, "minor"));
  gpu.memory = memory_of(answers);
  gpu.max_sm_clock = quantity_of<Megahertz>(pick(answers, nvml_call("nvmlDeviceGetMaxClockInfo", k_clock_sm)));
  gpu.applications_clock =
      quantity_of<Megahertz>(pick(answers, nvml_call("nvmlDeviceGetApplicationsClock", k_clock_graphics)));
  gpu.slowdown_temperature = threshold_of(answers, k_threshold_slowdown);
  gpu.shutdown_temperature = threshold_of(answers, k_threshold_shutdown);
  gpu.persistence_mode = persistence_of(answers);
  gpu.addressing_mode = addressing_mode_of(answers);
  for (const NvmlSampleRecord& sample : device.samples) {
    gpu.samples.push_back(interpret_nvml_sample(sample, driver_version));
  }
  if (gpu.samples.empty()) {
    // A GPU has at least one sample: without any, one whose values are unknown for the reason its identity gives.
    gpu.samples.push_back(interpret_nvml_sample({0, 0, answers}, driver_version));
  }
  return gpu;
}

}  // namespace

std::string explain_nvml_start(std::string_view call, const NvmlAnswer& answer) {
  const std::string reason = nvml_reason(call, answer);
  if (answer.kind != NvmlAnswer::Kind::returned) return reason;
  switch (answer.code) {
    case nvml_code::k_driver_not_loaded:
      return reason +
             ": the kernel module nvidia is not loaded; `sudo modprobe nvidia`, or reboot after a kernel or "
             "driver update";
    case nvml_code::k_version_mismatch:
      return reason + ": the driver was updated under the running kernel module; reboot";
    case nvml_code::k_operating_system:
      return reason + ": the device is blocked for this process by a cgroup or by permissions on the nvidia devices";
    case nvml_code::k_unknown:
      return reason +
             ": inside a container this is the device cgroup lost after a `systemctl daemon-reload`: restart "
             "the container (for good: run it with --device for each nvidia device, or the cgroupfs driver); "
             "outside, look at the kernel log";
    default: return reason;
  }
}

GpuSample interpret_nvml_sample(const NvmlSampleRecord& record, std::string_view driver_version) {
  const NvmlAnswers& answers = record.answers;
  GpuSample sample;
  sample.taken = Timestamp{record.at_ms};
  sample.monotonic_s = record.monotonic_s;
  sample.temperature = quantity_of<Celsius>(pick(answers, k_temperature_calls));
  sample.temperature_margin = quantity_of<Celsius>(pick(answers, "nvmlDeviceGetMarginTemperature"));
  sample.power = watts_of(pick(answers, "nvmlDeviceGetPowerUsage"));
  sample.power_instant = watts_of(pick_field(answers, nvml_field::k_power_instant));
  sample.energy_mj = count_of(pick(answers, "nvmlDeviceGetTotalEnergyConsumption"));
  const auto clock = [&](std::uint32_t type) {
    return quantity_of<Megahertz>(pick(answers, nvml_call("nvmlDeviceGetClockInfo", type)));
  };
  sample.sm_clock = clock(k_clock_sm);
  sample.graphics_clock = clock(k_clock_graphics);
  sample.memory_clock = clock(k_clock_memory);
  sample.utilization = utilization_of(answers);
  sample.performance_state = performance_state_of(answers);
  sample.event_reasons = event_reasons_of(answers);
  sample.counters = counters_of(answers, driver_version);
  sample.processes = processes_of(answers);
  return sample;
}

Known<GpuInventory> interpret_nvml(const NvmlRecording& recording) {
  const auto failed = [&](const auto& calls) -> std::optional<std::string> {
    const Picked picked = pick(recording.system, calls);
    if (picked.answer != nullptr) return std::nullopt;
    return picked.failed == nullptr ? picked.reason : explain_nvml_start(picked.failed_call, *picked.failed);
  };
  if (const auto reason = failed(k_init_calls)) return unknown(*reason);
  if (const auto reason = failed(k_count_calls)) return unknown(*reason);
  GpuInventory inventory;
  inventory.driver_version = text_of(pick(recording.system, "nvmlSystemGetDriverVersion"));
  inventory.nvml_version = text_of(pick(recording.system, "nvmlSystemGetNVMLVersion"));
  inventory.cuda_version = small_number(number_of(pick(recording.system, k_cuda_version_calls)));
  const std::string driver_version = inventory.driver_version.value_or({});
  for (const NvmlDeviceRecord& device : recording.devices) {
    inventory.gpus.push_back(interpret_device(device, driver_version));
  }
  return as_read(std::move(inventory));
}

}  // namespace sparkops::facts
