#include "facts/machine/nvml_questions.h"

#include <iterator>
#include <string_view>

namespace sparkops::facts {
namespace {

using Device = NvmlLibrary::Device;

/// Calls (device, u32*) that answer something which does not change while a machine runs.
constexpr std::array k_identity_numbers = {"nvmlDeviceGetMinorNumber",
                                           "nvmlDeviceGetArchitecture",
                                           "nvmlDeviceGetBrand",
                                           "nvmlDeviceGetBusType",
                                           "nvmlDeviceGetNumGpuCores",
                                           "nvmlDeviceGetMemoryBusWidth",
                                           "nvmlDeviceGetPersistenceMode",
                                           "nvmlDeviceGetComputeMode",
                                           "nvmlDeviceGetPowerSource",
                                           "nvmlDeviceGetNumaNodeId",
                                           "nvmlDeviceGetPowerManagementLimit",
                                           "nvmlDeviceGetEnforcedPowerLimit",
                                           "nvmlDeviceGetMaxPcieLinkGeneration",
                                           "nvmlDeviceGetPowerManagementDefaultLimit"};

/// Whether the older form of a call may know what this one does not: the symbol or the struct version is missing,
/// or the quantity is not supported in this form.
bool older_form_may_answer(const NvmlAnswer& answer) {
  constexpr int k_function_not_found = 13;
  constexpr int k_argument_version_mismatch = 25;
  constexpr int k_deprecated = 26;
  return answer.kind == NvmlAnswer::Kind::no_symbol || answer.code == nvml_code::k_not_supported ||
         answer.code == k_function_not_found || answer.code == k_argument_version_mismatch ||
         answer.code == k_deprecated;
}

/// By text: the same literal may lie at different addresses in different source files, and the wrong struct for a call
/// is a write beyond its end.
bool is(std::string_view call, std::string_view other) {
  return call == other;
}

bool succeeded(const NvmlAnswer& answer) {
  return answer.kind == NvmlAnswer::Kind::returned && answer.code == nvml_code::k_success;
}

/// Asks each form until one settles the matter; the last answer.
template <class Calls, class Question>
NvmlAnswer ask_first_of(NvmlNotebook& notebook, NvmlAnswers& page, const Calls& calls, Question question) {
  NvmlAnswer answer;
  for (const char* const call : calls) {
    answer = notebook.ask(page, call, [&] { return question(call); });
    if (!older_form_may_answer(answer)) break;
  }
  return answer;
}

}  // namespace

bool NvmlQuestions::initialise(NvmlAnswers& page) const {
  return succeeded(ask_first_of(notebook_, page, k_init_calls, [&](const char* call) { return library_.plain(call); }));
}

void NvmlQuestions::shut_down() const {
  NvmlAnswers unused;
  notebook_.ask(unused, "nvmlShutdown", [&] { return library_.plain("nvmlShutdown"); });
}

void NvmlQuestions::ask_versions(NvmlAnswers& page) const {
  for (const char* const call : {"nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion"}) {
    notebook_.ask(page, call, [&] { return library_.system_text(call); });
  }
  // The _v2 call asks the libcuda that the loader finds and may not find one: the plain call falls back.
  for (const char* const call : k_cuda_version_calls) {
    const NvmlAnswer answer = notebook_.ask(page, call, [&] { return library_.system_integer(call); });
    if (succeeded(answer)) break;
  }
}

std::optional<std::uint32_t> NvmlQuestions::count_devices(NvmlAnswers& page) const {
  const NvmlAnswer answer =
      ask_first_of(notebook_, page, k_count_calls, [&](const char* call) { return library_.count(call); });
  if (!succeeded(answer)) return std::nullopt;
  return static_cast<std::uint32_t>(std::get<std::uint64_t>(std::get<NvmlNumber>(answer.value)));
}

Device NvmlQuestions::find_device(std::uint32_t index, NvmlAnswers& page) const {
  Device device = nullptr;
  const NvmlAnswer answer = ask_first_of(notebook_, page, k_handle_calls,
                                         [&](const char* call) { return library_.handle(call, index, device); });
  return succeeded(answer) ? device : nullptr;
}

void NvmlQuestions::ask_identity(Device device, NvmlAnswers& page) const {
  for (const char* const call : {"nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetVbiosVersion"}) {
    notebook_.ask(page, call, [&] { return library_.text(call, device); });
  }
  ask_first_of(notebook_, page, k_pci_calls, [&](const char* call) {
    return is(call, k_pci_calls.front()) ? library_.pci(call, device) : library_.pci_old(call, device);
  });
  notebook_.ask(page, "nvmlDeviceGetCudaComputeCapability",
                [&] { return library_.capability("nvmlDeviceGetCudaComputeCapability", device); });
  ask_first_of(notebook_, page, k_memory_calls, [&](const char* call) {
    return is(call, k_memory_calls.front()) ? library_.memory_v2(call, device) : library_.memory(call, device);
  });
  notebook_.ask(page, "nvmlDeviceGetAddressingMode",
                [&] { return library_.addressing_mode("nvmlDeviceGetAddressingMode", device); });
  notebook_.ask(page, "nvmlDeviceGetC2cModeInfoV",
                [&] { return library_.c2c_mode("nvmlDeviceGetC2cModeInfoV", device); });
  notebook_.ask(page, "nvmlDeviceGetMigMode", [&] { return library_.pair("nvmlDeviceGetMigMode", device); });
  notebook_.ask(page, "nvmlDeviceGetSupportedClocksEventReasons",
                [&] { return library_.wide_number("nvmlDeviceGetSupportedClocksEventReasons", device); });
  ask_numbers(device, page);
  std::vector<std::uint32_t> fields(std::begin(nvml_field::k_power_limits), std::end(nvml_field::k_power_limits));
  fields.insert(fields.end(), std::begin(nvml_field::k_limit_margins), std::end(nvml_field::k_limit_margins));
  fields.push_back(nvml_field::k_recovery_action);
  ask_fields(device, fields, page);
}

void NvmlQuestions::ask_numbers(Device device, NvmlAnswers& page) const {
  for (const char* const call : k_identity_numbers) {
    notebook_.ask(page, call, [&] { return library_.number(call, device); });
  }
  const auto ask_with = [&](const char* symbol, std::uint32_t argument) {
    notebook_.ask(page, nvml_call(symbol, argument), [&] { return library_.number(symbol, device, argument); });
  };
  for (const std::uint32_t clock : {k_clock_graphics, k_clock_sm, k_clock_memory}) {
    ask_with("nvmlDeviceGetMaxClockInfo", clock);
  }
  ask_with("nvmlDeviceGetApplicationsClock", k_clock_graphics);
  ask_with("nvmlDeviceGetDefaultApplicationsClock", k_clock_graphics);
  ask_with("nvmlDeviceGetTemperatureThreshold", k_threshold_shutdown);
  ask_with("nvmlDeviceGetTemperatureThreshold", k_threshold_slowdown);
}

void NvmlQuestions::ask_sample(Device device, const std::optional<SlowdownCounterFields>& counters,
                               NvmlAnswers& page) const {
  const auto number = [&](const char* call) {
    notebook_.ask(page, call, [&] { return library_.number(call, device); });
  };
  const NvmlAnswer temperature =
      notebook_.ask(page, k_temperature_calls[0], [&] { return library_.temperature(k_temperature_calls[0], device); });
  if (older_form_may_answer(temperature)) {
    notebook_.ask(page, k_temperature_calls[1], [&] { return library_.number("nvmlDeviceGetTemperature", device, 0); });
  }
  notebook_.ask(page, "nvmlDeviceGetMarginTemperature",
                [&] { return library_.margin_temperature("nvmlDeviceGetMarginTemperature", device); });
  number("nvmlDeviceGetPowerUsage");
  notebook_.ask(page, "nvmlDeviceGetTotalEnergyConsumption",
                [&] { return library_.wide_number("nvmlDeviceGetTotalEnergyConsumption", device); });
  for (const std::uint32_t clock : {k_clock_graphics, k_clock_sm, k_clock_memory, k_clock_video}) {
    notebook_.ask(page, nvml_call("nvmlDeviceGetClockInfo", clock),
                  [&] { return library_.number("nvmlDeviceGetClockInfo", device, clock); });
  }
  notebook_.ask(page, "nvmlDeviceGetUtilizationRates",
                [&] { return library_.utilization("nvmlDeviceGetUtilizationRates", device); });
  number("nvmlDeviceGetPerformanceState");
  ask_first_of(notebook_, page, k_event_reason_calls,
               [&](const char* call) { return library_.wide_number(call, device); });
  std::vector<std::uint32_t> fields = {nvml_field::k_power_average, nvml_field::k_power_instant,
                                       nvml_field::k_memory_temperature, nvml_field::k_sw_power_cap,
                                       nvml_field::k_sync_boost};
  if (counters) fields.insert(fields.end(), {counters->sw_thermal, counters->hw_thermal, counters->hw_power_brake});
  ask_fields(device, fields, page);
  ask_processes(device, page);
}

void NvmlQuestions::ask_fields(Device device, const std::vector<std::uint32_t>& ids, NvmlAnswers& page) const {
  std::vector<std::string> calls;
  for (const std::uint32_t id : ids) calls.push_back(nvml_call("nvmlDeviceGetFieldValues", id));
  notebook_.ask_many(page, "nvmlDeviceGetFieldValues", calls, [&] { return library_.fields(device, ids); });
}

void NvmlQuestions::ask_processes(Device device, NvmlAnswers& page) const {
  for (const auto& calls : {k_compute_process_calls, k_graphics_process_calls}) {
    ask_first_of(notebook_, page, calls, [&](const char* call) {
      return is(call, calls.back()) ? library_.processes_old(call, device) : library_.processes(call, device);
    });
  }
}

}  // namespace sparkops::facts
