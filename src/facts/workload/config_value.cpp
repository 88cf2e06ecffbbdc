#include "facts/workload/config_value.h"

namespace sparkops::facts {

const ConfigValue* ConfigValue::find(std::string_view key) const {
  for (auto member = members.rbegin(); member != members.rend(); ++member)
    if (member->key == key) return &member->value;
  return nullptr;
}

ConfigSize size_of(const ConfigValue& value) {
  ConfigSize size{1, value.scalar.size()};
  const auto add = [&size](const ConfigValue& part) {
    const ConfigSize inner = size_of(part);
    size.values += inner.values;
    size.text += inner.text;
  };
  for (const ConfigValue& item : value.items) add(item);
  for (const ConfigMember& member : value.members) {
    size.text += member.key.size();
    add(member.value);
  }
  return size;
}

namespace {

void append(const ConfigValue& value, const std::string& key, const std::string& file, std::vector<Setting>& settings) {
  const auto below = [&key](const std::string& name) { return key.empty() ? name : key + "." + name; };
  switch (value.kind) {
    case ConfigValue::Kind::null: return;
    case ConfigValue::Kind::scalar:
      settings.push_back({key, value.scalar, value.line > 0 ? file + ":" + std::to_string(value.line) : file});
      return;
    case ConfigValue::Kind::sequence:
      for (std::size_t i = 0; i < value.items.size(); ++i)
        append(value.items[i], below(std::to_string(i)), file, settings);
      return;
    case ConfigValue::Kind::map:
      for (const ConfigMember& member : value.members) append(member.value, below(member.key), file, settings);
      return;
  }
}

}  // namespace

void append_settings(const ConfigValue& value, const std::string& file, std::vector<Setting>& settings) {
  append(value, "", file, settings);
}

}  // namespace sparkops::facts
