#include "commands/documentation.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/version.h"
#include "commands/command.h"
#include "commands/help_text.h"

namespace sparkops::commands {

namespace {

/// One character beyond ASCII as roff names it: \[u2026].
std::string roff_character(std::string_view utf8) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(utf8[i])); };
  unsigned code = utf8.size() == 2 ? byte(0) & 0x1FU : utf8.size() == 3 ? byte(0) & 0x0FU : byte(0) & 0x07U;
  for (std::size_t i = 1; i < utf8.size(); ++i) code = (code << 6) | (byte(i) & 0x3FU);
  return fmt::format("\\[u{:04X}]", code);
}

/// Text as roff takes it literally: hyphens stay hyphens, a leading dot or quote is no request.
std::string roff(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0xC0) {
      const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      result += roff_character(text.substr(i, length));
      i += length - 1;
    } else if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  if (result.starts_with('.') || result.starts_with('\'')) result.insert(0, "\\&");
  return result;
}

std::string man_command(const CommandSpec& command) {
  std::string text = fmt::format(".SS {}\n.B {}\n.PP\n{}.\n.PP\n", roff(command.name), roff(usage_line(command)),
                                 roff(command.summary));
  for (const std::string_view line : split_lines(command.description))
    text += line.empty() ? ".PP\n" : roff(line) + "\n";
  for (const OptionSpec& option : command.options)
    text += fmt::format(".TP\n.B {}\n{}\n", roff(option_form(option)), roff(option.help));
  if (!command.examples.empty()) text += ".PP\n.B Examples\n";
  for (const std::string_view example : command.examples)
    text += fmt::format(".PP\n.RS\n.EX\n{}\n.EE\n.RE\n", roff(example));
  return text;
}

std::string names(char separator) {
  std::string text;
  for (const CommandSpec& command : all_commands())
    text += (text.empty() ? "" : std::string(1, separator)) + std::string(command.name);
  return text;
}

std::string option_names(const CommandSpec& command) {
  std::string text = "--help";
  for (const OptionSpec& option : command.options) text += " " + std::string(option.name);
  return text;
}

/// Text inside single quotes of a shell.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + result + "'";
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(".TH SPARKOPS 1 \"\" \"sparkops {}\" \"User Commands\"\n", version());
  text += ".SH NAME\nsparkops \\- operate ML jobs on the NVIDIA DGX Spark\n";
  text += ".SH SYNOPSIS\n.B sparkops\n[COMMAND] [OPTIONS]\n";
  text +=
      ".SH DESCRIPTION\nPrevents, watches and explains what goes wrong with multi\\-hour ML jobs on an NVIDIA DGX "
      "Spark or an "
      "OEM twin (GB10). Without a command it prints the status of the box.\n.SH COMMANDS\n";
  for (const CommandSpec& command : all_commands()) text += man_command(command);
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\ndone, ready, or ready with warnings\n.TP\n.B 1\nthe answer is no (blocked; warnings "
      "too under "
      "\\-\\-strict)\n.TP\n.B 2\nusage or input error\n.TP\n.B 3\ncould not find out\n";
  text +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour on a terminal\n.TP\n.B SPARKOPS_KNOWLEDGE\na directory whose YAML "
      "files "
      "override what is known about the platform\n";
  text += ".SH FILES\n.TP\n.I /etc/sparkops/knowledge/\noverrides for every user of the machine\n";
  return text;
}

std::string bash_completion() {
  std::string text =
      "# bash completion for sparkops\n_sparkops() {\n  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
      "  local previous=${COMP_WORDS[COMP_CWORD-1]}\n";
  text += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n    "
      "return\n  fi\n",
      names(' '));
  text +=
      "  case $previous in\n    --root|--workload|--playbook|--report) COMPREPLY=($(compgen -f -- \"$word\")); return "
      ";;\n  esac\n";
  text += "  case $command in\n";
  for (const CommandSpec& command : all_commands())
    text +=
        fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", command.name, option_names(command));
  return text +
         "  esac\n  [ \"${#COMPREPLY[@]}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n}\ncomplete -o filenames "
         "-F _sparkops sparkops\n";
}

std::string zsh_completion() {
  std::string text = "#compdef sparkops\n_sparkops() {\n  local -a commands\n  commands=(\n";
  for (const CommandSpec& command : all_commands())
    text += fmt::format("    {}\n", quoted(fmt::format("{}:{}", command.name, command.summary)));
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n";
  for (const CommandSpec& command : all_commands()) {
    text += fmt::format("    {}) _arguments", command.name);
    for (const OptionSpec& option : command.options) {
      const bool takes_value = option.takes != OptionSpec::Takes::nothing;
      text += " " + quoted(fmt::format("{}[{}]{}", option.name, option.help,
                                       takes_value ? fmt::format(":{}:_files", option.value_name) : ""));
    }
    text += " '*:file:_files' ;;\n";
  }
  return text + "  esac\n}\n_sparkops \"$@\"\n";
}

std::string fish_completion() {
  std::string text = "# fish completion for sparkops\n";
  for (const CommandSpec& command : all_commands()) {
    text += fmt::format("complete -c sparkops -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        quoted(command.summary));
    for (const OptionSpec& option : command.options)
      text += fmt::format("complete -c sparkops -n '__fish_seen_subcommand_from {}' -l {} {}-d {}\n", command.name,
                          option.name.substr(2), option.takes == OptionSpec::Takes::nothing ? "" : "-r ",
                          quoted(option.help));
  }
  return text;
}

}  // namespace sparkops::commands
