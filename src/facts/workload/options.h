#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/workload/workload.h"

namespace sparkops::facts {

/// A key as it is compared: lower case, dashes as underscores, without leading dashes and pluses. One-letter options
/// keep their case ("-N" and "-n" differ).
[[nodiscard]] std::string canonical_key(std::string_view key);

/// The part of a dotted key after its last dot, list positions left out: "resources.limits.0" gives "limits".
[[nodiscard]] std::string last_part(std::string_view canonical);

/// One option of a command line.
struct CommandOption {
  std::string name;     ///< canonical
  std::string value;    ///< empty for a flag
  std::string written;  ///< "--gpu-memory-utilization 0.90"
};

/// The options and the words that are none.
struct CommandOptions {
  std::vector<CommandOption> options;
  std::vector<std::string> positionals;

  /// The last option of one of these canonical names.
  [[nodiscard]] const CommandOption* find(std::span<const std::string_view> names) const;
  [[nodiscard]] const CommandOption* find(std::string_view name) const { return find(std::span(&name, 1)); }
};

/// Reads "--key=value", "--key value", "-k value", and the "section.key=value" words of Hydra. A word after an option
/// is its value unless it looks like an option itself; which options are flags is not known here, so a word after a
/// flag stands both as its value and among the positionals.
[[nodiscard]] CommandOptions parse_options(std::span<const std::string> words);

/// The last setting whose canonical last part is one of `names`.
[[nodiscard]] const Setting* find_setting(const std::vector<Setting>& settings,
                                          std::span<const std::string_view> names);

}  // namespace sparkops::facts
