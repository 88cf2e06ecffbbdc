#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "commands/command.h"
#include "commands/embedded_machines.h"
#include "commands/output.h"
#include "commands/software_source.h"
#include "facts/machine/machine.h"
#include "knowledge/tables.h"
#include "store/json_form.h"
#include "verdicts/memory/picture.h"
#include "verdicts/preflight.h"
#include "views/memory.h"
#include "views/preflight_json.h"
#include "views/preflight_text.h"

namespace sparkops::commands {

namespace {

using store::Json;

constexpr std::size_t k_width = 80;
constexpr int k_indent = 2;

/// The first comment of a capture.
std::string story_of(const EmbeddedMachine& machine) {
  for (const std::string_view line : split_lines(machine.content.substr(0, 1024)))
    if (line.starts_with("# ")) return std::string(line.substr(2));
  return "";
}

/// What both screens are made of.
struct Recorded {
  std::string name, story;
  facts::Machine machine;
  verdicts::PreflightResult preflight;
  verdicts::MemoryPicture memory;
};

Result<Recorded> look_at(const EmbeddedMachine& embedded, const knowledge::Tables& tables) {
  Recorded recorded;
  recorded.name = embedded.name;
  recorded.story = story_of(embedded);
  auto backend = parse_archive_root(std::string(embedded.content), recorded.name + ".machine");
  if (!backend) return tl::unexpected(backend.error());
  facts::MachineReadOptions options;
  options.memory_picture = true;
  const Root root(std::move(*backend));
  const auto reading = start_reading(SoftwareSource{}, root);
  recorded.machine = facts::read_machine(root, options);
  const SoftwareReading installed = finish_reading(reading);
  // The age of what is known is told as of the day of the recording: the same answer on every day.
  const verdicts::PreflightFacts facts{.machine = recorded.machine,
                                       .knowledge = tables,
                                       .now = recorded.machine.taken ? *recorded.machine.taken : Timestamp::now(),
                                       .software = &installed.software,
                                       .native_code = &installed.native_code};
  recorded.preflight = verdicts::run_preflight(facts, {});
  recorded.memory = verdicts::picture_memory(recorded.machine, tables, verdicts::k_default_reserve);
  return recorded;
}

/// On every screen, so that no screenshot of it is ever taken for a reading.
std::string heading(const Recorded& recorded, std::string_view command, const views::TextStyle& style) {
  const std::string mark = "RECORDED example, not this machine";
  return views::colored(mark, views::Color::yellow, style) + "\n" +
         views::wrap("  ", recorded.name + ": " + recorded.story, k_width) + "\n\n" + fmt::format("$ {}\n", command);
}

std::string screens(const Recorded& recorded, const Arguments& arguments) {
  const views::TextStyle style = views::style_for_descriptor(STDOUT_FILENO);
  const auto detail = arguments.has("--verbose") ? views::Detail::verbose : views::Detail::brief;
  const views::MemorySubject subject{recorded.name, true, nullptr, {}};
  return heading(recorded, "sparkops preflight", style) + views::preflight_text(recorded.preflight, detail, style) +
         "\n" + heading(recorded, "sparkops memory", style) +
         views::memory_text(recorded.memory, subject, detail, style);
}

std::string screens_json(const Recorded& recorded) {
  Json json = {{"schema", "sparkops.demo/1"}, {"recorded", true}, {"name", recorded.name}, {"story", recorded.story}};
  const views::PreflightSubject preflight{recorded.name, recorded.machine.taken, false, ""};
  const views::MemorySubject memory{recorded.name, true, nullptr, {}};
  json["preflight"] = Json::parse(views::preflight_json(recorded.preflight, preflight));
  json["memory"] = Json::parse(views::memory_json(recorded.memory, memory));
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string list(const std::vector<EmbeddedMachine>& machines) {
  constexpr std::size_t k_name_columns = 30;
  std::string text =
      "Recorded machines. None of them is this one; `sparkops demo NAME` shows preflight and memory on it.\n\n";
  text = views::wrap("", trim(text), k_width) + "\n\n";
  for (const EmbeddedMachine& machine : machines) {
    const std::string name = fmt::format("  {:<{}} ", machine.name, k_name_columns);
    // The deepest indentation of wrapped text is less than the column of names.
    const std::string story = views::wrap("", story_of(machine), k_width - name.size());
    bool first = true;
    for (const std::string_view line : split_lines(story)) {
      text += (first ? name : std::string(name.size(), ' ')) + std::string(line) + "\n";
      first = false;
    }
  }
  return text;
}

std::string list_json(const std::vector<EmbeddedMachine>& machines) {
  Json json = {{"schema", "sparkops.demo/1"}, {"recorded", true}, {"machines", Json::array()}};
  for (const EmbeddedMachine& machine : machines)
    json["machines"].push_back({{"name", machine.name}, {"story", story_of(machine)}});
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// By its name, or by a part that only one name has: "wedged".
Result<EmbeddedMachine> find_machine(const std::vector<EmbeddedMachine>& machines, const std::string& word) {
  std::vector<EmbeddedMachine> matches;
  for (const EmbeddedMachine& machine : machines) {
    if (machine.name == word) return machine;
    if (!word.empty() && contains(machine.name, word)) matches.push_back(machine);
  }
  if (matches.size() == 1) return matches.front();
  std::vector<std::string> names;
  for (const EmbeddedMachine& machine : matches.empty() ? machines : matches) names.emplace_back(machine.name);
  return failure(ErrorKind::usage,
                 fmt::format("demo: {} '{}': {}", matches.empty() ? "no recorded machine" : "more than one",
                             printable(word, 64), join(names, ", ")));
}

ExitCode run_demo(const Arguments& arguments) {
  const auto machines = embedded_machines();
  const bool json = arguments.has("--json");
  if (arguments.positionals.empty()) return write_output(json ? list_json(machines) : list(machines));
  const auto machine = find_machine(machines, arguments.positionals.front());
  if (!machine) return fail_with(ExitCode::usage, machine.error().message);
  const knowledge::Tables tables;
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);
  const auto recorded = look_at(*machine, tables);
  if (!recorded) return fail_with(ExitCode::could_not_find_out, recorded.error().message);
  return write_output(json ? screens_json(*recorded) : screens(*recorded, arguments));
}

}  // namespace

CommandSpec demo_command() {
  return {
      .name = "demo",
      .moment = Moment::always,
      .shown_first = false,
      .summary = "what it says on recorded machines, healthy and broken; works anywhere",
      .description =
          "Lists recorded machines with a story each; with NAME (or a part of one) shows preflight and memory on "
          "it. Everything it shows is marked RECORDED. Reads nothing of this machine.",
      .positional = "[NAME]",
      .positional_help = "one of the recorded machines",
      .positional_max = 1,
      .takes_command = false,
      .options = {k_json_option, k_verbose_option},
      .examples = {"sparkops demo", "sparkops demo spark-wedged"},
      .run = run_demo,
  };
}

}  // namespace sparkops::commands
