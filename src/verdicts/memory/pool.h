#pragma once

#include "base/known.h"
#include "base/quantities.h"
#include "facts/machine/machine.h"

namespace sparkops::verdicts {

/// Who holds the pool, as far as the kernel and NVML tell. CUDA memory appears in no meminfo field on GB10: it only
/// shows as a fall of MemFree, and per process through NVML.
struct PoolAttribution {
  Known<Bytes> page_cache;   ///< Cached + Buffers + SwapCached − Shmem
  Known<Bytes> anonymous;    ///< AnonPages
  Known<Bytes> shared;       ///< Shmem: tmpfs and shared mappings
  Known<Bytes> kernel;       ///< slab, page tables, kernel stacks
  Known<Bytes> huge_pages;   ///< set aside as huge pages, used or not
  Known<Bytes> gpu;          ///< NVML, sum over processes; unknown inside a container (the list is empty there)
  Known<Bytes> unexplained;  ///< total − free − all of the above; unknown when one of them is
};

[[nodiscard]] PoolAttribution attribute_pool(const facts::Machine& machine);

/// Whether any process is known to hold GPU memory or the GPU is at least a third busy.
[[nodiscard]] bool gpu_job_is_running(const facts::Machine& machine);

}  // namespace sparkops::verdicts
