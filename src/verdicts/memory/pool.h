#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "facts/machine/machine.h"
#include "knowledge/tables.h"

namespace sparkops::verdicts {

/// Who holds the pool, as far as the kernel and NVML tell. CUDA memory appears in no meminfo field on GB10: it only
/// shows as a fall of MemFree, and per process through NVML.
struct PoolAttribution {
  Known<Bytes> page_cache;    ///< Cached + Buffers + SwapCached − Shmem
  Known<Bytes> mapped_files;  ///< of that: Mapped. Mapped shared memory is in it too, so this is an upper bound
  Known<Bytes> swap_cache;    ///< of that: SwapCached, anonymous pages that are in swap as well
  Known<Bytes> flush_gives;   ///< of that: the rest, which a flush gives back (what is dirty is written first)
  Known<Bytes> anonymous;     ///< AnonPages
  Known<Bytes> shared;        ///< Shmem: tmpfs and shared mappings
  Known<Bytes> kernel;        ///< slab, page tables, kernel stacks
  Known<Bytes> huge_pages;    ///< set aside as huge pages, used or not
  Known<Bytes> gpu;           ///< NVML, sum over processes; unknown inside a container (the list is empty there)
  Known<Bytes> unexplained;   ///< total − free − all of the above; unknown when one of them is
};

[[nodiscard]] PoolAttribution attribute_pool(const facts::Machine& machine);

/// Whether any process is known to hold GPU memory or the GPU is at least a third busy.
[[nodiscard]] bool gpu_job_is_running(const facts::Machine& machine);

/// What computes on the GPU now, each as a clause with its name and what it holds. Known and empty: nobody does.
/// Unknown with the reason when there is a GPU that could not be asked; a machine without one runs no GPU job.
[[nodiscard]] Known<std::vector<std::string>> gpu_jobs(const facts::Machine& machine, const knowledge::Tables& tables);

}  // namespace sparkops::verdicts
