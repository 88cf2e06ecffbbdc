#pragma once

#include <string>
#include <vector>

#include "facts/machine/file_mappings.h"
#include "facts/machine/file_residency.h"
#include "facts/machine/memory.h"
#include "verdicts/memory/budget.h"
#include "verdicts/memory/pool.h"

namespace sparkops::verdicts {

/// The readings around the flush of one file.
struct FlushReading {
  std::string path;
  facts::FileResidency before, after;
  std::string error;  ///< of opening, writing or giving back
};

/// What came of one file.
struct FlushedFile {
  std::string path;
  Bytes size;
  Known<Bytes> before, after;      ///< in the page cache
  Known<Bytes> freed;              ///< the difference of two real readings
  Known<Bytes> dirty_before;       ///< had to be written first
  std::vector<std::string> stays;  ///< why something is still there, each as a clause; empty when nothing is
  bool is_free() const { return after && after->value == 0; }
};

enum class FlushMode { done, dry_run };

/// Why pages are still there: they are mapped, locked, changed again, or their file lives in memory. `mappings` are
/// those of the files by their index in `readings`.
[[nodiscard]] std::vector<FlushedFile> judge_flush(const std::vector<FlushReading>& readings,
                                                   const facts::FileMappings& mappings, FlushMode mode);

/// What came of all files, or of the whole machine.
struct FlushTotals {
  Bytes before, freed, stays;      ///< sums over the files where both readings are known
  std::int64_t unknown_files = 0;  ///< the others
};
[[nodiscard]] FlushTotals totals_of(const std::vector<FlushedFile>& files);

}  // namespace sparkops::verdicts
