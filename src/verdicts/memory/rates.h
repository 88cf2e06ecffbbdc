#pragma once

#include "base/known.h"
#include "facts/machine/memory.h"

namespace sparkops::verdicts {

/// How fast pages move to and from swap, between two readings of proc/vmstat.
struct SwapRates {
  double in_pages_per_s = 0, out_pages_per_s = 0;
  double window_s = 0;  ///< between the readings
};

/// Unknown with the reason when there is one reading alone, when the clock ran backwards, or a counter is missing.
[[nodiscard]] Known<SwapRates> swap_rates(const facts::Memory& memory);

}  // namespace sparkops::verdicts
