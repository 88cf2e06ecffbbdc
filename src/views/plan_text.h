#pragma once

#include <string>

#include "verdicts/memory/plan.h"
#include "views/text_layout.h"

namespace sparkops::views {

struct PlanDetail {
  bool explain = false;  ///< every formula with its numbers
  bool verbose = false;  ///< inputs with their origin, what takes nothing, the whole ladder
};

[[nodiscard]] std::string plan_text(const verdicts::Plan& plan, const PlanDetail& detail, const TextStyle& style);

}  // namespace sparkops::views
