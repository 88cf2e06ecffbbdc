#include "facts/workload/workload.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/root.h"
#include "base/text.h"
#include "facts/workload/config_readers.h"
#include "facts/workload/options.h"
#include "facts/workload/parallelism.h"
#include "facts/workload/quantization.h"
#include "facts/workload/script_reader.h"
#include "facts/workload/server_cap.h"
#include "facts/workload/service_readers.h"
#include "facts/workload/workload_files.h"

namespace sparkops::facts {

namespace {

/// Launches and settings beyond these are left out, and that is said.
constexpr std::size_t k_max_launches = 500;
constexpr std::size_t k_max_settings = 50'000;

constexpr std::string_view k_kinds_read =
    "read are YAML, JSON, TOML, .conf and .env files, shell scripts, compose files and Kubernetes manifests; name the "
    "command instead: sparkops preflight -- ";

/// Prose, source code and the like have "commands" that no shell would find.
bool is_shell_script(const ShellScript& script) {
  std::size_t commands = 0, strange = 0;
  for (const ShellCommand& command : script.commands) {
    if (command.words.empty()) continue;
    ++commands;
    if (!is_program_name(command.words.front())) ++strange;
  }
  constexpr std::size_t k_tolerated_part = 4;  // one of four: sections of an .ini file, constructs that are not read
  return strange * k_tolerated_part <= commands;
}

/// `ollama run MODEL` is a client, but what it makes the server load is this workload's.
void count_model_of_client(Launch& launch) {
  const bool runs_model = launch.role == LaunchRole::other && launch.command.size() > 2 &&
                          base_name(launch.command[0]) == "ollama" && launch.command[1] == "run";
  if (!runs_model) return;
  launch.role = LaunchRole::server;
  launch.server = as_derived(ServerKind::ollama);
  launch.cap = read_server_cap(ServerKind::ollama, launch.settings, launch.environment);
  if (!launch.command[2].starts_with('-')) launch.model = as_read(std::string(launch.command[2]));
}

/// Puts the files of one folder together into a workload.
class WorkloadReader {
 public:
  WorkloadReader(WorkloadFiles files, std::string name) : files_(std::move(files)) { workload_.name = std::move(name); }

  /// Of the files that were named. Files that a launch names are settings of that launch and nothing of their own.
  Workload read() {
    for (const std::string& file : files_.named()) parse(file);
    // Whoever names other files comes first, so that those are known to be named when their turn comes.
    read_all_services();
    for (auto& [file, script] : scripts_)
      if (!script.commands.empty()) read_script_file(file, script);
    for (auto& [file, script] : scripts_)
      if (script.commands.empty()) read_script_file(file, script);
    for (auto& [file, documents] : documents_)
      if (!claimed_.contains(file)) read_loose(file, documents);
    finish();
    return std::move(workload_);
  }

  Workload read_command(const std::vector<std::string>& command) {
    PlainCommand plain;
    plain.words = command;
    plain.image = unknown("no image is named");
    workload_.launches = read_launches(std::move(plain), {"", "command line", lookup()});
    const bool telling = std::any_of(workload_.launches.begin(), workload_.launches.end(),
                                     [](const Launch& launch) { return launch.role != LaunchRole::other; });
    if (!telling) read_named_files();
    finish();
    return std::move(workload_);
  }

 private:
  [[nodiscard]] ConfigLookup lookup() {
    return [this](const std::string& base) { return named_settings(base); };
  }

  void refuse(const std::string& file, const std::string& reason) {
    workload_.not_understood.push_back(file + ": " + printable(reason));
  }

  /// Reads one file into documents_ or scripts_; what cannot be read is noted with its reason.
  void parse(const std::string& file) {
    if (!seen_.insert(file).second) return;
    const auto text = files_.text(file);
    if (!text) return refuse(file, text.error().message);
    workload_.files.push_back(file);
    const Result<void> parsed = parse_text(file, *text);
    if (!parsed) refuse(file, parsed.error().message);
  }

