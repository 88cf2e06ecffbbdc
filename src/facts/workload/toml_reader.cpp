#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "facts/workload/config_readers.h"

namespace sparkops::facts {

namespace {

/// The library nests one table per dot of a key and takes it apart recursively, so that a key of a million dots would
/// exhaust the stack; nobody writes a line with this many.
constexpr std::ptrdiff_t k_max_dots_in_line = 1000;

/// False once the limits of config_value.h are passed.
bool convert(const toml::node& node, int depth, ConfigSize& used, ConfigValue& value) {
  if (depth > k_max_config_depth || ++used.values > k_max_config_values) return false;
  value.line = static_cast<int>(node.source().begin.line);
  if (const toml::table* const table = node.as_table()) {
    value.kind = ConfigValue::Kind::map;
    for (const auto& [key, member] : *table) {
      value.members.push_back({std::string(key.str()), {}});
      if (!convert(member, depth + 1, used, value.members.back().value)) return false;
    }
    return true;
  }
  if (const toml::array* const array = node.as_array()) {
    value.kind = ConfigValue::Kind::sequence;
    for (const toml::node& item : *array)
      if (!convert(item, depth + 1, used, value.items.emplace_back())) return false;
    return true;
  }
  value.kind = ConfigValue::Kind::scalar;
  node.visit([&value](const auto& leaf) {
    if constexpr (toml::is_string<decltype(leaf)>) {
      value.scalar = *leaf;
    } else if constexpr (toml::is_boolean<decltype(leaf)>) {
      value.scalar = *leaf ? "true" : "false";
    } else if constexpr (toml::is_integer<decltype(leaf)> || toml::is_floating_point<decltype(leaf)>) {
      value.scalar = fmt::format("{}", *leaf);
    } else if constexpr (toml::is_value<decltype(leaf)>) {
      std::ostringstream written;  // dates and times
      written << *leaf;
      value.scalar = written.str();
    }
  });
  used.text += value.scalar.size();
  return used.text <= k_max_config_text;
}

}  // namespace

Result<ConfigValue> parse_toml(std::string_view text) {
  for (const std::string_view line : split_lines(text))
    if (std::count(line.begin(), line.end(), '.') > k_max_dots_in_line)
      return failure(ErrorKind::malformed, "a line with more dots than any key has");
  try {
    const toml::table table = toml::parse(text);
    ConfigValue value;
    ConfigSize used;
    if (!convert(table, 0, used, value))
      return failure(ErrorKind::malformed, "more values or levels than a configuration has");
    return value;
  } catch (const toml::parse_error& error) {
    return failure(ErrorKind::malformed,
                   fmt::format("line {}: {}", error.source().begin.line, std::string(error.description())));
  } catch (const std::exception& error) {
    return failure(ErrorKind::malformed, error.what());
  }
}

}  // namespace sparkops::facts
