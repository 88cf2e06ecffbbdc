#include "commands/help_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/text.h"
#include "views/text_layout.h"

namespace sparkops::commands {

namespace {

constexpr std::size_t k_width = 80;
constexpr std::size_t k_name_column = 12;
constexpr std::array<Moment, 5> k_moments{Moment::any_time, Moment::before, Moment::during, Moment::after,
                                          Moment::always};

std::string paragraphs(std::string_view text) {
  std::string result;
  for (const std::string_view line : split_lines(text)) result += views::wrap("", line, k_width) + "\n";
  return result;
}

std::string exit_codes() {
  return "Exit codes: 0 done or ready · 1 the answer is no · 2 usage · 3 could not find out\n";
}

}  // namespace

std::string_view heading_of(Moment moment) {
  switch (moment) {
    case Moment::any_time: return "Any time";
    case Moment::before: return "Before a run";
    case Moment::during: return "During a run";
    case Moment::after: return "After a run";
    case Moment::always: return "Always";
  }
  return "Always";
}

std::string option_form(const OptionSpec& option) {
  switch (option.takes) {
    case OptionSpec::Takes::nothing: return std::string(option.name);
    case OptionSpec::Takes::value: return fmt::format("{} {}", option.name, option.value_name);
    case OptionSpec::Takes::optional_value: return fmt::format("{} [{}]", option.name, option.value_name);
  }
  return std::string(option.name);
}

std::string usage_line(const CommandSpec& command) {
  std::string line = fmt::format("sparkops {}", command.name);
  if (!command.options.empty()) line += " [OPTIONS]";
  if (!command.positional.empty()) line += fmt::format(" {}", command.positional);
  if (command.takes_command) line += " [-- CMD…]";
  return line;
}

std::string program_help() {
  const views::TextStyle style = views::style_for_descriptor(STDOUT_FILENO);
  std::string text =
      "sparkops: prevents, watches and explains failing ML jobs on the NVIDIA DGX Spark\n\n"
      "Usage: sparkops COMMAND [OPTIONS]\n";
  for (const Moment moment : k_moments) {
    std::string rows;
    for (const bool first : {true, false}) {
      for (const CommandSpec& command : all_commands()) {
        if (command.moment != moment || command.shown_first != first) continue;
        const std::string name = fmt::format("{:<{}}", command.name, k_name_column);
        const std::string row = views::wrap("  " + name, command.summary, k_width);
        rows += "  " + views::colored(name, first ? views::Color::bold : views::Color::plain, style) +
                row.substr(2 + name.size()) + "\n";
      }
    }
    if (!rows.empty()) text += fmt::format("\n{}\n{}", heading_of(moment), rows);
  }
  text +=
      "\nOptions of every command\n"
      "  --help            what it does, its options, examples\n"
      "  --json            JSON instead of text\n"
      "  --root FILE|DIR   look at a capture instead of this machine (status, memory, preflight, capture)\n"
      "  --version         the version of this program\n";
  return text + "\n`sparkops COMMAND --help` tells more, with an example. Without a command: status.\n" + exit_codes();
}

std::string command_help(const CommandSpec& command) {
  std::string text =
      fmt::format("{}\n\nUsage: {}\n\n{}", command.summary, usage_line(command), paragraphs(command.description));
  if (!command.positional.empty())
    text += "\n" + views::wrap(fmt::format("  {}  ", command.positional), command.positional_help, k_width) + "\n";
  if (command.takes_command) {
    // Of the commands that look at work only one starts it.
    const char* const what =
        command.name == "run" ? "the job" : "the command you are about to start; it is read, not run";
    text += "\n" + views::wrap("  -- CMD…  ", what, k_width) + "\n";
  }
  text += "\nOptions\n";
  for (const OptionSpec& option : command.options) {
    text += "  " + option_form(option) + "\n";
    text += views::wrap("      ", option.help, k_width) + "\n";
  }
  text += "  --help\n      show this text\n";
  if (!command.examples.empty()) {
    text += "\nExamples\n";
    for (const std::string_view example : command.examples) text += fmt::format("  {}\n", example);
  }
  return text + "\n" + exit_codes();
}

}  // namespace sparkops::commands
