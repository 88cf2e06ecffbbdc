#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "facts/workload/workload.h"

namespace sparkops::facts {

struct ConfigMember;

/// A value of a configuration file, whatever its format: text as written, a list, or named members in their order.
struct ConfigValue {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  std::string scalar;
  std::vector<ConfigValue> items;
  std::vector<ConfigMember> members;
  int line = 0;  ///< counted from 1; 0 where the format's library does not tell it

  /// The member of a map; the last one when a key stands twice, null when there is none.
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
  /// The text of a scalar, or an empty one.
  [[nodiscard]] std::string text() const { return kind == Kind::scalar ? scalar : std::string(); }
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
};

/// What no configuration of a person exceeds; a file beyond it is refused, whatever it would expand to.
inline constexpr int k_max_config_depth = 64;
inline constexpr std::size_t k_max_config_values = 100'000;
inline constexpr std::size_t k_max_config_text = std::size_t{16} << 20;  ///< bytes of all texts together

/// Values and bytes that a value consists of, itself included.
struct ConfigSize {
  std::size_t values = 0, text = 0;
};
[[nodiscard]] ConfigSize size_of(const ConfigValue& value);

/// Every scalar below `value` as a setting with its dotted key (list elements by index). `file` names the place.
void append_settings(const ConfigValue& value, const std::string& file, std::vector<Setting>& settings);

}  // namespace sparkops::facts
