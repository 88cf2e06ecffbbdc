#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/machine/machine.h"
#include "knowledge/tables.h"

namespace sparkops::verdicts {

/// One process that holds a part of the pool. Host memory and GPU memory add up: CUDA memory is in no host figure here.
struct PoolHolder {
  std::int64_t pid = 0;
  std::string name;                ///< "running vLLM (pid 4242)", "train.py (pid 30118)"
  Known<std::string> owner;        ///< a user's name, or "user 1000" where no name is known
  std::string container;           ///< id or name; empty: none is known
  Known<Bytes> gpu;                ///< by NVML; unknown: not in its list, or the list cannot be had
  Known<Bytes> anonymous, shared;  ///< in the pool
  Known<Bytes> file_backed;        ///< mapped pages of files: in the page cache, given back under pressure
  Known<Bytes> swapped;            ///< not in the pool any more
  Known<Timestamp> started;
  std::string cap;  ///< of a server or trainer: what bounds it, "no cap"; empty for other processes
  /// What it takes of the pool: GPU, anonymous and shared memory, as far as they are known.
  [[nodiscard]] Bytes in_pool() const;
};

/// Every process known to hold a part worth naming, the largest first.
[[nodiscard]] std::vector<PoolHolder> pool_holders(const facts::Machine& machine, const knowledge::Tables& tables);

/// Memory that nobody living answers for.
struct Orphans {
  std::vector<std::string> clauses;
  std::vector<Fix> fixes;
  std::vector<std::string> could_not;  ///< what was not looked at, and the right that would show it
};

/// GPU memory without a living owner, zombie workers, workers whose launcher is gone, and docker's containers that
/// stopped less than two minutes before the reading: their memory was seen to come back that late.
[[nodiscard]] Orphans find_orphans(const facts::Machine& machine, const knowledge::Tables& tables);

}  // namespace sparkops::verdicts
