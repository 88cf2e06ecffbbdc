#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/machine/machine.h"
#include "knowledge/tables.h"
#include "verdicts/memory/budget.h"
#include "verdicts/memory/holders.h"
#include "verdicts/memory/pool.h"
#include "verdicts/memory/rates.h"

namespace sparkops::verdicts {

/// The largest free block that the kernel can hand out in one piece, and how many there are.
struct LargestBlock {
  Bytes size;
  std::int64_t count = 0;
};

/// Who holds the pool and what can be given back: everything that `sparkops memory` shows.
struct MemoryPicture {
  Known<Timestamp> taken;
  Known<Budget> budget;
  PoolAttribution pool;
  Known<Bytes> used;  ///< total − free
  Known<LargestBlock> largest_block;
  Known<Bytes> swap_total, swap_used;
  Known<SwapRates> swapping;
  Known<facts::Pressure> pressure;  ///< of memory
  std::vector<PoolHolder> holders;
  std::string holders_unknown;                  ///< why nobody could be looked for; empty when somebody could
  Known<std::vector<facts::CachedFile>> files;  ///< largest part in the cache first
  std::string files_scope;
  Orphans orphans;
  std::vector<std::string> could_not;  ///< what this reading cannot see, each with what would show it
  std::string next_command, next_reason;
};

[[nodiscard]] MemoryPicture picture_memory(const facts::Machine& machine, const knowledge::Tables& tables,
                                           Bytes reserve);

}  // namespace sparkops::verdicts
