#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actions/machine_actions.h"
#include "facts/machine/file_residency.h"

namespace sparkops::actions {

/// One file whose pages were to be given back, with the readings around it.
struct FlushedFile {
  std::string path;
  facts::FileResidency before, after;
  std::string error;  ///< why it could not be opened, written or given back; empty when all went well
};

/// Called after each file with how many are done.
using FlushProgress = std::function<void(std::size_t)>;

/// Writes each file back when it has changed pages (or it is not known that it has none), gives its pages back, and
/// reads before and after how much of it is cached. Files in memory (tmpfs) and files without cached pages are left
/// alone.
[[nodiscard]] std::vector<FlushedFile> flush_files(MachineActions& actions, const std::vector<std::string>& paths,
                                                   const FlushProgress& progress = {});

/// One step of a flush of the whole machine and its error, empty when it went well.
struct FlushStep {
  std::string name;  ///< "sync", "drop_caches", "compact_memory"
  std::string error;
};

enum class Compact { no, yes };

/// Writes everything back, drops the caches and, when asked, compacts memory. Stops at the first step that fails.
[[nodiscard]] std::vector<FlushStep> flush_everything(MachineActions& actions, Compact compact);

}  // namespace sparkops::actions
