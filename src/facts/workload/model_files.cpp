#include "facts/workload/model_files.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::string_view k_safetensors = ".safetensors";
constexpr std::string_view k_gguf = ".gguf";

/// "model-00002-of-00003" is part 2 of 3 of "model".
struct Part {
  std::string set;
  std::int64_t number = 0, of = 0;
};

std::optional<Part> part_of(std::string_view stem) {
  const std::size_t of = stem.rfind("-of-");
  if (of == std::string_view::npos) return std::nullopt;
  const std::size_t dash = stem.rfind('-', of - 1);
  if (of == 0 || dash == std::string_view::npos) return std::nullopt;
  const auto number = parse_integer(stem.substr(dash + 1, of - dash - 1));
  const auto count = parse_integer(stem.substr(of + 4));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return Part{std::string(stem.substr(0, dash)), *number, *count};
}

/// Files that lie beside weights and are none of the model's.
bool is_other_file(std::string_view name) {
  for (const std::string_view part : {"adapter_model", "optimizer", "training_args", "scheduler", "lora", "mmproj"})
    if (contains_ignoring_case(name, part)) return true;
  return false;
}

struct Set {
  std::vector<std::string> files;
  std::int64_t of = 0;  ///< 0: one file that is no part
};

/// A set name and the number of its parts belong together: re-sharded models leave both behind.
std::map<std::string, Set> sets_of(const std::vector<std::string>& names, std::string_view ending) {
  std::map<std::string, Set> sets;
  for (const std::string& name : names) {
    if (!name.ends_with(ending) || is_other_file(name)) continue;
    const std::string_view stem = std::string_view(name).substr(0, name.size() - ending.size());
    const auto part = part_of(stem);
    Set& set = sets[part ? part->set + " of " + std::to_string(part->of) : std::string(stem)];
    set.files.push_back(name);
    if (part) set.of = part->of;
  }
  for (auto& [name, set] : sets) std::sort(set.files.begin(), set.files.end());
  return sets;
}

void note_missing(const Set& set, WeightFiles& result) {
  const auto have = static_cast<std::int64_t>(set.files.size());
  if (set.of > have)
    result.doubts.push_back(std::to_string(set.of - have) + " of " + std::to_string(set.of) +
                            " weight files are missing; what is there is counted");
}

/// nlohmann's events of an index: only the texts under weight_map are kept.
class IndexReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  std::set<std::string> files;
  std::string problem;

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t) { return true; }
  bool number_unsigned(number_unsigned_t) { return true; }
  bool number_float(number_float_t, const string_t&) { return true; }
  bool binary(binary_t&) { return true; }
  bool string(string_t& text) {
    if (depth_ != 2 || section_ != "weight_map") return true;
    if (contains(text, "/") || !text.ends_with(k_safetensors)) {
      problem = "weight_map names \"" + printable(text, 100) + "\", which is no safetensors file beside it";
      return false;
    }
    files.insert(text);
    return true;
  }
  bool key(string_t& name) {
    if (depth_ == 1) section_ = name;
    return true;
  }
  bool start_object(std::size_t) { return deeper(); }
  bool start_array(std::size_t) { return deeper(); }
  bool end_object() { return shallower(); }
  bool end_array() { return shallower(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    problem = "no JSON from byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  bool deeper() {
    constexpr int k_most = 16;
    if (++depth_ <= k_most) return true;
    problem = "nested too deeply";
    return false;
  }
  bool shallower() {
    --depth_;
    return true;
  }
  int depth_ = 0;
  std::string section_;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

WeightFiles choose_safetensors(const std::vector<std::string>& names, const std::vector<std::string>& indexed) {
  WeightFiles result;
  const std::map<std::string, Set> sets = sets_of(names, k_safetensors);
  if (!indexed.empty() && sets.size() > 1) {
    for (const std::string& file : indexed)
      if (std::find(names.begin(), names.end(), file) != names.end()) result.files.push_back(file);
    if (result.files.size() < indexed.size())
      result.doubts.push_back(std::to_string(indexed.size() - result.files.size()) + " of the " +
                              std::to_string(indexed.size()) + " weight files that the index names are missing");
    if (!result.files.empty()) return result;
  }
  const Set* chosen = nullptr;
  for (const auto& [name, set] : sets) {
    const bool preferred =
        name.starts_with("model") && (chosen == nullptr || !chosen->files.front().starts_with("model"));
    const bool complete = chosen != nullptr && static_cast<std::int64_t>(chosen->files.size()) < chosen->of &&
                          static_cast<std::int64_t>(set.files.size()) >= set.of;
    if (chosen == nullptr || preferred || complete) chosen = &set;
  }
  if (chosen == nullptr) {
    const bool pickled = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth");
    });
    if (pickled) result.doubts.emplace_back("the weights are pickle files, which are not read");
    return result;
  }
  result.files = chosen->files;
  note_missing(*chosen, result);
  if (sets.size() > 1)
    result.doubts.push_back("several sets of weight files lie here; counted is the one of " + chosen->files.front());
  return result;
}

WeightFiles gguf_parts(const std::vector<std::string>& names, const std::string& file) {
  WeightFiles result;
  for (const auto& [name, set] : sets_of(names, k_gguf)) {
    if (std::find(set.files.begin(), set.files.end(), file) == set.files.end()) continue;
    result.files = set.files;
    note_missing(set, result);
  }
  if (result.files.empty()) result.files = {file};
  return result;
}

std::vector<std::string> gguf_models(const std::vector<std::string>& names) {
  std::vector<std::string> models;
  for (const auto& [name, set] : sets_of(names, k_gguf)) models.push_back(set.files.front());
  return models;
}

Result<std::vector<std::string>> parse_safetensors_index(std::string_view text) {
  try {
    IndexReader reader;
    if (!nlohmann::json::sax_parse(text, &reader)) return failure(ErrorKind::malformed, reader.problem);
    if (reader.files.empty()) return failure(ErrorKind::malformed, "it has no weight_map");
    return std::vector<std::string>(reader.files.begin(), reader.files.end());
  } catch (const std::exception& error) {
    return failure(ErrorKind::malformed, error.what());
  }
}

std::string hub_folder(std::string_view name) {
  std::string folder = "models--";
  for (const char c : name) folder += c == '/' ? std::string("--") : std::string(1, c);
  return folder;
}

Result<std::string> find_snapshot(const Root& root, const std::string& model_directory) {
  const std::string snapshots = model_directory + "/snapshots";
  if (const auto main = root.read(model_directory + "/refs/main")) {
    const std::string commit(trim(*main));
    if (!commit.empty() && !contains(commit, "/") && root.exists(snapshots + "/" + commit))
      return snapshots + "/" + commit;
  }
  const auto entries = root.list(snapshots);
  if (!entries) return tl::unexpected(entries.error());
  if (entries->size() == 1) return snapshots + "/" + entries->front().name;
  const std::string count =
      entries->empty() ? "no snapshot" : std::to_string(entries->size()) + " snapshots and no refs/main";
  return failure(ErrorKind::not_found, model_directory + ": " + count + "; name the one you mean");
}

std::string hub_cache_directory() {
  if (const std::string hub = variable("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (const std::string home = variable("HF_HOME"); !home.empty()) return home + "/hub";
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/huggingface/hub";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/huggingface/hub";
  return "";
}

}  // namespace sparkops::facts
