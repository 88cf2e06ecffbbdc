#pragma once

#include <string>

#include "verdicts/memory/plan.h"

namespace sparkops::views {

/// schema "sparkops.plan/1". `root` names the machine that was read.
[[nodiscard]] std::string plan_json(const verdicts::Plan& plan, const std::string& root);

}  // namespace sparkops::views
