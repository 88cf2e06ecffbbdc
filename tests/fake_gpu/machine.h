#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fake_gpu {

/// nvmlReturn_t, as far as this library answers it.
enum Code : int {
  k_success = 0,
  k_uninitialized = 1,
  k_invalid_argument = 2,
  k_not_supported = 3,
  k_not_found = 6,
  k_insufficient_size = 7,
  k_driver_not_loaded = 9,
  k_gpu_is_lost = 15,
  k_argument_version_mismatch = 25,
  k_unknown = 999,
};

struct RunningProcess {
  std::uint32_t pid;
  bool compute, graphics;
  std::uint64_t bytes;
};

/// The machine at this moment, as the scenario in $FAKE_GPU_SCENARIO tells it. The file is read again when the
/// variable or the file's modification time changes; its time then starts anew (unless it has an epoch). Without a
/// readable scenario every call answers k_driver_not_loaded, after one line on stderr.
///
/// Every exported function begins with `enter`: it counts the call, hangs if it has to, and returns the code that the
/// function must return at once, or k_success.
/// `handle`: the calls that give a handle; on a lost GB10 they answer k_unknown where the device calls answer
/// k_gpu_is_lost (as published).
enum class Needs { nothing, init, handle, device };
int enter(const char* function, Needs needs, const void* device = nullptr);

void count_init();
void count_shutdown();

std::optional<double> number(const char* name);
std::optional<std::string> text(const char* name);
std::vector<RunningProcess> processes();
/// The only device there is: an opaque address.
void* device_handle();

}  // namespace fake_gpu
