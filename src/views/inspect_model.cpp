#include "views/inspect_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::views {

namespace {

using facts::Architecture;
using facts::Mixer;
using facts::Model;
using store::Json;

constexpr int k_indent = 2;

std::string field(std::string_view label, const std::string& text, const TextStyle& style) {
  constexpr std::size_t k_label_columns = 11;
  return wrap(fmt::format("  {:<{}}", label, k_label_columns), printable(text, 4096), style.width) + "\n";
}

template <class T, class Say>
std::string known_field(std::string_view label, const Known<T>& value, Say say, const TextStyle& style) {
  return field(label, value ? say(*value) : "unknown (" + value.reason() + ")", style);
}

/// "36 (30 sliding_attention, 6 full_attention)".
std::string layers_text(const Architecture& architecture) {
  std::vector<std::string> kinds;
  for (const Mixer mixer : {Mixer::full_attention, Mixer::sliding_attention, Mixer::gated_delta_net, Mixer::mamba2,
                            Mixer::short_convolution, Mixer::none}) {
    const std::int64_t count = architecture.count_layers(mixer);
    if (count > 0) kinds.push_back(fmt::format("{} {}", count, facts::to_string(mixer)));
  }
  return fmt::format("{} ({})", architecture.layers.size(), join(kinds, ", "));
}

std::string architecture_text(const Architecture& architecture) {
  std::string text =
      fmt::format("{}: layers {}, hidden {}, heads {} (key/value {}) of {}, vocabulary {}", architecture.family,
                  layers_text(architecture), architecture.hidden, architecture.query_heads,
                  architecture.key_value_heads, architecture.head_dim, architecture.vocabulary);
  if (architecture.experts)
    text += fmt::format(", experts {} ({} active)", architecture.experts->count, architecture.experts->active);
  return text;
}

std::string tensors_text(const facts::TensorTotals& tensors) {
  std::vector<std::string> types;
  for (const auto& [name, total] : tensors.by_dtype)
    types.push_back(fmt::format("{} {}", printable(name, 40), format_size(total.bytes)));
  return fmt::format("{} in {} tensors of {} files: {}", format_size(tensors.bytes), tensors.tensors, tensors.files,
                     join(types, ", "));
}

Json tensors_json(const facts::TensorTotals& tensors) {
  Json types = Json::object();
  for (const auto& [name, total] : tensors.by_dtype)
    types[printable(name, 40)] = {
        {"tensors", total.tensors}, {"elements", total.elements}, {"size_bytes", total.bytes.value}};
  return {{"tensors", tensors.tensors},
          {"files", tensors.files},
          {"tensor_bytes", tensors.bytes.value},
          {"file_bytes", tensors.file_bytes.value},
          {"largest_tensor_bytes", tensors.largest_tensor.value},
          {"by_dtype", std::move(types)}};
}

Json architecture_json(const Architecture& architecture) {
  Json layers = Json::object();
  for (const Mixer mixer : {Mixer::full_attention, Mixer::sliding_attention, Mixer::gated_delta_net, Mixer::mamba2,
                            Mixer::short_convolution, Mixer::none})
    if (const std::int64_t count = architecture.count_layers(mixer); count > 0)
      layers[std::string(facts::to_string(mixer))] = count;
  Json json = {{"family", printable(architecture.family)},
               {"family_known", architecture.family_known},
               {"layers", architecture.layers.size()},
               {"layers_by_kind", std::move(layers)},
               {"hidden", architecture.hidden},
               {"query_heads", architecture.query_heads},
               {"key_value_heads", architecture.key_value_heads},
               {"head_dim", architecture.head_dim},
               {"vocabulary", architecture.vocabulary},
               {"max_positions", architecture.max_positions}};
  if (architecture.experts)
    json["experts"] = {{"count", architecture.experts->count}, {"active", architecture.experts->active}};
  return json;
}

/// An object, or null with the reason beside it.
template <class T, class Make>
void put(Json& object, const char* key, const Known<T>& value, Make make) {
  object[key] = value ? make(*value) : Json(nullptr);
  if (!value) object["unknown"][key] = printable(value.reason());
}

}  // namespace

std::string inspect_model_text(const Model& model, const TextStyle& style) {
  std::string text = wrap("", printable(model.where, 400) + ": model", style.width) + "\n";
  text += known_field("built as", model.architecture, architecture_text, style);
  text += known_field(
      "parameters", model.parameters,
      [](std::int64_t count) { return fmt::format("{:.2f} billion", static_cast<double>(count) / 1e9); }, style);
  text += known_field("weights", model.tensors, tensors_text, style);
  text += known_field("dtype", model.dtype, [](const std::string& dtype) { return dtype; }, style);
  if (model.quantization)
    text += field("quantised", model.quantization->format + " (" + model.quantization->method + ")", style);
  if (model.adapter)
    text +=
        field("adapter",
              model.adapter->kind + (model.adapter->rank ? fmt::format(", rank {}", *model.adapter->rank) : ""), style);
  for (const std::string& doubt : model.doubts) text += field("doubt", doubt, style);
  return text;
}

std::string inspect_model_json(const Model& model) {
  Json json = {{"schema", "sparkops.inspect/1"}};
  Json out = {{"name", printable(model.name)}, {"where", printable(model.where)}, {"kind", "model"}};
  out["files"] = Json::array();
  for (const std::string& file : model.files) out["files"].push_back(printable(file));
  put(out, "architecture", model.architecture, architecture_json);
  put(out, "tensors", model.tensors, tensors_json);
  put(out, "quantization", model.quantization, [](const facts::ModelQuantization& quantization) {
    return Json{{"method", printable(quantization.method)}, {"format", printable(quantization.format)}};
  });
  put(out, "adapter", model.adapter, [](const facts::AdapterConfig& adapter) {
    return Json{{"kind", printable(adapter.kind)}, {"rank", adapter.rank ? Json(*adapter.rank) : Json(nullptr)}};
  });
  store::ObjectWriter writer(out);
  writer.write("dtype", model.dtype);
  writer.write("parameters", model.parameters);
  out["doubts"] = Json::array();
  for (const std::string& doubt : model.doubts) out["doubts"].push_back(printable(doubt));
  json["model"] = std::move(out);
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
