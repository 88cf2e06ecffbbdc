#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/memory/budget.h"
#include "verdicts/platform.h"

namespace sparkops::verdicts {

enum class Readiness { ready, ready_with_warnings, blocked };

/// The one answer, with what stands in parentheses behind it.
struct PreflightVerdict {
  Readiness readiness = Readiness::blocked;
  std::string why;                 ///< empty when ready
  bool not_a_spark = false;        ///< blocked for that reason alone or among others
  bool found_out_nothing = false;  ///< no check came to an answer: never a pass
};

struct PreflightResult {
  PlatformJudgement platform;
  std::vector<Finding> findings;  ///< in the order of the numbers
  Known<Budget> budget;
  PreflightVerdict verdict;
};

/// Which checks to run: all, or the named ones ("G3" …), in the order of the registry.
using CheckSelection = std::vector<std::string>;

/// The checks that a workload or a list of packages alone can answer, for judging it on another machine.
[[nodiscard]] CheckSelection checks_named_by_input(const PreflightFacts& facts);

/// Runs the selected checks (empty selection: all). A check that throws becomes a SKIP with its reason and takes no
/// other check down. Blocked: any FAIL, a machine that is no GB10 (unless the workload is judged for one), or a GB10
/// whose GPU does not answer at all.
[[nodiscard]] PreflightResult run_preflight(const PreflightFacts& facts, const CheckSelection& selection);

/// "ready", "ready-with-warnings (…)", "blocked (…)".
[[nodiscard]] std::string to_string(const PreflightVerdict& verdict);

}  // namespace sparkops::verdicts
