#include <fmt/format.h>
// clang-format off: the order matters
#include <toml++/impl/preprocessor.h>
// toml++ asserts, and in release builds lets some compilers assume, what a hostile file need not keep ("[>"): it checks
// the same again behind it and reports an error.
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expression) static_assert(true)
#include <toml++/toml.h>
// clang-format on

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "facts/workload/config_readers.h"

namespace sparkops::facts {

namespace {

/// The library nests one table per dot of a key and takes it apart recursively, so that a key of a million dots would
/// exhaust the stack; nobody writes a line with this many.
constexpr std::ptrdiff_t k_max_dots_in_line = 1000;

/// The line of the first character beyond ASCII that stands outside strings and comments, 0 when there is none. TOML
/// allows none there, and toml++ 3.3 runs into undefined behaviour while it looks whether such a one is a blank.
int line_of_stray_character(std::string_view text) {
  constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(k_byte_order_mark)) text.remove_prefix(k_byte_order_mark.size());
  std::string_view quote;  // of the string that is open: one quotation mark or three
  bool in_comment = false;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool ends_line = c == '\n';
    if (ends_line) ++line;
    if (ends_line && (in_comment || quote.size() == 1)) {
      in_comment = false;
      quote = {};
    } else if (in_comment) {
      continue;
    } else if (!quote.empty()) {
      if (c == '\\' && quote.front() == '"')
        ++at;
      else if (text.substr(at, quote.size()) == quote)
        at += std::exchange(quote, {}).size() - 1;
    } else if (c == '"' || c == '\'') {
      const std::string_view three = c == '"' ? "\"\"\"" : "'''";
      quote = text.substr(at, three.size()) == three ? three : three.substr(0, 1);
      at += quote.size() - 1;
    } else if (c == '#') {
      in_comment = true;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return line;
    }
  }
  return 0;
}

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
  if (const int line = line_of_stray_character(text); line > 0)
    return failure(ErrorKind::malformed, fmt::format("line {}: a character beyond ASCII outside a string", line));
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
