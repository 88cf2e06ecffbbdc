#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "facts/software/software.h"

namespace sparkops::facts {

/// Which Python a running process uses: by the first word of its command line, else by the program it runs. `machine`
/// holds proc, `tree` is what the process itself sees (that of its container); the paths are those of `tree`. An empty
/// request where it runs no Python. Errors: not_found (no such process), permission_denied.
[[nodiscard]] Result<EnvironmentRequest> request_of_process(const Root& machine, const Root& tree, std::int64_t pid,
                                                            const SoftwareVariables& variables);

/// The software of a running process of this machine: its interpreter, its variables, the tree of its container. What
/// cannot be looked at is unknown with the way out; never fails as a whole.
[[nodiscard]] Software read_software_of_process(std::int64_t pid);

/// A process of the container that `name` names (its name or the start of its id): one that runs Python, else the
/// first. Names are looked up in the engine's own files (docker's as root, podman's of the user). Errors: not_found,
/// permission_denied.
[[nodiscard]] Result<std::int64_t> find_container_process(const Root& machine, const std::string& name);

/// The ids of containers that a store of Docker or Podman gives this name; from the text of config.v2.json and
/// containers.json.
[[nodiscard]] std::vector<std::string> parse_container_names(std::string_view text, const std::string& name);

}  // namespace sparkops::facts
