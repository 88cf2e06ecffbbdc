#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/workload/command_unwrap.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// The settings of a configuration file (or env file) that a command names, by its base name; empty when there is none
/// beside the workload.
using ConfigLookup = std::function<std::vector<Setting>(const std::string& base_name)>;

/// What a launch is read from, besides the words.
struct LaunchSource {
  std::string name;
  std::string where;
  ConfigLookup lookup;  ///< may be empty
};

/// Whether a shell would look for a program of this name: letters or digits and what stands in paths and variables.
/// Words such as "," or "(x" come from a text that is no shell script.
[[nodiscard]] bool is_program_name(std::string_view word);

/// Every program that a command starts (wrappers looked through). Programs that neither serve nor train are included
/// with role other.
[[nodiscard]] std::vector<Launch> read_launches(PlainCommand command, const LaunchSource& source);

/// Whether settings of files are those of a trainer.
[[nodiscard]] bool settings_train(const std::vector<Setting>& settings);

}  // namespace sparkops::facts
