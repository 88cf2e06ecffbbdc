#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
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
#include "knowledge/tables.h"
#include "views/reference_markdown.h"

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
    added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

/// An option with an empty value (`--root ''`) was given nothing.
std::string missing_value(const CommandSpec& command, const Arguments& arguments) {
  for (const OptionSpec& option : command.options)
    if (option.takes == OptionSpec::Takes::value && arguments.has(option.name) && arguments.values(option.name).empty())
      return std::string(option.name) + " needs " + std::string(option.value_name);
  return "";
}

/// The option whose name is nearest to a mistyped one: same letters at the start.
std::string nearest_option(const CommandSpec& command, std::string_view word) {
  constexpr std::size_t k_same_start = 4;  // "--wo"
  for (const OptionSpec& option : command.options)
    if (option.name.substr(0, k_same_start) == word.substr(0, k_same_start))
      return ": did you mean " + std::string(option.name) + "?";
  return "";
}

/// What is wrong with a command line, in words of this program rather than of its parser.
std::string parse_error_text(const CommandSpec& command, const std::vector<std::string>& words,
                             const std::string& what) {
  for (const std::string& word : words) {
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    const auto known = std::find_if(command.options.begin(), command.options.end(),
                                    [&](const OptionSpec& option) { return option.name == name; });
    if (known == command.options.end() && name != "--help")
      return "no option " + printable(name, 64) + nearest_option(command, name);
    if (known != command.options.end() && known->takes == OptionSpec::Takes::value && word == words.back() &&
        word == name)
      return name + " needs " + std::string(known->value_name);
    if (known != command.options.end() && !known->repeatable && known->takes == OptionSpec::Takes::value &&
        std::count(words.begin(), words.end(), name) > 1)
      return name + " is given twice: give it once";
  }
  if (command.positional_max == 0)
    for (const std::string& word : words)
      if (!word.empty() && std::toupper(static_cast<unsigned char>(word[0])) == 'G' && parse_integer(word.substr(1)))
        return "to look at one gotcha only: sparkops " + std::string(command.name) + " --only " + printable(word, 8);
  return what;
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
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants it
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return static_cast<int>(fail_with(ExitCode::usage, parse_error_text(command, words, error.what()) +
                                                           " (see sparkops " + std::string(command.name) + " --help)"));
  }
  if (help) return static_cast<int>(write_output(command_help(command)));
  if (const std::string wrong = missing_value(command, arguments); !wrong.empty())
    return static_cast<int>(fail_with(ExitCode::usage, wrong));
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
  // Without overrides: the same text on every machine.
  const knowledge::Tables tables(std::vector<std::string>{});
  for (const views::ReferencePage& page : views::reference_pages())
    if (page.name == kind) return views::reference_markdown(tables, page);
  return std::nullopt;
}

std::string documentation_kinds() {
  std::string kinds = "man|bash|zsh|fish";
  for (const views::ReferencePage& page : views::reference_pages()) kinds += "|" + std::string(page.name);
  return kinds;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) return run_command(*find_command("status"), {});
  const std::string& first = words.front();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (first == "--help" || first == "-h" || (first == "help" && rest.empty()))
    return static_cast<int>(write_output(program_help()));
  if (first == "--version" || first == "-V")
    return static_cast<int>(write_output("sparkops " + std::string(version()) + "\n"));
  if (first == "help") {
    const CommandSpec* const command = find_command(rest.front());
    if (command != nullptr) return static_cast<int>(write_output(command_help(*command)));
    return static_cast<int>(fail_with(ExitCode::usage, "no command '" + printable(rest.front(), 64) + "'" +
                                                           suggestion(rest.front()) + " (see sparkops --help)"));
  }
  if (first == "documentation") {
    const auto text = rest.size() == 1 ? documentation_text(rest.front()) : std::nullopt;
    if (text) return static_cast<int>(write_output(*text));
    return static_cast<int>(fail_with(ExitCode::usage, "usage: sparkops documentation " + documentation_kinds()));
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
