#include "knowledge/model_names.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.h"

namespace sparkops::knowledge {
namespace {

/// Endings that leave the architecture as it is.
constexpr std::array<std::string_view, 38> k_endings = {
    "-instruct", "-it",        "-chat",        "-base",  "-pt",    "-hf",        "-thinking", "-reasoning",
    "-bf16",     "-fp16",      "-fp8",         "-nvfp4", "-mxfp4", "-awq",       "-gptq",     "-int4",
    "-int8",     "-gguf",      "-bnb-4bit",    "-bnb",   "-4bit",  "-8bit",      "-unsloth",  "-dynamic",
    "-qat",      "-q4-0",      "-unquantized", "-w4a16", "-w8a8",  "-fp8-block", "-preview",  "-latest",
    "-text",     "-gptq-int4", "-gptq-int8",   "-mlx",   "-fp4",   "-exl3"};
constexpr std::array<std::string_view, 3> k_beginnings = {"nvidia-", "meta-", "google_"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "-2507", "-0528": year and month, or month and day. A year alone ("-2025") too.
bool drop_date(std::string& key) {
  constexpr std::size_t k_length = 5;
  if (key.size() <= k_length || key[key.size() - k_length] != '-') return false;
  if (!std::all_of(key.end() - (k_length - 1), key.end(), is_digit)) return false;
  key.resize(key.size() - k_length);
  return true;
}

bool drop_ending(std::string& key) {
  for (const std::string_view ending : k_endings)
    if (key.size() > ending.size() && key.ends_with(ending)) {
      key.resize(key.size() - ending.size());
      return true;
    }
  return false;
}

std::string without_owner(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  std::string key = to_lower(trim(slash == std::string_view::npos ? name : name.substr(slash + 1)));
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

/// How well a candidate fits: 2 exactly, 1 by its key, 0 not.
int fit(std::string_view candidate, const std::string& exact, const std::string& key) {
  const std::string plain = without_owner(candidate);
  if (plain == exact) return 2;
  return model_key(candidate) == key ? 1 : 0;
}

/// The words of "[a, b]" as models.yaml writes them.
std::vector<std::string_view> flow_list(std::string_view text) {
  const std::size_t open = text.find('['), close = text.rfind(']');
  std::vector<std::string_view> words;
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return words;
  for (const std::string_view word : split(text.substr(open + 1, close - open - 1), ','))
    if (!trim(word).empty()) words.push_back(trim(word));
  return words;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string model_key(std::string_view name) {
  std::string key = without_owner(name);
  for (const std::string_view beginning : k_beginnings)
    if (key.starts_with(beginning)) key.erase(0, beginning.size());
  while (drop_ending(key) || drop_date(key)) {
  }
  return key;
}

std::optional<ModelEntry> pick_model(const std::vector<ModelEntry>& models, std::string_view name) {
  const std::string exact = without_owner(name), key = model_key(name);
  const ModelEntry* best = nullptr;
  int best_fit = 0;
  for (const ModelEntry& model : models) {
    int fits = fit(model.name, exact, key);
    for (const std::string& alias : model.aliases) fits = std::max(fits, fit(alias, exact, key));
    if (fits <= best_fit) continue;
    best_fit = fits;
    best = &model;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string model_entry_text(std::string_view table, std::string_view name) {
  constexpr std::string_view k_name = "- name: ", k_aliases = "  aliases: ";
  const std::string exact = without_owner(name), key = model_key(name);
  std::size_t best_start = 0, start = 0;
  std::size_t at = 0;
  int best_fit = 0;
  while (at < table.size()) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    const std::string_view line = table.substr(at, end - at);
    int fits = 0;
    if (line.starts_with(k_name)) {
      start = at;
      fits = fit(line.substr(k_name.size()), exact, key);
    } else if (line.starts_with(k_aliases)) {
      for (const std::string_view alias : flow_list(line)) fits = std::max(fits, fit(alias, exact, key));
    }
    if (fits > best_fit) {
      best_fit = fits;
      best_start = start;
    }
    at = end + 1;
  }
  if (best_fit == 0) return "";
  const std::size_t next = table.find("\n- name: ", best_start);
  return std::string(table.substr(best_start, next == std::string_view::npos ? next : next - best_start));
}

std::vector<std::string> nearest_models(const std::vector<ModelEntry>& models, std::string_view name,
                                        std::size_t most) {
  const std::string key = model_key(name);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const ModelEntry& model : models) {
    std::size_t distance = edit_distance(key, model_key(model.name));
    for (const std::string& alias : model.aliases) distance = std::min(distance, edit_distance(key, model_key(alias)));
    ranked.emplace_back(distance, model.name);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, model] : ranked)
    if (names.size() < most && distance <= std::max<std::size_t>(2, key.size() / 2)) names.push_back(model);
  return names;
}

}  // namespace sparkops::knowledge
