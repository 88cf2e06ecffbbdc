#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>

#include "base/text.h"
#include "base/version.h"
#include "commands/command.h"
#include "commands/documentation.h"
#include "commands/help_text.h"
#include "commands/output.h"

namespace sparkops::commands {

namespace {

const CommandSpec* find_command(std::string_view name) {
  const auto commands = all_commands();
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const CommandSpec& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

/// Registers one option so that its values land in `arguments` under its long name.
void add_option(CLI::App& app, const OptionSpec& option, Arguments& arguments) {
  const std::string name(option.name);
  auto store = [&arguments, name](const CLI::results_t& values) {
    auto& all = arguments.options[name];
    for (const std::string& value : values)
      if (!value.empty()) all.push_back(value);
    return true;
  };
  if (option.takes == OptionSpec::Takes::nothing) {
    app.add_flag_callback(name, [&arguments, name] { arguments.options[name].emplace_back(); });
    return;
  }
  CLI::Option* const added = app.add_option(name, std::function<bool(const CLI::results_t&)>(store));
  if (option.takes == OptionSpec::Takes::optional_value)
    added->expected(0, 1);
  else if (option.repeatable)
    added->expected(1)->take_all();
  else
    added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

int run_command(const CommandSpec& command, std::vector<std::string> words) {
  Arguments arguments;
  const auto separator = std::find(words.begin(), words.end(), "--");
  const bool has_separator = separator != words.end();
  if (has_separator) {
    arguments.command.assign(separator + 1, words.end());
    words.erase(separator, words.end());
  }
  if (has_separator && !command.takes_command)
    return static_cast<int>(fail_with(ExitCode::usage, std::string(command.name) + " takes no command after --"));
  if (has_separator && arguments.command.empty())
    return static_cast<int>(
        fail_with(ExitCode::usage, "nothing stands after --: name the command you are about to start"));

  CLI::App app;
  app.set_help_flag();
  bool help = false;
  app.add_flag("--help,-h", help);
  for (const OptionSpec& option : command.options) add_option(app, option, arguments);
  if (command.positional_max > 0)
    app.add_option("positional", arguments.positionals)->expected(0, static_cast<int>(command.positional_max));
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants it
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return static_cast<int>(fail_with(
        ExitCode::usage, std::string(error.what()) + " (see sparkops " + std::string(command.name) + " --help)"));
  }
  if (help) return static_cast<int>(write_output(command_help(command)));
  return static_cast<int>(command.run(arguments));
}

/// Commands whose name begins alike, for "did you mean".
std::string suggestion(std::string_view word) {
  for (const CommandSpec& command : all_commands())
    if (command.name.substr(0, 2) == word.substr(0, 2) || contains(command.name, word))
      return ": did you mean " + std::string(command.name) + "?";
  return "";
}

std::optional<std::string> documentation_text(std::string_view kind) {
  if (kind == "man") return man_page();
  if (kind == "bash") return bash_completion();
  if (kind == "zsh") return zsh_completion();
  if (kind == "fish") return fish_completion();
  return std::nullopt;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) return run_command(*find_command("status"), {});
  const std::string& first = words.front();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (first == "--help" || first == "-h" || (first == "help" && rest.empty()))
    return static_cast<int>(write_output(program_help()));
  if (first == "--version") return static_cast<int>(write_output("sparkops " + std::string(version()) + "\n"));
  if (first == "help") {
    const CommandSpec* const command = find_command(rest.front());
    if (command != nullptr) return static_cast<int>(write_output(command_help(*command)));
    return static_cast<int>(
        fail_with(ExitCode::usage, "no command " + printable(rest.front(), 64) + suggestion(rest.front())));
  }
  if (first == "documentation") {
    const auto text = rest.size() == 1 ? documentation_text(rest.front()) : std::nullopt;
    if (text) return static_cast<int>(write_output(*text));
    return static_cast<int>(fail_with(ExitCode::usage, "sparkops documentation man|bash|zsh|fish"));
  }
  if (const CommandSpec* const command = find_command(first)) return run_command(*command, rest);
  // Options alone belong to the status of the box: `sparkops --json`.
  if (first.starts_with('-')) return run_command(*find_command("status"), words);
  return static_cast<int>(fail_with(
      ExitCode::usage, "no command '" + printable(first, 64) + "'" + suggestion(first) + " (see sparkops --help)"));
}

}  // namespace

int run_program(int argument_count, const char* const* arguments) {
  try {
    return dispatch(std::vector<std::string>(arguments + std::min(argument_count, 1), arguments + argument_count));
  } catch (const std::exception& error) {
    return static_cast<int>(fail_with(ExitCode::could_not_find_out, std::string("internal error: ") + error.what()));
  }
}

}  // namespace sparkops::commands
