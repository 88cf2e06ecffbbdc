#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "commands/command.h"
#include "facts/machine/timed_part.h"
#include "facts/software/native_code.h"
#include "facts/software/software.h"
#include "facts/workload/workload.h"

namespace sparkops::commands {

/// Where installed packages are looked at, as the command line says.
struct SoftwareSource {
  std::optional<facts::Software> declared;  ///< --packages
  facts::EnvironmentRequest request;        ///< --python, --env
  std::int64_t pid = 0;                     ///< --pid, --container; 0: none
  std::string not_there;                    ///< why the container that was named cannot be looked into
  std::string arguments;                    ///< how it was named, for commands in the answer; empty: not at all

  [[nodiscard]] bool was_named() const { return !arguments.empty(); }
};

/// The options that name it.
inline constexpr OptionSpec k_packages_option{
    "--packages", "FILE",
    "judge this list (pip freeze, pip list, conda list, uv.lock, collect_env) instead of what is installed",
    OptionSpec::Takes::value, false};
inline constexpr OptionSpec k_python_option{"--python", "PATH", "look at the packages of this interpreter",
                                            OptionSpec::Takes::value, false};
inline constexpr OptionSpec k_env_option{"--env", "DIR", "look at the packages of this environment (venv, conda)",
                                         OptionSpec::Takes::value, false};
inline constexpr OptionSpec k_pid_option{"--pid", "PID", "look at the Python, variables and container of this process",
                                         OptionSpec::Takes::value, false};
inline constexpr OptionSpec k_container_option{
    "--container", "NAME", "look into this running container (needs root, or a process of your own)",
    OptionSpec::Takes::value, false};
inline constexpr OptionSpec k_image_option{
    "--image", "NAME", "run this command in a throw-away container of this image (docker; no network, never pulls)",
    OptionSpec::Takes::value, false};

/// Errors: usage (two of them at once, a file or environment that is not there).
[[nodiscard]] Result<SoftwareSource> software_source_from(const Arguments& arguments, const Root& root);

/// Where no option names it: the interpreter that the command itself starts ("/srv/env/bin/python3 train.py"). Where
/// the work runs in a container image, or is a server without Python, this machine's is not looked at.
void aim_at_work(SoftwareSource& source, const facts::Workload& workload, const std::vector<std::string>& command);

/// What is installed, and the libraries in it where torch is among it.
struct SoftwareReading {
  facts::Software software;
  Known<facts::NativeCode> native_code;
};

/// Begins to read it on a thread of its own.
[[nodiscard]] facts::TimedPart<SoftwareReading> start_reading(const SoftwareSource& source, const Root& root);

/// What was read, or unknown parts because it took too long.
[[nodiscard]] SoftwareReading finish_reading(const facts::TimedPart<SoftwareReading>& part);

/// Replaces this program by a container engine that runs the same command inside `image`. Returns only when that
/// cannot be done: an error.
[[nodiscard]] Error run_in_image(const Arguments& arguments, const std::string& image, bool has_gpu);

}  // namespace sparkops::commands
