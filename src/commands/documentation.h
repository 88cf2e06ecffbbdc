#pragma once

#include <string>

namespace sparkops::commands {

/// The man page sparkops(1), in man's own macro language.
[[nodiscard]] std::string man_page();

/// Completion scripts, one for each shell.
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace sparkops::commands
