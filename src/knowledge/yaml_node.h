#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sparkops::knowledge {

struct YamlField;

/// YAML as plain data, so that one source file alone needs the parser's headers. An empty value ("key:") is a scalar
/// with an empty text.
struct YamlNode {
  enum class Kind { scalar, list, mapping };
  Kind kind = Kind::scalar;
  int line = 0;                   ///< in the file, from 1
  std::string text;               ///< of a scalar
  std::vector<YamlNode> items;    ///< of a list
  std::vector<YamlField> fields;  ///< of a mapping, in the order of the file
};

/// One line of a mapping. A type of its own because a std::pair cannot hold a node that is not complete yet.
struct YamlField {
  std::string key;
  YamlNode value;
};

/// Errors: malformed, with the line and the parser's reason; too_large when aliases or nesting go beyond what a table
/// of knowledge can need.
[[nodiscard]] Result<YamlNode> parse_yaml(std::string_view text);

}  // namespace sparkops::knowledge
