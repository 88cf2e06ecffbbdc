#pragma once

#include <string>
#include <string_view>

#include "store/capture_plan.h"
#include "store/redaction.h"

namespace sparkops::store {

/// The content of a captured file, redacted as its treatment says. Content that does not have the form its treatment
/// expects loses what cannot be told apart, never the redaction.
[[nodiscard]] std::string treated(Treatment treatment, std::string_view content, Redactor& redactor);

}  // namespace sparkops::store