  Result<void> parse_text(const std::string& file, const std::string& text) {
    const FileFormat format = format_of(file, text);
    if (format == FileFormat::yaml) {
      auto documents = parse_yaml(text);
      if (!documents) return tl::unexpected(documents.error());
      documents_[file] = std::move(*documents);
    } else if (format == FileFormat::json || format == FileFormat::toml) {
      auto document = format == FileFormat::json ? parse_json(text) : parse_toml(text);
      if (!document) return tl::unexpected(document.error());
      documents_[file].push_back(std::move(*document));
    } else if (format == FileFormat::shell || format == FileFormat::environment) {
      return parse_script(file, text, format);
    } else {
      return failure(ErrorKind::unsupported, "this is no configuration and no shell script");
    }
    return {};
  }

  /// A script is read a second time with the variables of the files that it sources.
  Result<void> parse_script(const std::string& file, const std::string& text, FileFormat format) {
    const ShellForm form = format == FileFormat::environment ? ShellForm::environment_file : ShellForm::script;
    auto script = parse_shell(text, form);
    if (!script) return tl::unexpected(script.error());
    ShellVariables sourced;
    for (const ShellCommand& command : script->commands)
      if (command.words.size() >= 2 && (command.words[0] == "source" || command.words[0] == "."))
        for (const Setting& setting : named_settings(base_name(command.words[1])))
          sourced.emplace_back(setting.key, setting.value);
    if (!sourced.empty()) script = parse_shell(text, form, sourced);
    if (!script) return tl::unexpected(script.error());
    if (form == ShellForm::script && !is_shell_script(*script))
      return failure(ErrorKind::unsupported, "its lines are no commands of a shell");
    scripts_[file] = std::move(*script);
    return {};
  }

  /// The settings of a file that a command names, found by its base name among the files of the folder.
  std::vector<Setting> named_settings(const std::string& base) {
    const std::optional<std::string> file = files_.find(base);
    if (!file) return {};
    parse(*file);
    claimed_.insert(*file);
    std::vector<Setting> settings;
    if (const auto documents = documents_.find(*file); documents != documents_.end())
      for (const ConfigValue& document : documents->second) append_settings(document, *file, settings);
    if (const auto script = scripts_.find(*file); script != scripts_.end())
      settings = settings_of(script->second, *file);
    return settings;
  }

  void read_all_services() {
    for (auto& [file, documents] : documents_)
      for (const ConfigValue& document : documents) {
        for (const std::string& reason : misshapen_services(document)) refuse(file, reason);
        if (is_compose(document) || is_kubernetes(document)) read_services(file, document);
      }
  }

  /// A command that is itself a script, or starts a compose file: what stands in those files.
  void read_named_files() {
    for (const std::string& file : files_.lookups())
      if (!claimed_.contains(file)) parse(file);
    read_all_services();
    for (auto& [file, script] : scripts_) read_script_file(file, script);
  }

  void read_script_file(const std::string& file, const ShellScript& script) {
    if (claimed_.contains(file)) return;
    ScriptContent content = read_script(script, file, lookup());
    append(content.launches, content.settings);
  }

  void read_services(const std::string& file, const ConfigValue& document) {
    claimed_.insert(file);
    std::vector<Launch> launches;
    if (is_compose(document)) {
      ShellVariables variables;
      for (const Setting& setting : named_settings(".env")) variables.emplace_back(setting.key, setting.value);
      launches = read_compose(document, file, variables, lookup());
    } else {
      launches = read_kubernetes(document, file, lookup());
    }
    append(launches, {});
    note_sharing(document);
  }

  void note_sharing(const ConfigValue& document) {
    const Known<int> replicas = read_gpu_sharing(document);
    Known<int>& known = workload_.gpu_sharing_replicas;
    if (replicas && (!known || *known < *replicas)) known = replicas;
  }

  /// A configuration that no launch names: commands inside it, the settings of a server, or loose settings.
  void read_loose(const std::string& file, const std::vector<ConfigValue>& documents) {
    std::vector<Setting> settings;
    for (const ConfigValue& document : documents) {
      note_sharing(document);
      append_settings(document, file, settings);
    }
    std::vector<Launch> launches = embedded_launches(settings);
    const Known<ServerKind> server = server_of_settings(settings);
    if (launches.empty() && server && !settings_train(settings)) {
      launches.push_back(launch_of_settings(*server, file, std::move(settings)));
      settings.clear();
    }
    append(launches, settings);
  }

