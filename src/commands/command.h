#pragma once

#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sparkops::commands {

/// Exit codes are a contract (docs/architecture.md).
enum class ExitCode : int {
  done = 0,          ///< done, ready, ready-with-warnings, fits
  answer_is_no = 1,  ///< blocked, does not fit; warnings too under --strict
  usage = 2,
  could_not_find_out = 3,
};

/// One option of a command. The same table feeds the parser, --help, the man page and the completions.
struct OptionSpec {
  enum class Takes { nothing, value, optional_value };
  std::string_view name;        ///< "--root"
  std::string_view value_name;  ///< "FILE|DIR"; empty for flags
  std::string_view help;        ///< one sentence, lower case, no full stop
  Takes takes = Takes::nothing;
  bool repeatable = false;
};

/// When a person reaches for a command; help and README group by it.
enum class Moment { any_time, before, during, after, always };

class Arguments;

/// One command.
struct CommandSpec {
  std::string_view name;
  Moment moment = Moment::always;
  bool shown_first = false;      ///< printed bold in --help
  std::string_view summary;      ///< one line
  std::string_view description;  ///< paragraphs for --help and the man page
  std::string_view positional;   ///< e.g. "[TOPIC]"; empty: none
  std::string_view positional_help;
  std::size_t positional_max = 0;
  bool takes_command = false;              ///< "-- CMD…"
  std::vector<OptionSpec> options;         ///< besides --help
  std::vector<std::string_view> examples;  ///< command lines without comment, e.g. "sparkops preflight --json"
  ExitCode (*run)(const Arguments&) = nullptr;
};

/// The parsed command line of one command.
class Arguments {
 public:
  std::map<std::string, std::vector<std::string>, std::less<>> options;  ///< "--only" → values; flags → one empty value
  std::vector<std::string> positionals;
  std::vector<std::string> command;  ///< after "--"

  [[nodiscard]] bool has(std::string_view name) const { return options.find(name) != options.end(); }
  /// The last value given, or `fallback`.
  [[nodiscard]] std::string value(std::string_view name, std::string_view fallback = "") const {
    const auto found = options.find(name);
    return found == options.end() || found->second.empty() ? std::string(fallback) : found->second.back();
  }
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const {
    const auto found = options.find(name);
    return found == options.end() ? std::vector<std::string>{} : found->second;
  }
};

/// Options that several commands share.
inline constexpr OptionSpec k_root_option{"--root", "FILE|DIR",
                                          "read this capture (*.machine or a tree) instead of this machine",
                                          OptionSpec::Takes::value, false};
inline constexpr OptionSpec k_json_option{"--json", "", "print JSON (see docs/schema/)", OptionSpec::Takes::nothing,
                                          false};
inline constexpr OptionSpec k_verbose_option{"--verbose", "", "show evidence with its origin, all fixes and sources",
                                             OptionSpec::Takes::nothing, false};

/// As many files as a shell can expand a pattern to.
inline constexpr std::size_t k_most_positionals = 1'000'000;

/// Every command of this program, in the order help shows them.
[[nodiscard]] std::span<const CommandSpec> all_commands();

/// One function per command file.
[[nodiscard]] CommandSpec status_command();
[[nodiscard]] CommandSpec preflight_command();
[[nodiscard]] CommandSpec memory_command();
[[nodiscard]] CommandSpec flush_command();
[[nodiscard]] CommandSpec plan_command();
[[nodiscard]] CommandSpec setup_command();
[[nodiscard]] CommandSpec explain_command();
[[nodiscard]] CommandSpec inspect_command();
[[nodiscard]] CommandSpec demo_command();
[[nodiscard]] CommandSpec capture_command();
[[nodiscard]] CommandSpec record_command();
[[nodiscard]] CommandSpec run_command();

/// `message` on stderr in the form "sparkops: <message>", and the code.
ExitCode fail_with(ExitCode code, std::string_view message);

/// The program: parses, runs one command, and gives back the exit code.
[[nodiscard]] int run_program(int argument_count, const char* const* arguments);

}  // namespace sparkops::commands
