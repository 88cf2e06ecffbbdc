#include "facts/workload/launch_reader.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/text.h"
#include "facts/workload/options.h"
#include "facts/workload/parallelism.h"
#include "facts/workload/program_kind.h"
#include "facts/workload/quantization.h"
#include "facts/workload/server_cap.h"

namespace sparkops::facts {

namespace {

/// Options as settings under the name they were written with, dashes included.
std::vector<Setting> settings_of(const CommandOptions& options, const std::string& where) {
  std::vector<Setting> settings;
  for (const CommandOption& option : options.options) {
    const std::size_t end = option.written.find_first_of("= ");
    settings.push_back({option.written.substr(0, end), option.value, where});
  }
  return settings;
}

bool is_config_name(std::string_view word) {
  const std::string name = to_lower(word);
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json") || name.ends_with(".toml");
}

/// Files that hold data, or that the program writes.
bool names_data(const std::string& option) {
  for (const std::string_view part : {"data", "output", "save", "log", "prompt", "template", "report"})
    if (contains(option, part)) return true;
  return false;
}

/// The settings of every configuration file that the words name.
void append_named_configs(const CommandOptions& options, const ConfigLookup& lookup, std::vector<Setting>& settings) {
  if (!lookup) return;
  std::vector<std::string> names;
  std::vector<std::string> data;
  for (const CommandOption& option : options.options)
    if (is_config_name(option.value)) (names_data(option.name) ? data : names).push_back(base_name(option.value));
  for (const std::string& word : options.positionals)
    if (is_config_name(word)) names.push_back(base_name(word));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    if (std::find(data.begin(), data.end(), name) != data.end()) continue;
    const std::vector<Setting> found = lookup(name);
    settings.insert(settings.end(), found.begin(), found.end());
  }
}

Known<std::string> read_model(const Launch& launch, std::span<const std::string> arguments) {
  const bool positional_model =
      launch.server && (*launch.server == ServerKind::vllm || *launch.server == ServerKind::tensorrt_llm);
  std::size_t first = 0;
  if (positional_model && !arguments.empty() && arguments.front() == "serve") first = 1;
  if (positional_model && first < arguments.size() && !arguments[first].starts_with('-'))
    return as_read(std::string(arguments[first]));
  constexpr std::array<std::string_view, 12> k_model_names = {
      "model",      "model_path", "model_name_or_path",
      "model_name", "model_id",   "base_model",
      "m",          "hf_repo",    "hf",
      "hf_model",   "model_repo", "pretrained_model_name_or_path"};
  for (const std::vector<Setting>* settings : {&launch.settings, &launch.environment})
    if (const Setting* const setting = find_setting(*settings, k_model_names);
        setting != nullptr && !setting->value.empty())
      return as_read(std::string(setting->value));
  return unknown("the command names no model");
}

/// accelerate and deepspeed are data parallel unless a setting says otherwise; torchrun alone says nothing about what
/// its script does.
void add_launcher_kind(const PlainCommand& command, Parallelism& parallelism) {
  if (!parallelism.data_parallel_kinds.empty()) return;
  constexpr std::size_t k_program_words = 3;  // python -m accelerate.commands.launch
  for (std::size_t i = 0; i < std::min(k_program_words, command.words.size()); ++i) {
    const std::string name = base_name(command.words[i]);
    for (const std::string_view launcher : {"accelerate", "deepspeed"})
      if (name == launcher || name.starts_with(std::string(launcher) + "."))
        return parallelism.data_parallel_kinds.push_back(std::string(launcher));
  }
}

/// The settings that say something about parallelism: wrappers, options and files, then the environment.
Parallelism launch_parallelism(const Launch& launch, const PlainCommand& command, bool starts_one_node) {
  std::vector<Setting> all = command.wrapper_settings;
  all.insert(all.end(), launch.settings.begin(), launch.settings.end());
  all.insert(all.end(), launch.environment.begin(), launch.environment.end());
  Parallelism parallelism = read_parallelism(all);
  if (launch.role == LaunchRole::server) {
    const Known<int>& generation = parallelism.tensor_of_generation;
    if (!parallelism.tensor && (generation || is_unreadable(generation))) parallelism.tensor = generation;
    parallelism.tensor_of_generation = {};
  }
  const bool nodes_are_unset = !parallelism.nodes && parallelism.nodes.reason() == Known<int>().reason();
  if (starts_one_node && nodes_are_unset && command.wrapper_settings.empty()) parallelism.nodes = as_default(1);
  add_launcher_kind(command, parallelism);
  return parallelism;
}

Launch launch_of(const PlainCommand& command, const LaunchSource& source) {
  Launch launch;
  launch.name = source.name.empty() ? command.container_name : source.name;
  launch.where = source.where;
  launch.order = command.order;
  launch.command = command.words;
  launch.environment = command.environment;
  launch.container_limits = command.container_limits;
  launch.image = command.image;
  const Program program = identify_program(command.words, command.image);
  launch.role = program.role;
  launch.server = program.server;
  if (launch.name.empty()) launch.name = program.name;
  if (source.lookup)
    for (const std::string& file : command.environment_files)
      for (const Setting& setting : source.lookup(base_name(file))) launch.environment.push_back(setting);

  const std::size_t at = std::min(program.arguments_at, command.words.size());
  const std::span<const std::string> arguments = std::span(command.words).subspan(at);
  const CommandOptions options = parse_options(arguments);
  launch.settings = settings_of(options, source.where);
  append_named_configs(options, source.lookup, launch.settings);
  const bool names_a_program = command.words.empty() || is_program_name(command.words.front());
  if (launch.role == LaunchRole::other && names_a_program && settings_train(launch.settings))
    launch.role = LaunchRole::trainer;
  launch.model = read_model(launch, arguments);
  launch.quantization = read_quantization(launch.settings, launch.model);
  if (launch.server) launch.cap = read_server_cap(*launch.server, launch.settings, launch.environment);
  launch.parallelism = launch_parallelism(launch, command, program.starts_one_node);
  return launch;
}

}  // namespace