  /// Commands that stand as texts in a configuration (the models of llama-swap, recipes with a command: |).
  std::vector<Launch> embedded_launches(const std::vector<Setting>& settings) {
    static const std::set<std::string, std::less<>> k_keys = {"cmd", "command", "run", "exec", "launch", "entrypoint"};
    std::vector<Launch> launches;
    for (const Setting& setting : settings) {
      if (launches.size() > k_max_launches) break;
      if (!k_keys.contains(last_part(canonical_key(setting.key)))) continue;
      PlainCommand plain;
      plain.words = {"sh", "-c", setting.value};
      plain.image = unknown("no image is named");
      plain.order = LaunchOrder::in_turn;
      for (Launch& launch : read_launches(std::move(plain), {setting.key, setting.where, lookup()}))
        if (launch.role != LaunchRole::other) launches.push_back(std::move(launch));
    }
    return launches;
  }

  void append(std::vector<Launch>& launches, const std::vector<Setting>& settings) {
    std::move(launches.begin(), launches.end(), std::back_inserter(workload_.launches));
    workload_.settings.insert(workload_.settings.end(), settings.begin(), settings.end());
    if (workload_.launches.size() <= k_max_launches && workload_.settings.size() <= k_max_settings) return;
    workload_.not_understood.push_back(workload_.name + ": more programs or settings than are looked at");
    workload_.launches.resize(std::min(workload_.launches.size(), k_max_launches));
    workload_.settings.resize(std::min(workload_.settings.size(), k_max_settings));
  }

  void finish() {
    workload_.parallelism = read_parallelism(workload_.settings);
    workload_.quantization = read_quantization(workload_.settings, unknown("no model is named"));
    bool trains = settings_train(workload_.settings);
    for (Launch& launch : workload_.launches) {
      count_model_of_client(launch);
      merge_parallelism(workload_.parallelism, launch.parallelism);
      trains = trains || launch.role == LaunchRole::trainer;
    }
    if (trains)
      workload_.trains = as_derived(true);
    else if (!workload_.launches.empty())
      workload_.trains = as_derived(false);
    else
      workload_.trains = unknown("nothing in " + workload_.name + " tells whether it trains");
    if (!workload_.gpu_sharing_replicas)
      workload_.gpu_sharing_replicas = unknown("no sharing of the GPU is configured");
  }

  WorkloadFiles files_;
  Workload workload_;
  std::set<std::string> seen_, claimed_;
  std::map<std::string, std::vector<ConfigValue>> documents_;
  std::map<std::string, ShellScript> scripts_;
};

}  // namespace

Result<Workload> read_workload(const std::string& path) {
  auto files = WorkloadFiles::open(path);
  if (!files) return tl::unexpected(files.error());
  std::vector<std::string> left_out = files->left_out();
  std::vector<std::string> not_read = files->not_read();
  Workload workload = WorkloadReader(std::move(*files), path).read();
  workload.not_understood.insert(workload.not_understood.end(), left_out.begin(), left_out.end());
  workload.not_read = std::move(not_read);
  const bool empty = workload.launches.empty() && workload.settings.empty() && !workload.gpu_sharing_replicas;
  if (empty && workload.not_understood.empty())
    return failure(ErrorKind::usage, path +
                                         ": nothing in it describes a workload (a configuration, compose file, "
                                         "manifest, recipe or launch script)");
  if (empty)
    return failure(ErrorKind::usage, "nothing of " + path + " could be read: " + workload.not_understood.front() +
                                         "; " + std::string(k_kinds_read) +
                                         (path.ends_with(".py") ? "torchrun … " + path : "CMD …"));
  return workload;
}

Workload read_command(const std::vector<std::string>& command) {
  auto files = WorkloadFiles::open_lookup(command);
  const std::vector<std::string> left_out = files.left_out();
  Workload workload = WorkloadReader(std::move(files), shell_quoted(command)).read_command(command);
  workload.not_understood.insert(workload.not_understood.end(), left_out.begin(), left_out.end());
  return workload;
}

}  // namespace sparkops::facts
