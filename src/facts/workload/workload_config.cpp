#include <algorithm>
#include <filesystem>
#include <map>

#include "base/root.h"
#include "base/text.h"
#include "facts/workload/command_unwrap.h"
#include "facts/workload/options.h"
#include "facts/workload/python_tokens.h"
#include "facts/workload/python_training.h"
#include "facts/workload/server_cap.h"
#include "facts/workload/server_settings.h"
#include "facts/workload/training_config.h"
#include "facts/workload/training_keys.h"

namespace sparkops::facts {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_largest_script = std::size_t{4} << 20;     // bytes
constexpr std::size_t k_largest_notebook = std::size_t{64} << 20;  // bytes; outputs hold images
constexpr std::size_t k_most_scripts = 50;

bool is_notebook(std::string_view file) {
  return file.ends_with(".ipynb");
}
bool is_python(std::string_view file) {
  return file.ends_with(".py") || is_notebook(file);
}

Result<std::string> read_file(const std::string& path, std::size_t cap) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  if (error) return failure(ErrorKind::usage, path + ": " + error.message());
  const auto root = open_directory_root(resolved.parent_path().string());
  if (!root) return tl::unexpected(root.error());
  return Root(*root).read(resolved.filename().string(), cap);
}

Result<PythonSettings> read_script(const std::string& path, const PythonNames& known) {
  auto text = read_file(path, is_notebook(path) ? k_largest_notebook : k_largest_script);
  if (!text) return tl::unexpected(text.error());
  if (is_notebook(path)) text = python_of_notebook(*text);
  if (!text) return failure(text.error().kind, path + ": " + text.error().message);
  return read_python_settings(*text, fs::path(path).filename().string(), known);
}

/// "config.yaml" of "config.yaml:12".
std::string file_of(const Setting& setting) {
  const std::size_t colon = setting.where.rfind(':');
  if (colon == std::string::npos || !parse_integer(std::string_view(setting.where).substr(colon + 1)))
    return setting.where;
  return setting.where.substr(0, colon);
}

/// Whether a file describes a run by itself; those of accelerate and DeepSpeed only add to one.
bool describes_run(const std::vector<Setting>& settings) {
  return std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
    switch (meaning_of_training_key(without_positions(canonical_key(setting.key)))) {
      case TrainingKey::model:
      case TrainingKey::sequence:
      case TrainingKey::lora_rank:
      case TrainingKey::adapter:
      case TrainingKey::finetuning_type: return true;
      default: return false;
    }
  });
}

class ConfigReader {
 public:
  explicit ConfigReader(std::string directory) : directory_(std::move(directory)) {}

  WorkloadConfig read(const Workload& workload) {
    result_.files = workload.files;
    result_.not_understood = workload.not_understood;
    for (const Launch& launch : workload.launches) {
      if (launch.role == LaunchRole::server) result_.servers.push_back(read_server_settings(launch));
      if (launch.role == LaunchRole::trainer) add_trainer(launch);
    }
    add_loose(workload.settings);
    return std::move(result_);
  }

