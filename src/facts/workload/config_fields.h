#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/workload/config_value.h"

namespace sparkops::facts {

/// Looks up the fields of one map of a configuration by any of their names, with bounds. What is there and makes no
/// sense (negative, absurdly large, no number) is a problem; reading goes on, so that one pass names them all.
class ConfigFields {
 public:
  using Names = std::initializer_list<std::string_view>;

  /// Both must outlive the reader.
  ConfigFields(const ConfigValue& map, std::vector<std::string>& problems) : map_(&map), problems_(&problems) {}

  /// The first of the names that is there and not null; a null pointer when there is none.
  [[nodiscard]] const ConfigValue* find(Names names) const;
  [[nodiscard]] bool has(Names names) const { return find(names) != nullptr; }

  /// A whole number from 0 to `most`; absent when no name is there (or it is a problem).
  [[nodiscard]] std::optional<std::int64_t> whole(Names names, std::int64_t most) const;
  /// The same, above 0; being absent is a problem too, and gives 0.
  [[nodiscard]] std::int64_t required(Names names, std::int64_t most) const;
  [[nodiscard]] std::optional<double> number(Names names) const;
  [[nodiscard]] std::optional<bool> flag(Names names) const;
  /// Empty when there is none.
  [[nodiscard]] std::string text(Names names) const;
  /// The texts of a list of scalars; empty when there is none.
  [[nodiscard]] std::vector<std::string> texts(Names names) const;

  [[nodiscard]] const ConfigValue& map() const { return *map_; }
  void complain(std::string problem) const { problems_->push_back(std::move(problem)); }

 private:
  const ConfigValue* map_;
  std::vector<std::string>* problems_;
};

}  // namespace sparkops::facts
