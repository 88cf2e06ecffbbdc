#include "facts/workload/options.h"

#include <algorithm>

#include "base/text.h"
#include "facts/workload/shell_expansion.h"

namespace sparkops::facts {

namespace {

bool is_number(std::string_view word) {
  return parse_number(word).has_value();
}

bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && word != "--" && !is_number(word);
}

/// "trainer.num_nodes=2", "+model.tp=2": a dotted name before the equals sign.
bool is_assignment(std::string_view word) {
  while (word.starts_with('+')) word.remove_prefix(1);
  while (true) {
    const std::size_t length = identifier_length(word);
    if (length == 0 || length >= word.size()) return false;
    if (word[length] == '=') return true;
    if (word[length] != '.') return false;
    word.remove_prefix(length + 1);
  }
}

}  // namespace

std::string canonical_key(std::string_view key) {
  while (key.starts_with('-') || key.starts_with('+')) key.remove_prefix(1);
  if (key.size() == 1) return std::string(key);
  std::string result = to_lower(key);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

std::string last_part(std::string_view canonical) {
  while (true) {
    const std::size_t dot = canonical.rfind('.');
    if (dot == std::string_view::npos) return std::string(canonical);
    const std::string_view part = canonical.substr(dot + 1);
    if (!parse_integer(part)) return std::string(part);
    canonical = canonical.substr(0, dot);
  }
}

const CommandOption* CommandOptions::find(std::span<const std::string_view> names) const {
  for (auto option = options.rbegin(); option != options.rend(); ++option)
    if (std::find(names.begin(), names.end(), option->name) != names.end()) return &*option;
  return nullptr;
}

CommandOptions parse_options(std::span<const std::string> words) {
  CommandOptions result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    if (looks_like_option(word)) {
      if (equals != std::string::npos) {
        result.options.push_back({canonical_key(word.substr(0, equals)), word.substr(equals + 1), word});
      } else if (i + 1 < words.size() && !looks_like_option(words[i + 1]) && words[i + 1] != "--") {
        result.options.push_back({canonical_key(word), words[i + 1], word + " " + words[i + 1]});
      } else {
        result.options.push_back({canonical_key(word), "", word});
      }
      continue;
    }
    if (is_assignment(word)) {
      result.options.push_back({canonical_key(word.substr(0, equals)), word.substr(equals + 1), word});
      continue;
    }
    if (word != "--") result.positionals.push_back(word);
  }
  return result;
}

const Setting* find_setting(const std::vector<Setting>& settings, std::span<const std::string_view> names) {
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting)
    if (std::find(names.begin(), names.end(), last_part(canonical_key(setting->key))) != names.end()) return &*setting;
  return nullptr;
}

}  // namespace sparkops::facts
