#include "facts/workload/adapter_config.h"

#include "facts/workload/config_fields.h"

namespace sparkops::facts {

namespace {

constexpr std::int64_t k_most = std::int64_t{1} << 20;

Known<std::int64_t> whole(const ConfigFields& fields, std::string_view name) {
  const auto value = fields.whole({name}, k_most);
  if (!value) return unknown("adapter_config.json has no usable " + std::string(name));
  return as_read(std::int64_t{*value});
}

Known<bool> flag(const ConfigFields& fields, std::string_view name) {
  const auto value = fields.flag({name});
  if (!value) return unknown("adapter_config.json has no " + std::string(name));
  return as_read(bool{*value});
}

/// A list of module names, or one text (a pattern, or "all-linear").
Known<std::vector<std::string>> words(const ConfigFields& fields, std::string_view name) {
  std::vector<std::string> list = fields.texts({name});
  if (list.empty() && !fields.text({name}).empty()) list.push_back(fields.text({name}));
  if (list.empty()) return unknown("adapter_config.json has no " + std::string(name));
  return as_read(std::move(list));
}

}  // namespace

Result<AdapterConfig> read_adapter_config(const ConfigValue& document) {
  std::vector<std::string> problems;
  const ConfigFields fields(document, problems);
  AdapterConfig adapter;
  adapter.kind = fields.text({"peft_type"});
  if (adapter.kind.empty()) return failure(ErrorKind::malformed, "it names no peft_type");
  const std::string base = fields.text({"base_model_name_or_path"});
  adapter.base_model = unknown("adapter_config.json has no base_model_name_or_path");
  if (!base.empty()) adapter.base_model = as_read(std::string(base));
  adapter.rank = whole(fields, "r");
  adapter.alpha = whole(fields, "lora_alpha");
  adapter.dropout = unknown("adapter_config.json has no lora_dropout");
  if (const auto dropout = fields.number({"lora_dropout"})) adapter.dropout = as_read(double{*dropout});
  adapter.targets = words(fields, "target_modules");
  adapter.modules_to_save = words(fields, "modules_to_save");
  adapter.uses_dora = flag(fields, "use_dora");
  adapter.uses_rslora = flag(fields, "use_rslora");
  return adapter;
}

}  // namespace sparkops::facts
