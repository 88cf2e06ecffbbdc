#include <array>

#include "commands/command.h"

namespace sparkops::commands {

std::span<const CommandSpec> all_commands() {
  static const std::array k_commands{status_command(),  memory_command(),  preflight_command(), plan_command(),
                                     setup_command(),   flush_command(),   run_command(),       record_command(),
                                     explain_command(), inspect_command(), demo_command(),      capture_command()};
  return k_commands;
}

}  // namespace sparkops::commands
