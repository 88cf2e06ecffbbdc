#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/root.h"
#include "facts/machine/container.h"
#include "facts/machine/gpu.h"
#include "facts/machine/identity.h"
#include "facts/machine/kernel_log.h"
#include "facts/machine/memory.h"
#include "facts/machine/network_links.h"
#include "facts/machine/processes.h"
#include "facts/machine/sensors.h"
#include "facts/machine/stopped_containers.h"

namespace sparkops::facts {

/// Everything known about one machine at one moment. A part whose reader did not come back in time is unknown with
/// that as its reason; the others are not affected.
struct Machine {
  std::string root_name;
  bool is_live = true;
  Known<Timestamp> taken;  ///< now on a live machine, else the time of the capture
  Known<Identity> identity;
  Known<Container> container;
  Known<Memory> memory;
  Known<GpuInventory> gpus;
  bool gpu_was_asked =
      true;  ///< false: a capture that holds no NVML answers, so that `gpus` says nothing about the GPU
  Known<ProcessTable> processes;
  Known<Sensors> sensors;
  Known<KernelLog> kernel_log;
  Known<NetworkLinks> network_links;
  Known<std::vector<StoppedContainer>> stopped_containers;  ///< only with MachineReadOptions::memory_picture

  /// The GPU that is judged: the first GB10, else the first one; null when there is none.
  [[nodiscard]] const Gpu* gpu() const;
};

struct MachineReadOptions {
  std::chrono::milliseconds deadline{3000};  ///< for each part on its own
  GpuReadOptions gpu;
  bool kernel_log = true;
  bool network_links = true;
  bool cached_files = true;  ///< look for the files that hold the page cache when it is large
  /// What `sparkops memory` shows beyond the verdicts: the memory of every process, the files however small the cache
  /// is, a rate of swapping always, and docker's stopped containers.
  bool memory_picture = false;
};

/// Reads all parts at the same time, each on a thread of its own.
[[nodiscard]] Machine read_machine(const Root& root, const MachineReadOptions& options = {});

}  // namespace sparkops::facts
