#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sparkops::facts {

/// NAME=value, NAME=( … ), NAME+=…, with or without export.
struct ShellAssignment {
  std::string name;
  std::vector<std::string> words;  ///< one for a plain value, any number for an array
  bool is_array = false;
  bool exported = false;
  int line = 0;
};

/// One simple command with the assignments before it.
struct ShellCommand {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> words;
  int line = 0;
  bool in_background = false;  ///< ends in &
  bool conditional = false;    ///< inside if or case: one of several alternatives
};

struct ShellScript {
  std::vector<ShellAssignment> assignments;  ///< in the order of the file, a later one may repeat a name
  std::vector<ShellCommand> commands;
  std::vector<std::pair<std::string, int>> scheduler_directives;  ///< "--nodes=2" of a line "#SBATCH --nodes=2", line
};

enum class ShellForm {
  script,
  environment_file,  ///< NAME=value lines as docker and systemd read them: an unquoted value goes to the end of the
                     ///< line
};

/// Variables known before the text starts (of an env file beside it).
using ShellVariables = std::vector<std::pair<std::string, std::string>>;

/// All expansions of one text together; variables that double themselves end here.
inline constexpr std::size_t k_max_shell_expansion = std::size_t{8} << 20;  ///< bytes

/// More than a person writes into one script.
inline constexpr std::size_t k_max_shell_assignments = 2'000;
inline constexpr std::size_t k_max_shell_commands = 10'000;

/// Reads assignments and commands of a shell text without running anything: quotes, continuations, comments, arrays,
/// here-documents (skipped), lists and pipelines. $NAME, ${NAME}, ${NAME:-default} and ${NAME[@]} are replaced where
/// the text itself gave the value before; everything else that a shell would expand stays as written. Errors: malformed
/// for a quote that never ends, for expansions without end, and past the limits above.
[[nodiscard]] Result<ShellScript> parse_shell(std::string_view text, ShellForm form = ShellForm::script,
                                              const ShellVariables& known = {});

/// The words of one command line as a shell would split them; the whole text as one word when its quotes do not match.
[[nodiscard]] std::vector<std::string> split_command(std::string_view text);

/// `text` with $NAME, ${NAME} and ${NAME:-default} replaced from `variables` as compose does ($$ is a dollar sign).
[[nodiscard]] std::string interpolate(std::string_view text, const ShellVariables& variables);

}  // namespace sparkops::facts
