#pragma once

#include <string_view>

#include "commands/command.h"

namespace sparkops::commands {

/// Writes an answer to stdout. could_not_find_out (with a message on stderr) when it cannot be written, so that a full
/// disk behind a redirection is never taken for a success; a reader that went away (`| head`) is no failure.
[[nodiscard]] ExitCode write_output(std::string_view text);

}  // namespace sparkops::commands