bool is_program_name(std::string_view word) {
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
  };
  constexpr std::string_view k_others = "_-./+:@%~${}[]";
  const bool plausible = std::all_of(word.begin(), word.end(), [&](char c) {
    return is_letter_or_digit(c) || k_others.find(c) != std::string_view::npos;
  });
  const bool builtin = word == "." || word == ":" || word == "[" || word == "[[";
  return builtin || (plausible && std::any_of(word.begin(), word.end(), is_letter_or_digit));
}

std::vector<Launch> read_launches(PlainCommand command, const LaunchSource& source) {
  for (Setting& setting : command.environment)
    if (setting.where.empty()) setting.where = source.where;
  std::vector<Launch> launches;
  for (const PlainCommand& plain : unwrap_command(std::move(command))) launches.push_back(launch_of(plain, source));
  return launches;
}

bool settings_train(const std::vector<Setting>& settings) {
  return std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
    const std::string canonical = canonical_key(setting.key);
    return is_training_key(last_part(canonical)) || contains(canonical, "zero_optimization") ||
           contains(canonical, "fsdp_config");
  });
}

Launch read_launch(const std::vector<std::string>& command, const std::vector<Setting>& environment) {
  PlainCommand plain;
  plain.words = command;
  plain.environment = environment;
  plain.image = unknown("no image is named");
  const std::vector<Launch> launches = read_launches(std::move(plain), {"", "command line", {}});
  const auto telling = std::find_if(launches.begin(), launches.end(),
                                    [](const Launch& launch) { return launch.role != LaunchRole::other; });
  if (telling != launches.end()) return *telling;
  return launches.empty() ? Launch{} : launches.front();
}

std::string_view to_string(ServerKind kind) {
  switch (kind) {
    case ServerKind::vllm: return "vllm";
    case ServerKind::sglang: return "sglang";
    case ServerKind::tensorrt_llm: return "tensorrt_llm";
    case ServerKind::ollama: return "ollama";
    case ServerKind::llama_cpp: return "llama_cpp";
    case ServerKind::lm_studio: return "lm_studio";
    case ServerKind::tgi: return "tgi";
    case ServerKind::comfyui: return "comfyui";
    case ServerKind::triton_server: return "triton_server";
  }
  return "vllm";
}

}  // namespace sparkops::facts
