#include "facts/workload/script_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "facts/workload/options.h"
#include "facts/workload/parallelism.h"
#include "facts/workload/program_kind.h"
#include "facts/workload/quantization.h"
#include "facts/workload/server_cap.h"

namespace sparkops::facts {

namespace {

std::string place(const std::string& file, int line) {
  return file + ":" + std::to_string(line);
}

std::vector<Setting> directive_settings(const ShellScript& script, const std::string& file) {
  std::vector<Setting> settings;
  for (const auto& [directive, line] : script.scheduler_directives) {
    std::vector<std::string> words = split_command(directive);
    for (const CommandOption& option : parse_options(words).options)
      settings.push_back({option.name == "N" ? "num_nodes" : option.name, option.value, place(file, line)});
  }
  return settings;
}

/// Where reading one script stops; the workload says that programs were left out.
constexpr std::size_t k_max_launches = 500;

bool is_worth_keeping(const Launch& launch) {
  return launch.role != LaunchRole::other || !launch.parallelism.evidence.empty();
}

std::vector<Launch> command_launches(const ShellScript& script, const std::string& file, const ConfigLookup& lookup) {
  std::vector<Setting> exported;
  for (const ShellAssignment& assignment : script.assignments)
    if (assignment.exported)
      exported.push_back({assignment.name, join(assignment.words, " "), place(file, assignment.line)});
  const std::vector<Setting> directives = directive_settings(script, file);

  std::vector<Launch> launches;
  for (const ShellCommand& command : script.commands) {
    if (launches.size() > k_max_launches) break;
    if (!command.words.empty() && !is_program_name(command.words.front())) continue;
    PlainCommand plain;
    plain.words = command.words;
    plain.environment = exported;
    plain.wrapper_settings = directives;
    plain.image = unknown("no image is named");
    for (const auto& [name, value] : command.environment)
      plain.environment.push_back({name, value, place(file, command.line)});
    const bool alone = !command.in_background || command.conditional;
    plain.order = alone ? LaunchOrder::in_turn : LaunchOrder::together;
    for (Launch& launch : read_launches(std::move(plain), {"", place(file, command.line), lookup})) {
      if (command.conditional) launch.order = LaunchOrder::in_turn;
      if (is_worth_keeping(launch)) launches.push_back(std::move(launch));
    }
  }
  return launches;
}

bool holds_arguments(const ShellAssignment& assignment) {
  if (assignment.is_array)
    return std::any_of(assignment.words.begin(), assignment.words.end(),
                       [](const std::string& word) { return word.starts_with("--"); });
  return !assignment.words.empty() && assignment.words.front().starts_with("--");
}

/// The server that a recipe's variable names or images point at.
Known<ServerKind> server_of_assignments(const std::vector<Setting>& settings) {
  CommandOptions names;
  for (const Setting& setting : settings) names.options.push_back({canonical_key(setting.key), setting.value, ""});
  if (Known<ServerKind> server = server_of_options(names)) return server;
  if (Known<ServerKind> server = server_of_settings(settings)) return server;
  for (const Setting& setting : settings)
    if (contains_ignoring_case(setting.key, "image"))
      if (Known<ServerKind> server = server_of_image(setting.value)) return server;
  return unknown("nothing tells which server this is");
}

LaunchRole role_of_arguments(const std::vector<std::string>& names, const Launch& launch) {
  if (launch.server) return LaunchRole::server;
  if (settings_train(launch.settings) || settings_train(launch.environment)) return LaunchRole::trainer;
  for (const std::string& name : names) {
    if (contains_ignoring_case(name, "train")) return LaunchRole::trainer;
    if (contains_ignoring_case(name, "serve") || contains_ignoring_case(name, "engine")) return LaunchRole::server;
  }
  return LaunchRole::other;
}

/// The launch that a recipe of assignments describes, when it holds arguments or a server's settings.
std::vector<Launch> recipe_launches(const ShellScript& script, const std::string& file, const ConfigLookup& lookup) {
  std::vector<std::string> words, names;
  int line = 1;
  for (const ShellAssignment& assignment : script.assignments) {
    if (!holds_arguments(assignment)) continue;
    if (names.empty()) line = assignment.line;
    names.push_back(assignment.name);
    for (const std::string& word : assignment.words)
      for (std::string& part : assignment.is_array ? std::vector<std::string>{word} : split_command(word))
        words.push_back(std::move(part));
  }
  const std::vector<Setting> environment = settings_of(script, file);
  Known<ServerKind> server = server_of_options(parse_options(words));
  if (!server) server = server_of_assignments(environment);
  if (words.empty() && !server) return {};

  PlainCommand plain;
  plain.words = words;
  plain.environment = environment;
  plain.image = unknown("no image is named");
  std::vector<Launch> launches = read_launches(std::move(plain), {"", place(file, line), lookup});
  for (Launch& launch : launches) {
    launch.name = names.empty() ? file : join(names, " + ");
    launch.server = server;
    launch.role = role_of_arguments(names, launch);
    if (server) launch.cap = read_server_cap(*server, launch.settings, launch.environment);
  }
  return launches;
}

}  // namespace

std::vector<Setting> settings_of(const ShellScript& script, const std::string& file) {
  std::vector<Setting> settings;
  for (const ShellAssignment& assignment : script.assignments)
    settings.push_back({assignment.name, join(assignment.words, " "), place(file, assignment.line)});
  for (Setting& setting : directive_settings(script, file)) settings.push_back(std::move(setting));
  return settings;
}

Known<ServerKind> server_of_settings(const std::vector<Setting>& settings) {
  constexpr std::array<std::pair<std::string_view, ServerKind>, 8> k_keys = {{
      {"mem_fraction_static", ServerKind::sglang},
      {"free_gpu_memory_fraction", ServerKind::tensorrt_llm},
      {"kv_cache_free_gpu_memory_fraction", ServerKind::tensorrt_llm},
      {"gpu_memory_utilization", ServerKind::vllm},
      {"gpu_mem_util", ServerKind::vllm},
      {"kv_cache_memory_bytes", ServerKind::vllm},
      {"cuda_memory_fraction", ServerKind::tgi},
      {"ollama_gpu_memory", ServerKind::ollama},
  }};
  for (const auto& [key, kind] : k_keys)
    if (find_setting(settings, std::span(&key, 1)) != nullptr) return as_derived(ServerKind(kind));
  return unknown("no key of a server stands in the file");
}

Launch launch_of_settings(ServerKind kind, const std::string& file, std::vector<Setting> settings) {
  Launch launch;
  launch.name = file;
  launch.where = file;
  launch.role = LaunchRole::server;
  launch.server = as_derived(ServerKind(kind));
  launch.image = unknown("no image is named");
  launch.model = unknown("the file names no model");
  constexpr std::array<std::string_view, 3> k_model = {"model", "model_path", "model_name"};
  if (const Setting* const model = find_setting(settings, k_model); model != nullptr)
    launch.model = as_read(std::string(model->value));
  launch.quantization = read_quantization(settings, launch.model);
  launch.cap = read_server_cap(kind, settings, {});
  launch.parallelism = read_parallelism(settings);
  launch.settings = std::move(settings);
  return launch;
}

ScriptContent read_script(const ShellScript& script, const std::string& file, const ConfigLookup& lookup) {
  ScriptContent content;
  content.launches = command_launches(script, file, lookup);
  if (content.launches.empty()) content.launches = recipe_launches(script, file, lookup);
  if (content.launches.empty()) content.settings = settings_of(script, file);
  return content;
}

}  // namespace sparkops::facts
