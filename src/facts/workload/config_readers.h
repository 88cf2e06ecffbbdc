#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/workload/config_value.h"

namespace sparkops::facts {

/// The readers of one text each. They execute nothing and resolve nothing outside the text. Errors: malformed, with
/// line and reason, also for what goes past the limits of config_value.h (a document that expands without end, nesting
/// without end, an anchor inside itself).

/// All documents of a YAML stream; anchors, aliases and merge keys (<<) are resolved.
[[nodiscard]] Result<std::vector<ConfigValue>> parse_yaml(std::string_view text);

/// JSON, with comments tolerated. Lines are not told.
[[nodiscard]] Result<ConfigValue> parse_json(std::string_view text);

[[nodiscard]] Result<ConfigValue> parse_toml(std::string_view text);

}  // namespace sparkops::facts
