#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// A command without what was wrapped around the program: env, exec, sudo, timeout, bash -c, docker run, mpirun, srun …
struct PlainCommand {
  std::vector<std::string> words;              ///< the program and its arguments; empty: the image's own program
  std::vector<Setting> environment;            ///< what was given plus what the wrappers set
  std::vector<Setting> wrapper_settings;       ///< nodes and processes that mpirun or srun start
  std::vector<Setting> container_limits;       ///< docker --memory
  std::vector<std::string> environment_files;  ///< docker --env-file
  Known<std::string> image;
  std::string container_name;
  LaunchOrder order = LaunchOrder::together;
};

/// The programs that a command starts: one, or several for bash -c '…; …'. Wrappers inside wrappers are followed to a
/// depth of 8.
[[nodiscard]] std::vector<PlainCommand> unwrap_command(PlainCommand command);

/// The file name at the end of a path.
[[nodiscard]] std::string base_name(std::string_view path);

}  // namespace sparkops::facts
