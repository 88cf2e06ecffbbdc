#pragma once

#include <string>
#include <vector>

#include "facts/workload/launch_reader.h"
#include "facts/workload/shell_reader.h"

namespace sparkops::facts {

/// What a script or a recipe of assignments starts, and the settings that belong to no launch.
struct ScriptContent {
  std::vector<Launch> launches;
  std::vector<Setting> settings;
};

/// A script's server and training commands become launches. A text that starts none but holds arguments for a program
/// (SERVE_ARGS=( --tensor-parallel-size 2 )) becomes one launch of those arguments with all assignments as its
/// environment. Other assignments are loose settings.
[[nodiscard]] ScriptContent read_script(const ShellScript& script, const std::string& file, const ConfigLookup& lookup);

/// The assignments as settings, arrays joined by blanks.
[[nodiscard]] std::vector<Setting> settings_of(const ShellScript& script, const std::string& file);

/// The server that loose settings of one file configure, by the keys that cap its memory.
[[nodiscard]] Known<ServerKind> server_of_settings(const std::vector<Setting>& settings);

/// One launch of a server whose configuration file was given without the command that names it.
[[nodiscard]] Launch launch_of_settings(ServerKind kind, const std::string& file, std::vector<Setting> settings);

}  // namespace sparkops::facts