  /// Scripts of a folder that no launch names: those that train or serve.
  void add_scripts(WorkloadConfig& config) {
    std::error_code error;
    std::vector<std::string> scripts;
    for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error))
      if (is_python(entry->path().string()) && entry->is_regular_file(error)) scripts.push_back(entry->path().string());
    std::sort(scripts.begin(), scripts.end());
    for (std::size_t i = 0; i < std::min(scripts.size(), k_most_scripts); ++i) add_script(scripts[i], config);
  }

  static void add_script(const std::string& path, WorkloadConfig& config) {
    const auto settings = read_script(path, {});
    if (!settings) {
      config.not_understood.push_back(settings.error().message);
      return;
    }
    if (settings->training.empty() && settings->server.empty()) return;
    config.files.push_back(fs::path(path).filename().string());
    if (!settings->training.empty()) {
      config.trainings.push_back(read_training_settings(settings->training));
      append(config.trainings.back().not_read, settings->not_read);
    }
    if (!settings->server.empty()) config.servers.push_back(engine_of(*settings, path));
  }

 private:
  template <class Items>
  static void append(Items& into, const Items& more) {
    into.insert(into.end(), more.begin(), more.end());
  }

  static ServerConfig engine_of(const PythonSettings& script, const std::string& path) {
    Launch launch;
    launch.where = fs::path(path).filename().string();
    launch.role = LaunchRole::server;
    launch.server = as_derived(ServerKind::vllm);
    launch.settings = script.server;
    launch.model = unknown("the script names no model");
    constexpr std::string_view k_model = "model";
    if (const Setting* const model = find_setting(launch.settings, std::span(&k_model, 1)))
      launch.model = as_read(std::string(model->value));
    launch.cap = read_server_cap(ServerKind::vllm, launch.settings, {});
    return read_server_settings(launch);
  }

  [[nodiscard]] std::string locate(const std::string& script) const {
    std::error_code error;
    for (const std::string& path : {script, directory_ + "/" + script, directory_ + "/" + base_name(script)})
      if (fs::is_regular_file(path, error)) return path;
    return "";
  }

  /// Its script first, then the files that it names, then its options: each overrides what stands before.
  void add_trainer(const Launch& launch) {
    std::vector<Setting> files, options;
    for (const Setting& setting : launch.settings) (setting.where == launch.where ? options : files).push_back(setting);
    for (Setting& setting : options)
      if (setting.value.empty()) setting.value = "true";  // a flag
    PythonNames names;
    for (const Setting& setting : options) names.emplace_back(canonical_key(setting.key), setting.value);
    std::vector<Setting> all;
    std::vector<std::string> not_read;
    for (const std::string& word : launch.command) {
      if (!is_python(word)) continue;
      const std::string path = locate(word);
      if (path.empty()) break;
      const auto script = read_script(path, names);
      if (!script) {
        not_read.push_back(script.error().message);
        break;
      }
      all = script->training;
      not_read = script->not_read;
      result_.files.push_back(fs::path(path).filename().string());
      break;
    }
    add_program(launch, all);
    append(all, files);
    append(all, options);
    TrainingConfig config = read_training_settings(all);
    if (!config.model) config.model = launch.model;
    config.parallelism = launch.parallelism;
    append(config.not_read, not_read);
    result_.trainings.push_back(std::move(config));
  }

  /// "trl dpo" and "tune run lora_finetune_single_device" tell what they do by their words.
  static void add_program(const Launch& launch, std::vector<Setting>& settings) {
    for (std::size_t i = 0; i + 1 < std::min<std::size_t>(launch.command.size(), 4); ++i) {
      const std::string program = base_name(launch.command[i]);
      const std::string& next = launch.command[i + 1];
      if (program == "trl" || program == "swift") settings.push_back({"stage", next, launch.where});
    }
    for (const std::string& word : launch.command) {
      if (word.ends_with("_finetune_single_device") || word.ends_with("_finetune_distributed")) {
        if (word.starts_with("lora")) settings.push_back({"uses_adapter", "true", launch.where});
        if (word.starts_with("full")) settings.push_back({"full_finetuning", "true", launch.where});
        settings.push_back({"checkpointer._component_", word, launch.where});
      }
    }
  }

  /// Settings of no launch: each file that describes a run is one; the others add to all of them.
  void add_loose(const std::vector<Setting>& settings) {
    if (settings.empty()) return;
    std::map<std::string, std::vector<Setting>> by_file;
    for (const Setting& setting : settings) by_file[file_of(setting)].push_back(setting);
    std::vector<Setting> shared;
    std::vector<const std::vector<Setting>*> runs;
    for (const auto& [file, group] : by_file)
      if (describes_run(group))
        runs.push_back(&group);
      else
        append(shared, group);
    if (runs.empty()) {
      const bool known = std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
        return meaning_of_training_key(without_positions(canonical_key(setting.key))) != TrainingKey::unknown;
      });
      if (known && result_.trainings.empty() && result_.servers.empty())
        result_.trainings.push_back(read_training_settings(settings));
      return;
    }
    for (const std::vector<Setting>* const run : runs) {
      std::vector<Setting> all = shared;
      append(all, *run);
      result_.trainings.push_back(read_training_settings(all));
    }
  }

  std::string directory_;
  WorkloadConfig result_;
};

}  // namespace

Result<WorkloadConfig> read_workload_config(const std::string& path) {
  std::error_code error;
  if (is_python(path) && fs::is_regular_file(path, error)) {
    WorkloadConfig config;
    ConfigReader::add_script(path, config);
    if (!config.trainings.empty() || !config.servers.empty()) return config;
    const std::string why = config.not_understood.empty() ? "it calls nothing that trains or serves, as far as can be "
                                                            "told without running it"
                                                          : config.not_understood.front();
    return failure(ErrorKind::usage, path + ": " + why);
  }
  const bool is_directory = fs::is_directory(path, error);
  const std::string directory = is_directory ? path : fs::path(path).parent_path().string();
  ConfigReader reader(directory.empty() ? "." : directory);
  const auto workload = read_workload(path);
  WorkloadConfig config;
  if (workload)
    config = reader.read(*workload);
  else if (!is_directory)
    return tl::unexpected(workload.error());
  if (config.trainings.empty() && config.servers.empty() && is_directory) reader.add_scripts(config);
  if (config.trainings.empty() && config.servers.empty())
    return workload ? failure(ErrorKind::usage, path + ": nothing in it trains or serves a model")
                    : Result<WorkloadConfig>(tl::unexpected(workload.error()));
  return config;
}

WorkloadConfig read_command_config(const std::vector<std::string>& command) {
  return ConfigReader(".").read(read_command(command));
}

}  // namespace sparkops::facts
