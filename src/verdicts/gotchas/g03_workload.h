#pragma once

#include <string>

#include "base/finding.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/memory/budget.h"

namespace sparkops::verdicts {

/// What the plan of the named workload means for G3.
struct WorkloadFit {
  bool judged = false;  ///< false: no workload, or its peak is not known (the evidence says why)
  Status status = Status::info;
  std::string clause;  ///< for the headline
  Fix fix;
};

/// FAIL when the workload does not fit even after a flush, WARN when it is tight or fits only after one, else PASS.
[[nodiscard]] WorkloadFit judge_workload(const PreflightFacts& facts, const Budget& budget,
                                         std::vector<Evidence>& evidence);

/// G3 for a GB10 that is not here: of the plan alone, against an idle box.
[[nodiscard]] Finding check_workload_on_gb10(const PreflightFacts& facts);

}  // namespace sparkops::verdicts
