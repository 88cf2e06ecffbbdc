#pragma once

#include <string>

#include "commands/command.h"

namespace sparkops::commands {

/// `sparkops --help`: every command by the moment a person reaches for it.
[[nodiscard]] std::string program_help();

/// `sparkops COMMAND --help`.
[[nodiscard]] std::string command_help(const CommandSpec& command);

/// "sparkops preflight [OPTIONS] [-- CMD…]"
[[nodiscard]] std::string usage_line(const CommandSpec& command);

/// "--report [FILE]"
[[nodiscard]] std::string option_form(const OptionSpec& option);

/// A heading for each moment: "Before a run".
[[nodiscard]] std::string_view heading_of(Moment moment);

}  // namespace sparkops::commands
