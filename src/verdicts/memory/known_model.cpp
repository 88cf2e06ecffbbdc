#include "verdicts/memory/known_model.h"

#include "base/text.h"
#include "facts/workload/architecture_reader.h"
#include "facts/workload/config_value.h"
#include "facts/workload/quantization.h"
#include "knowledge/model_names.h"

namespace sparkops::verdicts {

namespace {

using facts::ConfigValue;

ConfigValue scalar(std::string_view text) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::scalar;
  value.scalar = std::string(text);
  return value;
}

/// Fields that config.json holds as lists.
bool is_list(std::string_view field) {
  return field == "layer_types" || field == "mlp_only_layers" || field == "full_attn_idxs" ||
         field == "mlp_layer_types";
}

ConfigValue value_of(std::string_view field, std::string_view text) {
  if (!is_list(field)) return scalar(text);
  ConfigValue list;
  list.kind = ConfigValue::Kind::sequence;
  for (const std::string_view word : split_words(text)) list.items.push_back(scalar(word));
  return list;
}

/// The member of a map that holds a section, added when it is not there.
ConfigValue& section_of(ConfigValue& config, std::string_view name) {
  for (facts::ConfigMember& member : config.members)
    if (member.key == name) return member.value;
  config.members.push_back({std::string(name), {}});
  config.members.back().value.kind = ConfigValue::Kind::map;
  return config.members.back().value;
}

ConfigValue config_of(const knowledge::ModelEntry& entry) {
  ConfigValue config;
  config.kind = ConfigValue::Kind::map;
  for (const auto& [field, text] : entry.config) {
    const std::size_t dot = field.find('.');
    ConfigValue& section = dot == std::string::npos ? config : section_of(config, field.substr(0, dot));
    const std::string name = dot == std::string::npos ? field : field.substr(dot + 1);
    section.members.push_back({name, value_of(name, text)});
  }
  return config;
}

}  // namespace

Result<facts::Model> model_of_entry(const knowledge::ModelEntry& entry, std::string_view name) {
  auto reading = facts::read_architecture(config_of(entry));
  if (!reading) return failure(ErrorKind::malformed, "models.yaml, " + entry.name + ": " + reading.error().message);
  facts::Model model;
  model.name = std::string(name);
  model.where = "knowledge/models.yaml";
  model.architecture = as_knowledge(std::move(reading->architecture), entry.last_verified);
  model.doubts = std::move(reading->doubts);
  model.dtype = unknown("a name tells no number format");
  const Known<std::string> format = facts::quantization_of_name(name);
  model.quantization = unknown("the name tells no quantization");
  if (format) {
    facts::ModelQuantization quantization;
    quantization.method = quantization.format = *format;
    model.quantization = as_derived(std::move(quantization));
  }
  model.tensors = unknown("only the name is known, no files");
  model.adapter = unknown("only the name is known, no files");
  model.parameters = unknown("no total is published");
  if (entry.parameters) model.parameters = as_knowledge(std::int64_t{*entry.parameters}, entry.last_verified);
  if (entry.verified == "no") model.doubts.push_back("the dimensions of " + entry.name + " are not verified");
  return model;
}

Result<facts::Model> known_model(const knowledge::Tables& tables, std::string_view name) {
  if (const auto entry = tables.find_model(name)) return model_of_entry(*entry, name);
  constexpr std::size_t k_most_names = 3;
  const auto nearest = knowledge::nearest_models(tables.models(), name, k_most_names);
  const std::string hint = nearest.empty() ? "" : "; known are " + join(nearest, ", ");
  return failure(ErrorKind::not_found, "no model of the name " + printable(name, 100) + " is known, and it is no path" +
                                           hint + "; give a directory with its config.json, or --arch or --params");
}

}  // namespace sparkops::verdicts
