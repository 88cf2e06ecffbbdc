#include "views/setup.h"

#include <unistd.h>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "commands/software_source.h"
#include "facts/machine/identity.h"
#include "verdicts/platform.h"
#include "verdicts/software/setup_recipe.h"

namespace sparkops::commands {

namespace {

std::string known_words(const knowledge::Tables& tables) {
  std::vector<std::string> words;
  for (const auto& recipe : tables.recipes()) words.push_back(recipe.id);
  return join(words, ", ");
}

/// The box in one line, from files alone: setup needs no answer of the driver.
std::string describe_box(const Root& root) {
  facts::Machine machine;
  machine.identity = as_read(facts::read_identity(root));
  machine.gpus = unknown("not asked");
  return verdicts::judge_platform(machine).headline;
}

std::string environment_words(const facts::Software& software) {
  const facts::PythonEnvironment* const environment = software.environment();
  return environment == nullptr ? "" : environment->prefix + ", " + environment->found_by;
}

ExitCode code_of(const views::SetupSubject& subject) {
  if (!subject.compares) return ExitCode::done;
  if (!subject.matches) return ExitCode::could_not_find_out;
  return *subject.matches ? ExitCode::done : ExitCode::answer_is_no;
}

ExitCode run_setup(const Arguments& arguments) {
  const auto root = root_from(arguments);
  if (!root) return report_error(root.error());
  const knowledge::Tables tables;
  const knowledge::Recipe* const known = verdicts::find_recipe(tables, arguments.value("--for"));
  if (known == nullptr)
    return fail_with(ExitCode::usage, "--for: no recipe for '" + printable(arguments.value("--for"), 60) +
                                          "'; there are " + known_words(tables));
  const auto source = software_source_from(arguments, *root);
  if (!source) return report_error(source.error());

  views::SetupSubject subject{.box = describe_box(*root),
                              .compares = arguments.has("--check") || source->was_named(),
                              .environment = "",
                              .matches = {}};
  SoftwareReading reading;
  if (subject.compares) {
    reading = finish_reading(start_reading(*source, *root));
    subject.environment = environment_words(reading.software);
  }
  const auto recipe =
      verdicts::make_setup_recipe(*known, tables, subject.compares ? &reading.software : nullptr, Timestamp::now());
  if (subject.compares) subject.matches = verdicts::matches_recipe(recipe, reading.software);
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);
  const ExitCode written = write_output(
      arguments.has("--json") ? views::setup_json(recipe, subject)
                              : views::setup_text(recipe, subject, views::style_for_descriptor(STDOUT_FILENO)));
  return written == ExitCode::done ? code_of(subject) : written;
}

}  // namespace

CommandSpec setup_command() {
  return {
      .name = "setup",
      .moment = Moment::before,
      .shown_first = false,
      .summary = "prints the right environment recipe for this box: container first, then bare pip; changes nothing",
      .description =
          "Commands to paste, from what is known to work together, each with its date: the image with its flags and "
          "how to "
          "pin its digest; without a container the order for pip, with --no-deps where something would replace torch.\n"
          "\n"
          "With --check the environment at hand (or the one that --env, --python, --pid, --container or --packages "
          "name) is "
          "compared with it: exit 0 when everything is there, 1 when it differs, 3 when that cannot be told.",
      .positional = "",
      .positional_help = "",
      .positional_max = 0,
      .takes_command = false,
      .options = {{"--for", "WORK", "unsloth, trl, vllm, sglang or pytorch (default)", OptionSpec::Takes::value, false},
                  {"--check", "", "compare the environment at hand with the recipe", OptionSpec::Takes::nothing, false},
                  k_env_option,
                  k_python_option,
                  k_pid_option,
                  k_container_option,
                  k_packages_option,
                  k_root_option,
                  k_json_option},
      .examples = {"sparkops setup", "sparkops setup --for unsloth", "sparkops setup --for trl --check --env ~/venv"},
      .run = run_setup,
  };
}

}  // namespace sparkops::commands
