#pragma once

#include <cstddef>
#include <cstdint>

/// Our own declarations of the part of NVML's binary interface that is used: natural alignment, nothing packed, every
/// enum and return code 4 bytes. Source of all numbers: nvml.h as published with nvidia-settings 550.40 to 610.43, the
/// same on x86-64 and aarch64.
namespace sparkops::facts::nvml_abi {

using Return = int;
using Device = void*;

/// The word a versioned struct carries in its first member.
template <class Struct>
constexpr std::uint32_t version_word(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(Struct)) | (version << 24);
}

struct PciInfo {  // nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct PciInfoOld {  // nvmlDeviceGetPciInfo_v2 and the plain call: no long bus id
  char bus_id_legacy[16];
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  std::uint32_t reserved[4];
};
static_assert(sizeof(PciInfoOld) == 52);

struct Utilization {
  std::uint32_t gpu, memory;
};
static_assert(sizeof(Utilization) == 8);

struct Memory {  // nvmlDeviceGetMemoryInfo
  std::uint64_t total, free, used;
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {  // nvmlDeviceGetMemoryInfo_v2
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40 && version_word<MemoryV2>(2) == 0x02000028);

struct ProcessInfoV1 {  // the plain process calls
  std::uint32_t pid;
  std::uint64_t used_gpu_memory;
};
static_assert(sizeof(ProcessInfoV1) == 16);

struct ProcessInfoV2 {  // the _v2 and _v3 process calls
  std::uint32_t pid;
  std::uint64_t used_gpu_memory;
  std::uint32_t gpu_instance_id, compute_instance_id;
};
static_assert(sizeof(ProcessInfoV2) == 24);

struct FieldValue {
  std::uint32_t field_id, scope_id;
  std::int64_t timestamp, latency_us;
  std::uint32_t value_type;
  Return code;
  union {
    double as_double;
    std::uint32_t as_u32;
    std::uint64_t as_u64;
    std::int64_t as_i64;
    std::int32_t as_i32;
    std::uint16_t as_u16;
  } value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

struct Temperature {  // nvmlDeviceGetTemperatureV
  std::uint32_t version, sensor;
  std::int32_t temperature;
};
static_assert(version_word<Temperature>(1) == 0x0100000C);

struct MarginTemperature {
  std::uint32_t version;
  std::int32_t margin;
};
static_assert(version_word<MarginTemperature>(1) == 0x01000008);

struct AddressingMode {
  std::uint32_t version, value;
};
static_assert(version_word<AddressingMode>(1) == 0x01000008);

struct C2cMode {  // has no version member
  std::uint32_t enabled;
};
static_assert(sizeof(C2cMode) == 4);

}  // namespace sparkops::facts::nvml_abi
