#include "facts/workload/config_fields.h"

#include <cmath>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_shown = 40;  // bytes of a value in a message

}  // namespace

const ConfigValue* ConfigFields::find(Names names) const {
  for (const std::string_view name : names) {
    const ConfigValue* const value = map_->find(name);
    if (value != nullptr && value->kind != ConfigValue::Kind::null) return value;
  }
  return nullptr;
}

std::optional<std::int64_t> ConfigFields::whole(Names names, std::int64_t most) const {
  const ConfigValue* const value = find(names);
  if (value == nullptr) return std::nullopt;
  const std::string name(*names.begin());
  // "4096.0" is written by programs that compute their configs.
  const std::optional<double> number = parse_number(value->text());
  if (!number || *number != std::floor(*number)) {
    complain(name + " is \"" + printable(value->text(), k_shown) + "\", not a whole number");
    return std::nullopt;
  }
  if (*number < 0 || *number > static_cast<double>(most)) {
    complain(name + " is " + printable(value->text(), k_shown) + ", outside of 0 to " + std::to_string(most));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::int64_t ConfigFields::required(Names names, std::int64_t most) const {
  const std::string name(*names.begin());
  if (!has(names)) {
    complain(name + " is missing");
    return 0;
  }
  const auto value = whole(names, most);
  if (value && *value == 0) complain(name + " is 0");
  return value.value_or(0);
}

std::optional<double> ConfigFields::number(Names names) const {
  const ConfigValue* const value = find(names);
  return value == nullptr ? std::nullopt : parse_number(value->text());
}

std::optional<bool> ConfigFields::flag(Names names) const {
  const ConfigValue* const value = find(names);
  if (value == nullptr) return std::nullopt;
  const std::string text = to_lower(trim(value->text()));
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return std::nullopt;
}

std::string ConfigFields::text(Names names) const {
  const ConfigValue* const value = find(names);
  return value == nullptr ? std::string() : value->text();
}

std::vector<std::string> ConfigFields::texts(Names names) const {
  const ConfigValue* const value = find(names);
  std::vector<std::string> result;
  if (value == nullptr) return result;
  for (const ConfigValue& item : value->items) result.push_back(item.text());
  return result;
}

}  // namespace sparkops::facts
