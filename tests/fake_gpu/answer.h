#pragma once

#include <cstdio>
#include <cstring>
#include <string>

#include "machine.h"
#include "nvml_types.h"

/// What the exported functions have in common.
namespace fake_gpu {

/// Begins a function that answers about the device, and ends it where the scenario says so.
#define FAKE_GPU_ENTER(needs, device) \
  if (const int code = fake_gpu::enter(__func__, needs, device); code != fake_gpu::k_success) return code

template <class Number>
nvmlReturn_t give_number(const char* name, Number* target) {
  if (target == nullptr) return k_invalid_argument;
  const auto value = number(name);
  if (!value) return k_not_supported;
  *target = static_cast<Number>(*value);
  return k_success;
}

inline nvmlReturn_t give_text(const std::string& value, char* target, unsigned int size) {
  if (target == nullptr) return k_invalid_argument;
  if (value.size() + 1 > size) return k_insufficient_size;
  std::memcpy(target, value.c_str(), value.size() + 1);
  return k_success;
}

inline nvmlReturn_t give_text_of(const char* name, char* target, unsigned int size) {
  const auto value = text(name);
  return value ? give_text(*value, target, size) : static_cast<nvmlReturn_t>(k_not_supported);
}

/// The version word that a versioned struct must carry.
template <class Struct>
constexpr unsigned int version_word(unsigned int version) {
  return static_cast<unsigned int>(sizeof(Struct)) | (version << 24);
}

enum class Wanted { compute, graphics };

inline void fill(nvmlProcessInfo_v1_t& entry, const RunningProcess& process) {
  entry.pid = process.pid;
  entry.usedGpuMemory = process.bytes;
}
inline void fill(nvmlProcessInfo_v2_t& entry, const RunningProcess& process) {
  entry = {process.pid, process.bytes, 0xFFFFFFFF, 0xFFFFFFFF};
}

template <class Entry>
nvmlReturn_t give_processes(Wanted wanted, unsigned int* count, Entry* entries) {
  if (count == nullptr || (entries == nullptr && *count > 0)) return k_invalid_argument;
  std::vector<RunningProcess> listed;
  for (const RunningProcess& process : processes()) {
    if (wanted == Wanted::compute ? process.compute : process.graphics) listed.push_back(process);
  }
  const unsigned int capacity = *count;
  *count = static_cast<unsigned int>(listed.size());
  if (listed.size() > capacity) return k_insufficient_size;
  for (std::size_t i = 0; i < listed.size(); ++i) fill(entries[i], listed[i]);
  return k_success;
}

inline nvmlReturn_t give_clock(unsigned int type, const char* const (&names)[4], unsigned int* clock) {
  return type < 4 ? give_number(names[type], clock) : static_cast<nvmlReturn_t>(k_invalid_argument);
}

}  // namespace fake_gpu
