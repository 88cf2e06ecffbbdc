#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sparkops::facts {

/// The name by which packages are compared (PEP 503): lower case, runs of '-', '_' and '.' as one '-'.
[[nodiscard]] std::string normalized_name(std::string_view name);

/// Whether a text can be the name of a package (PEP 508): letters, digits, '-', '_', '.', with a letter or digit at
/// both ends.
[[nodiscard]] bool is_package_name(std::string_view name);

/// One requirement as wheels and requirement files write it (PEP 508):
/// "torch[opt] >=2.9, <3; platform_machine == 'aarch64'".
struct Requirement {
  std::string name;                 ///< normalised
  std::vector<std::string> extras;  ///< normalised
  std::string specifiers;           ///< ">=2.9, <3"; empty: any version
  std::string url;                  ///< of "name @ URL"
  std::string marker;               ///< behind the semicolon; empty: always
};

/// Errors: malformed.
[[nodiscard]] Result<Requirement> parse_requirement(std::string_view text);

/// The values of environment markers ("python_version" → "3.12"). A marker that is not in it is unknown. `extra` is
/// empty unless set.
using MarkerEnvironment = std::map<std::string, std::string, std::less<>>;

/// The markers of a Linux system: `architecture` as uname -m; `python` "3.12.3" or "3.12"; empty texts leave what
/// depends on them unknown.
[[nodiscard]] MarkerEnvironment marker_environment(std::string_view architecture, std::string_view python);

enum class MarkerResult {
  holds,
  does_not_hold,
  unknown,  ///< it asks for something that is not known, or cannot be read
};

/// Evaluates a marker (PEP 508). An empty one holds. Parentheses may be nested up to 32 deep.
[[nodiscard]] MarkerResult evaluate_marker(std::string_view marker, const MarkerEnvironment& environment);

}  // namespace sparkops::facts
