#pragma once

#include <string>

#include "verdicts/status.h"
#include "views/text_layout.h"

namespace sparkops::views {

/// At most ten lines: box, pool, headroom, GPU, who holds the pool, job, the next sensible command.
[[nodiscard]] std::string status_text(const verdicts::BoxStatus& status, const TextStyle& style);

/// schema "sparkops.status/1".
[[nodiscard]] std::string status_json(const verdicts::BoxStatus& status, const std::string& root);

}  // namespace sparkops::views
