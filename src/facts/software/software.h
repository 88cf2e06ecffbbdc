#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "facts/software/environment.h"
#include "facts/software/environment_variables.h"

namespace sparkops::facts {

/// What a list of packages says of the machine it was made on (torch's collect_env does).
struct DeclaredMachine {
  Known<std::string> architecture;    ///< "aarch64"
  Known<std::string> driver;          ///< "580.142"
  Known<std::string> torch_cuda;      ///< "CUDA used to build PyTorch"; empty: none
  Known<std::string> cuda_toolkit;    ///< "CUDA runtime version"
  Known<std::string> cuda_available;  ///< "True", "False"
};

/// What is installed, as the verdicts G1, G2, G7 and G9 see it. Read from files; nothing is imported and nothing run.
struct Software {
  /// Which Python is checked and what is installed for it. Known and empty: there is no Python here. Unknown: there is
  /// one that could not be read, or nobody may say.
  Known<std::vector<PythonEnvironment>> environments;
  bool declared = false;               ///< it stands in a list (--packages), nothing of it was looked at
  std::string format;                  ///< of a declared one: "pip list", "collect_env" …
  DeclaredMachine machine;             ///< of a declared one
  Known<SoftwareVariables> variables;  ///< of the process that is checked
  std::string
      entered_by;  ///< what a command needs in front of it to reach the environment: "docker exec NAME"; mostly empty

  /// The environment that is checked; null when there is none or it is unknown.
  [[nodiscard]] const PythonEnvironment* environment() const;
};

/// Reads the environment that `request` names into `software`, whose variables are those of the process that is
/// checked. Errors: usage, for what a person asked for and is not there (software then holds the same as unknown).
Result<void> read_environments(const Root& root, const EnvironmentRequest& request, Software& software);

/// Reads the environment that `request` names, or the one at hand. Errors: usage, for what a person asked for and is
/// not there.
[[nodiscard]] Result<Software> read_software(const Root& root, const EnvironmentRequest& request);

}  // namespace sparkops::facts
