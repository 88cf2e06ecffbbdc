#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/workload/workload.h"

namespace sparkops::verdicts {

/// Which files a judgement of this workload rests on, and what was left out with its reason.
[[nodiscard]] std::vector<Evidence> reading_evidence(const facts::Workload& workload);

/// "foo is not known to sparkops as a server or trainer", when the workload starts nothing else.
[[nodiscard]] std::optional<std::string> unknown_program(const facts::Workload& workload);

}  // namespace sparkops::verdicts
