#pragma once

#include <string>
#include <string_view>

#include "base/known.h"
#include "base/root.h"
#include "facts/machine/processes.h"

namespace sparkops::facts {

/// The variables of a process that decide which Python, libraries and devices it uses (is_software_variable).
/// Set and empty is not the same as not set.
struct SoftwareVariables {
  EnvironmentVariables values;
  std::string of;  ///< whose: "this shell", "PID 4711", "the captured shell"

  /// The value, or null when it is not set.
  [[nodiscard]] const std::string* find(std::string_view name) const;
};

/// LD_LIBRARY_PATH, PYTHONPATH, VIRTUAL_ENV, CUDA_…, TRITON_… and the like; none that may hold a credential.
[[nodiscard]] bool is_software_variable(std::string_view name);

/// The variables of a process: those it was started with. `process` is its PID, or "self". Errors: permission_denied
/// for a process of somebody else, with the way out.
[[nodiscard]] Known<SoftwareVariables> read_software_variables(const Root& root, std::string_view process);

}  // namespace sparkops::facts
