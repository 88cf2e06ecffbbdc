#include <array>

#include "commands/command.h"

namespace sparkops::commands {

std::span<const CommandSpec> all_commands() {
  static const std::array<CommandSpec, 4> k_commands{status_command(), preflight_command(), explain_command(),
                                                     capture_command()};
  return k_commands;
}

}  // namespace sparkops::commands
