#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "facts/software/software.h"

namespace sparkops::facts {

/// What a list of packages says.
struct PackageList {
  std::string format;  ///< "pip freeze or requirements", "pip list", "conda list", "collect_env", "uv.lock" …
  std::vector<Distribution> distributions;  ///< `metadata` is "NAME:LINE"
  Known<std::string> python_version;
  DeclaredMachine machine;
  std::vector<std::string> not_understood;  ///< places, each with its reason; the first 20
};

/// Reads the output of pip freeze, pip list (columns, freeze, json), pip inspect, uv pip list, conda list (text,
/// --export,
/// --json), torch's collect_env, lines "NAME VERSION", a requirements file, an environment.yml, uv.lock, poetry.lock,
/// pylock.toml and pyproject.toml. Of a lock for several platforms what is for aarch64 Linux counts. `name` is for
/// places. Errors: malformed, also when no package is named.
[[nodiscard]] Result<PackageList> parse_package_list(std::string_view text, const std::string& name);

/// The list in a file as software that was declared, not looked at. Errors: usage.
[[nodiscard]] Result<Software> read_package_list(const std::string& path);

}  // namespace sparkops::facts
