// What drivers up to 550 have added: the versioned names.
#include "answer.h"

using namespace fake_gpu;

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  FAKE_GPU_ENTER(Needs::nothing, nullptr);
  count_init();
  return k_success;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  FAKE_GPU_ENTER(Needs::init, nullptr);
  return give_number("cuda_version", version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  FAKE_GPU_ENTER(Needs::init, nullptr);
  return give_number("gpus", count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  FAKE_GPU_ENTER(Needs::handle, nullptr);
  if (device == nullptr || index >= number("gpus").value_or(0)) return k_invalid_argument;
  *device = device_handle();
  return k_success;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  FAKE_GPU_ENTER(Needs::handle, nullptr);
  if (uuid == nullptr || device == nullptr) return k_invalid_argument;
  if (text("uuid") != std::string(uuid)) return k_not_found;
  *device = device_handle();
  return k_success;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (pci == nullptr) return k_invalid_argument;
  *pci = {};
  pci->domain = static_cast<unsigned int>(number("pci_domain").value_or(0));
  pci->bus = static_cast<unsigned int>(number("pci_bus").value_or(0));
  pci->device = static_cast<unsigned int>(number("pci_device").value_or(0));
  pci->pciDeviceId = static_cast<unsigned int>(number("pci_device_id").value_or(0));
  std::snprintf(pci->busIdLegacy, sizeof(pci->busIdLegacy), "%04X:%02X:%02X.0", pci->domain & 0xFFFFU, pci->bus & 0xFFU,
                pci->device & 0xFFU);
  std::snprintf(pci->busId, sizeof(pci->busId), "%08X:%02X:%02X.0", pci->domain, pci->bus & 0xFFU, pci->device & 0xFFU);
  return k_success;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned int* architecture) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("architecture", architecture);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* mask) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_number("event_reasons", mask);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (memory == nullptr) return k_invalid_argument;
  if (memory->version != version_word<nvmlMemory_v2_t>(2)) return k_argument_version_mismatch;
  const nvmlReturn_t code = give_number("memory_total", &memory->total);
  if (code != k_success) return code;
  memory->free = static_cast<unsigned long long>(number("memory_free").value_or(0));
  memory->used = static_cast<unsigned long long>(number("memory_used").value_or(0));
  memory->reserved = static_cast<unsigned long long>(number("memory_reserved").value_or(0));
  return k_success;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_v2_t* entries) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_processes(Wanted::compute, count, entries);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_v2_t* entries) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_processes(Wanted::compute, count, entries);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                      nvmlProcessInfo_v2_t* entries) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_processes(Wanted::graphics, count, entries);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                      nvmlProcessInfo_v2_t* entries) {
  FAKE_GPU_ENTER(Needs::device, device);
  return give_processes(Wanted::graphics, count, entries);
}

nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* mode) {
  FAKE_GPU_ENTER(Needs::device, device);
  return mode == nullptr ? static_cast<nvmlReturn_t>(k_invalid_argument) : give_number("c2c", &mode->isC2cEnabled);
}

}  // extern "C"
