#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/root.h"
#include "facts/software/environment.h"

namespace sparkops::facts {

/// Where a Python looks for packages, found out from its files as CPython's start-up does (getpath, site).
struct PythonLayout {
  EnvironmentKind kind = EnvironmentKind::system;
  std::string interpreter;
  std::string prefix;
  std::string base_prefix;            ///< of the Python below a virtual environment; else the same as prefix
  Known<std::string> python_version;  ///< "3.12.3" or "3.12"
  Known<std::string> abi_tag;
  Known<bool> externally_managed;
  std::vector<SiteDirectory> sites;       ///< those that exist
  std::vector<std::string> unused_sites;  ///< directories with packages that this Python does not look at
};

/// The layout of the Python that `interpreter` starts. Errors: not_found, unsupported.
[[nodiscard]] Result<PythonLayout> read_python_layout(const Root& root, const std::string& interpreter,
                                                      const SoftwareVariables& variables);

/// The first python3 (else python) of $PATH. Error: not_found.
[[nodiscard]] Result<std::string> find_python_on_path(const Root& root, const SoftwareVariables& variables);

/// The interpreter inside the directory of an environment. Error: not_found.
[[nodiscard]] Result<std::string> find_python_in(const Root& root, const std::string& directory);

}  // namespace sparkops::facts
