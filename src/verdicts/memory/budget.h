#pragma once

#include <string>

#include "base/known.h"
#include "base/quantities.h"
#include "facts/machine/memory.h"

namespace sparkops::verdicts {

/// Kept for the operating system, the driver and growth (memory-model.md §0).
inline constexpr Bytes k_default_reserve = gibibytes(6);

/// Below this headroom, and with as much to be gained, a flush of the page cache is worth a warning (gotchas.md, G3).
inline constexpr Bytes k_small_headroom = gibibytes(16);
inline constexpr Bytes k_worthwhile_flush = gibibytes(16);

/// What the pool can give. Never the 128 GB of the data sheet and never an NVML memory field.
struct Budget {
  Known<Bytes> total;                 ///< MemTotal
  Known<Bytes> free;                  ///< MemFree: what cudaMemGetInfo and driver-internal allocations see
  Known<Bytes> available;             ///< MemAvailable, or the HugePages rule, plus swap when asked for
  Known<Bytes> headroom_now;          ///< free − reserve; may be negative
  Known<Bytes> headroom_after_flush;  ///< available − reserve; may be negative
  bool huge_pages_rule = false;  ///< available = HugePages_Free × Hugepagesize, swap counted as zero (NVIDIA's rule)
  bool huge_pages_rule_is_smaller = false;  ///< … and that is less than MemAvailable
  Bytes reserve = k_default_reserve;
};

/// MemAvailable + SwapFree is NVIDIA's published bound; swap is added only on request, since a swapped working set
/// collapses throughput (37 → 1.8 tok/s with 13 GiB swapped).
enum class CountSwap { no, yes };

[[nodiscard]] Budget memory_budget(const facts::MemoryInfo& info, Bytes reserve = k_default_reserve,
                                   CountSwap count_swap = CountSwap::no);

}  // namespace sparkops::verdicts
