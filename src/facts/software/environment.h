#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "facts/software/distribution.h"
#include "facts/software/environment_variables.h"

namespace sparkops::facts {

/// What torch/version.py says of one copy of torch.
struct TorchBuild {
  std::string directory;       ///< ".../site-packages/torch"
  Known<std::string> version;  ///< "2.11.0+cu130"
  Known<std::string> cuda;     ///< "13.0"; empty: a build without CUDA
};

/// One directory on Python's path, in the order in which imports look.
struct SiteDirectory {
  enum class Kind {
    python_path,  ///< of $PYTHONPATH
    user,         ///< ~/.local/lib/pythonX.Y/site-packages: comes before the system's own
    environment,  ///< of the environment itself
    system,       ///< of the Python below a virtual environment that lets it through
    path_file,    ///< named by a .pth file
  };
  std::string path;
  Kind kind = Kind::environment;
};

/// A package of conda, from the name of its file in conda-meta.
struct CondaPackage {
  std::string name, version, build;
};

enum class EnvironmentKind { virtual_environment, conda, system, declared };

/// One Python and what is installed for it, read from files alone.
struct PythonEnvironment {
  EnvironmentKind kind = EnvironmentKind::system;
  std::string found_by;               ///< "--env", "$VIRTUAL_ENV", "python3 on PATH", "--packages"
  std::string prefix;                 ///< "/home/user1/env"; of a declared one the name of its file
  std::string interpreter;            ///< "/home/user1/env/bin/python3"
  Known<std::string> python_version;  ///< "3.12.3", or "3.12" where the files do not tell the last number
  Known<std::string> abi_tag;         ///< "cp312"
  Known<bool> externally_managed;     ///< pip refuses to install into it (EXTERNALLY-MANAGED)
  std::vector<SiteDirectory> sites;
  std::vector<Distribution> distributions;  ///< in the order of the path: of two with one key the first is imported
  std::vector<CondaPackage> conda_packages;
  std::vector<TorchBuild> torch;  ///< copies of torch on the path, the imported one first
  std::vector<TorchBuild>
      torch_elsewhere;  ///< copies that this Python does not look at (of the system, of another Python)
  std::vector<std::string> could_not;

  /// The distribution that an import finds; null: not installed. `key`: normalised.
  [[nodiscard]] const Distribution* find(std::string_view key) const;
};

/// Which Python to look at. All empty: the one at hand, by $VIRTUAL_ENV, $CONDA_PREFIX and python3 on PATH.
struct EnvironmentRequest {
  std::string python;     ///< --python: an interpreter
  std::string directory;  ///< --env: the directory of an environment
  std::string found_by = {};
};

/// Finds and reads an environment. Without a request: not_found when there is no Python at all. Errors: usage when
/// what was asked for is no Python or environment; unsupported when the first python3 on PATH is a script of a version
/// manager that cannot be followed.
[[nodiscard]] Result<PythonEnvironment> read_environment(const Root& root, const EnvironmentRequest& request,
                                                         const SoftwareVariables& variables);

/// The keys of pyvenv.cfg ("home", "version", "include-system-site-packages"), lower case. Takes whatever bytes there
/// are.
[[nodiscard]] std::map<std::string, std::string, std::less<>> parse_pyvenv_configuration(std::string_view text);

/// torch/version.py, without running it. `directory` is that of torch.
[[nodiscard]] TorchBuild parse_torch_version(std::string_view text, std::string directory);

}  // namespace sparkops::facts
