#include "knowledge/entry_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sparkops::knowledge {
namespace {

constexpr std::size_t k_date_length = 10;  // "2026-11-30"

}  // namespace

EntryReader::EntryReader(const YamlNode& entry, std::string file) : entry_(entry), file_(std::move(file)) {
  if (entry_.kind != YamlNode::Kind::mapping) complain(entry_.line, "an entry must be a mapping of fields");
}

void EntryReader::complain(int line, const std::string& reason) {
  problems_.push_back(fmt::format("{}:{}: {}", file_, line, reason));
}

const YamlNode* EntryReader::find(std::string_view key) {
  asked_.emplace(key);
  const auto found =
      std::find_if(entry_.fields.begin(), entry_.fields.end(), [&](const auto& field) { return field.key == key; });
  return found == entry_.fields.end() ? nullptr : &found->value;
}

const YamlNode* EntryReader::require(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) complain(entry_.line, fmt::format("the field '{}' is missing", key));
  return node;
}

std::string EntryReader::text(std::string_view key) {
  const YamlNode* node = require(key);
  if (!node) return {};
  if (node->kind != YamlNode::Kind::scalar || trim(node->text).empty())
    complain(node->line, fmt::format("'{}' must be a text that is not empty", key));
  return std::string(trim(node->text));
}

std::string EntryReader::optional_text(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) return {};
  if (node->kind != YamlNode::Kind::scalar) complain(node->line, fmt::format("'{}' must be a text", key));
  return std::string(trim(node->text));
}

std::optional<double> EntryReader::optional_number(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) return std::nullopt;
  const auto number = parse_number(node->text);
  if (!number) complain(node->line, fmt::format("'{}' must be a number", key));
  return number;
}

std::int64_t EntryReader::whole_number(std::string_view key) {
  const YamlNode* node = require(key);
  if (!node) return 0;
  const auto number = parse_integer(node->text);
  if (!number) complain(node->line, fmt::format("'{}' must be a whole number", key));
  return number.value_or(0);
}

std::optional<std::int64_t> EntryReader::optional_whole_number(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) return std::nullopt;
  const auto number = parse_integer(node->text);
  if (!number) complain(node->line, fmt::format("'{}' must be a whole number", key));
  return number;
}

std::vector<std::pair<std::string, std::string>> EntryReader::fields(std::string_view key) {
  const YamlNode* node = require(key);
  if (!node) return {};
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [name, value] : node->fields) {
    if (value.kind != YamlNode::Kind::scalar || trim(value.text).empty())
      complain(value.line, fmt::format("'{}' must hold texts that are not empty", key));
    result.emplace_back(name, trim(value.text));
  }
  if (result.empty()) complain(node->line, fmt::format("'{}' must be a mapping of fields", key));
  return result;
}

std::vector<std::string> EntryReader::texts(std::string_view key) {
  if (!require(key)) return {};
  auto result = optional_texts(key);
  if (result.empty()) complain(entry_.line, fmt::format("'{}' must name at least one", key));
  return result;
}

std::vector<std::string> EntryReader::optional_texts(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) return {};
  if (node->kind != YamlNode::Kind::list) {
    complain(node->line, fmt::format("'{}' must be a list", key));
    return {};
  }
  std::vector<std::string> result;
  for (const auto& item : node->items) {
    if (item.kind != YamlNode::Kind::scalar || trim(item.text).empty())
      complain(item.line, fmt::format("'{}' must be a list of texts that are not empty", key));
    result.emplace_back(trim(item.text));
  }
  return result;
}

std::string EntryReader::date(std::string_view key) {
  auto result = text(key);
  if (!result.empty() && (result.size() != k_date_length || !parse_rfc3339(result)))
    complain(entry_.line, fmt::format("'{}' must be a date such as 2026-11-30, not '{}'", key, printable(result, 40)));
  return result;
}

std::vector<Source> EntryReader::sources(std::string_view key) {
  const YamlNode* node = require(key);
  if (!node) return {};
  std::vector<Source> result;
  if (node->kind == YamlNode::Kind::list)
    for (const auto& item : node->items)
      if (auto read = source(item)) result.push_back(std::move(*read));
  if (result.empty()) complain(node->line, fmt::format("'{}' must list at least one title with its url", key));
  return result;
}

std::optional<Source> EntryReader::source(const YamlNode& node) {
  EntryReader reader(node, file_);
  Source result{reader.text("title"), reader.optional_text("url")};
  auto problems = reader.finish();
  if (problems.empty()) return result;
  problems_.insert(problems_.end(), problems.begin(), problems.end());
  return std::nullopt;
}

std::string EntryReader::one_of(std::string_view key, const std::vector<std::string>& words) {
  auto result = text(key);
  if (!result.empty() && std::find(words.begin(), words.end(), result) == words.end())
    complain(entry_.line, fmt::format("'{}' must be one of {}", key, join(words, ", ")));
  return result;
}

std::vector<std::string> EntryReader::finish() {
  for (const auto& [key, node] : entry_.fields)
    if (asked_.find(key) == asked_.end()) complain(node.line, fmt::format("unknown field '{}'", printable(key, 60)));
  return std::move(problems_);
}

}  // namespace sparkops::knowledge
