// The functions that every NVML library exports since 418: the plain names keep their first layout for ever.
#include "answer.h"

using namespace fake_gpu;

namespace {

constexpr const char* k_clocks[] = {"graphics_clock", "sm_clock", "memory_clock", "video_clock"};
constexpr const char* k_max_clocks[] = {"max_graphics_clock", "max_sm_clock", "max_memory_clock", "video_clock"};

constexpr unsigned int k_power_cap_field = 74;
constexpr unsigned int k_sync_boost_field = 76;

/// The scenario's value behind a field id on this driver; null for a field that has none.
const char* field_name(unsigned int field) {
  const auto first_counter = static_cast<unsigned int>(number("first_counter_field").value_or(0));
  if (first_counter != 0 && field >= first_counter && field < first_counter + 3) {
    constexpr const char* k_counters[] = {"sw_thermal_ns", "hw_thermal_ns", "hw_power_brake_ns"};
    return k_counters[field - first_counter];
  }
  switch (field) {
    case k_power_cap_field: return "sw_power_cap_ns";
    case k_sync_boost_field: return "sync_boost_ns";
    case 82: return "memory_temperature";
    case 83: return "energy_mj";
    case 185: return "power_mw";
    case 186: return "power_instant_mw";
    case 187:
    case 188:
    case 189:
    case 190: return "power_limit_mw";
    default: return nullptr;
  }
}

void answer_field(nvmlFieldValue_t& field) {
  constexpr unsigned int k_unsigned_int = 1;
  constexpr unsigned int k_unsigned_long_long = 3;
  constexpr unsigned int k_first_power_smoothing_field = 251;
  constexpr unsigned int k_last_power_smoothing_field = 268;
  field.timestamp = 1;
  field.latencyUsec = 1;
  field.valueType = k_unsigned_int;
  if (field.fieldId > number("highest_field").value_or(0)) {
    field.nvmlReturn = k_invalid_argument;
    return;
  }
  const char* const name = field_name(field.fieldId);
  const auto value = name == nullptr ? std::nullopt : number(name);
  if (!value && field.fieldId >= k_first_power_smoothing_field && field.fieldId <= k_last_power_smoothing_field) {
    // Power smoothing answers with small settings here: whoever takes them for counters is wrong and shall notice.
    field.nvmlReturn = k_success;
    field.value.uiVal = 1;
    return;
  }
  field.nvmlReturn = value ? k_success : k_not_supported;
  if (!value) return;
  field.valueType = k_unsigned_long_long;
  field.value.ullVal = static_cast<unsigned long long>(*value);
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit() {
  FAKE_GPU_ENTER(Needs::nothing, nullptr);
  count_init();
  return k_success;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int) {
  FAKE_GPU_ENTER(Needs::nothing, nullptr);
  count_init();
  return k_success;
}

nvmlReturn_t nvmlShutdown() {
  FAKE_GPU_ENTER(Needs::nothing, nullptr);
  count_shutdown();
  return k_success;
}

const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case 0: return "Success";
    case 1: return "Uninitialized";
    case 2: return "Invalid Argument";
    case 3: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case 6: return "Not Found";
    case 7: return "Insufficient Size";
    case 9: return "Driver Not Loaded";
    case 13: return "Function Not Found";
    case 15: return "GPU is lost";
    case 17: return "GPU access blocked by the operating system";
    case 18: return "Driver/library version mismatch";
    case 25: return "Argument version mismatch";
    default: return "Unknown Error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int size) {
  FAKE_GPU_ENTER(Needs::init, nullptr);
  return give_text_of("driver_version", version, size);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int size) {
  FAKE_GPU_ENTER(Needs::nothing, nullptr);
  const std::string driver = text("driver_version").value_or("");
  const bool api_13 = driver >= "580";
  return give_text((api_13 ? "13." : "12.") + driver, version, size);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  FAKE_GPU_ENTER(Needs::init, nullptr);
  return give_number("cuda_version", version);
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) {
  FAKE_GPU_ENTER(Needs::init, nullptr);
  return give_number("gpus", count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  FAKE_GPU_ENTER(Needs::handle, nullptr);
  if (device == nullptr || index >= number("gpus").value_or(0)) return k_invalid_argument;
  *device = device_handle();
  return k_success;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int size) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_text_of("name", name, size);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int size) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_text_of("uuid", uuid, size);
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* version, unsigned int size) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_text_of("vbios", version, size);
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minor) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (minor == nullptr) return k_invalid_argument;
  *minor = 0;
  return k_success;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t* pci) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (pci == nullptr) return k_invalid_argument;
  *pci = {};
  pci->domain = static_cast<unsigned int>(number("pci_domain").value_or(0));
  pci->bus = static_cast<unsigned int>(number("pci_bus").value_or(0));
  pci->device = static_cast<unsigned int>(number("pci_device").value_or(0));
  pci->pciDeviceId = static_cast<unsigned int>(number("pci_device_id").value_or(0));
  std::snprintf(pci->busId, sizeof(pci->busId), "%04X:%02X:%02X.0", pci->domain & 0xFFFFU, pci->bus & 0xFFU,
                pci->device & 0xFFU);
  return k_success;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t* pci) {
  FAKE_GPU_ENTER(Needs::device, device);
  return nvmlDeviceGetPciInfo_v2(device, pci);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  FAKE_GPU_ENTER(Needs::device, device);
  const nvmlReturn_t code = give_number("capability_major", major);
  return code == k_success ? give_number("capability_minor", minor) : code;
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, unsigned int* brand) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("brand", brand);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, unsigned int* mode) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("persistence", mode);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor, unsigned int* temperature) {
  FAKE_GPU_ENTER(Needs::device, device);
  return sensor == 0 ? give_number("temperature", temperature) : static_cast<nvmlReturn_t>(k_invalid_argument);
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, unsigned int type, unsigned int* temperature) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (type == 0) return give_number("shutdown_temperature", temperature);
  return type == 1 ? give_number("slowdown_temperature", temperature) : static_cast<nvmlReturn_t>(k_not_supported);
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int* percent) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("fan", percent);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("power_mw", milliwatts);
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* millijoules) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("energy_mj", millijoules);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int* milliwatts) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("power_limit_mw", milliwatts);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int* milliwatts) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("power_limit_mw", milliwatts);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int* milliwatts) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("power_limit_mw", milliwatts);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_clock(type, k_clocks, megahertz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_clock(type, k_max_clocks, megahertz);
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  FAKE_GPU_ENTER(Needs::device, device);
  return type == 0 ? give_number("applications_clock", megahertz) : static_cast<nvmlReturn_t>(k_not_supported);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, unsigned int* performance_state) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("performance_state", performance_state);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (rates == nullptr) return k_invalid_argument;
  const nvmlReturn_t code = give_number("utilization", &rates->gpu);
  return code == k_success ? give_number("memory_utilization", &rates->memory) : code;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* mask) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("event_reasons", mask);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (memory == nullptr) return k_invalid_argument;
  const nvmlReturn_t code = give_number("memory_total", &memory->total);
  if (code != k_success) return code;
  memory->free = static_cast<unsigned long long>(number("memory_free").value_or(0));
  memory->used = memory->total - memory->free;
  return k_success;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                  nvmlProcessInfo_v1_t* entries) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_processes(Wanted::compute, count, entries);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                   nvmlProcessInfo_v1_t* entries) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_processes(Wanted::graphics, count, entries);
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (count < 0 || values == nullptr) return k_invalid_argument;
  for (int i = 0; i < count; ++i) answer_field(values[i]);
  return k_success;
}

}  // extern "C"
