#pragma once

#include <string>
#include <vector>

#include "verdicts/memory/flush.h"
#include "views/preflight_text.h"
#include "views/text_layout.h"

namespace sparkops::views {

/// One step of a flush of the whole machine, with its error or "".
struct FlushStepShown {
  std::string name, error;
};

/// Everything a flush has to say.
struct FlushReport {
  bool everything = false;  ///< --all
  verdicts::FlushMode mode = verdicts::FlushMode::done;
  std::string refused;                ///< why nothing was done; empty when something was
  std::vector<std::string> instead;   ///< commands that are possible instead
  std::vector<FlushStepShown> steps;  ///< of --all
  std::vector<verdicts::FlushedFile> files;
  std::vector<std::string> notes;
  verdicts::Budget before, after;  ///< of the whole machine
  verdicts::PoolAttribution pool_before, pool_after;
};

/// What was freed by real readings before and after, what stays and why.
[[nodiscard]] std::string flush_text(const FlushReport& report, Detail detail, const TextStyle& style);

/// schema "sparkops.flush/1".
[[nodiscard]] std::string flush_json(const FlushReport& report);

}  // namespace sparkops::views
