#include <algorithm>
#include <set>

#include "base/text.h"
#include "facts/workload/architecture_reader.h"

namespace sparkops::facts {

namespace {

std::optional<Mixer> mixer_of_word(std::string_view word) {
  if (word == "full_attention" || word == "attention" || word == "global") return Mixer::full_attention;
  if (word == "sliding_attention" || word == "chunked_attention" || word == "local") return Mixer::sliding_attention;
  if (word == "linear_attention" || word == "gated_delta_net") return Mixer::gated_delta_net;
  if (word == "mamba" || word == "mamba2") return Mixer::mamba2;
  if (word == "conv" || word == "short_conv") return Mixer::short_convolution;
  return std::nullopt;
}

/// The layers that a list of words describes. A list of another length than the number of layers contradicts it.
bool apply_words(const ConfigFields& fields, std::vector<ModelLayer>& layers) {
  const std::vector<std::string> words = fields.texts({"layer_types", "layers_block_type"});
  if (words.empty()) return false;
  if (words.size() != layers.size())
    fields.complain("layer_types lists " + std::to_string(words.size()) + " layers, num_hidden_layers says " +
                    std::to_string(layers.size()));
  for (std::size_t i = 0; i < std::min(words.size(), layers.size()); ++i) {
    const auto mixer = mixer_of_word(words[i]);
    if (mixer)
      layers[i].mixer = *mixer;
    else if (words[i] == "moe" || words[i] == "mlp")
      layers[i].mixer = Mixer::none;
    else
      fields.complain("layer_types holds \"" + printable(words[i], 40) + "\", which is no kind of layer known here");
  }
  return true;
}

/// Nemotron-H: one letter for each layer, and each layer is one block alone: M Mamba2, E experts, * attention, - dense.
void apply_pattern(const ConfigFields& fields, const std::string& pattern, std::vector<ModelLayer>& layers) {
  layers.assign(std::min<std::size_t>(pattern.size(), k_most_layers), {});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].feed_forward = FeedForward::none;
    layers[i].mixer = Mixer::none;
    switch (pattern[i]) {
      case 'M': layers[i].mixer = Mixer::mamba2; break;
      case '*': layers[i].mixer = Mixer::full_attention; break;
      case 'E': layers[i].feed_forward = FeedForward::experts; break;
      case '-': layers[i].feed_forward = FeedForward::dense; break;
      default:
        fields.complain("hybrid_override_pattern holds '" + printable(pattern.substr(i, 1)) +
                        "'; known are M, E, * and -");
        return;
    }
  }
}

/// The pattern of Nemotron-H, also where newer configs list words instead; empty for other models.
std::string pattern_of(const ConfigFields& fields, const ModelFamily& family) {
  std::string pattern = fields.text({"hybrid_override_pattern"});
  if (!pattern.empty() || family.type != "nemotron_h") return pattern;
  for (const std::string& word : fields.texts({"layers_block_type", "layer_types"}))
    pattern += word == "mamba" ? 'M' : word == "moe" ? 'E' : word == "attention" ? '*' : word == "mlp" ? '-' : '?';
  return pattern;
}

void apply_window(const ConfigFields& fields, const ModelFamily& family, const Architecture& a,
                  std::vector<ModelLayer>& layers) {
  if (a.sliding_window == 0 || fields.flag({"use_sliding_window"}) == false) return;
  const std::int64_t pattern = fields.whole({"sliding_window_pattern", "_sliding_window_pattern"}, k_most_layers)
                                   .value_or(family.window_pattern);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool nth = pattern > 0 && static_cast<std::int64_t>(i + 1) % pattern == 0;
    const bool slides = family.window == WindowRule::all_when_set ||
                        (family.window == WindowRule::alternating && i % 2 == 0) ||
                        (family.window == WindowRule::every_nth && pattern > 0 && !nth);
    if (slides) layers[i].mixer = Mixer::sliding_attention;
  }
}

/// Layers that are recurrent by rule, where the config gives an interval or positions and no list.
void apply_rules(const ConfigFields& fields, const Architecture& a, std::vector<ModelLayer>& layers) {
  constexpr std::int64_t k_default_interval = 4;  // Qwen3-Next and Qwen3.5
  if (a.linear) {
    const std::int64_t interval = std::max<std::int64_t>(
        1, fields.whole({"full_attention_interval"}, k_most_layers).value_or(k_default_interval));
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (static_cast<std::int64_t>(i + 1) % interval != 0) layers[i].mixer = Mixer::gated_delta_net;
  }
  const std::vector<std::string> positions = fields.texts({"full_attn_idxs"});
  if (a.short_convolution > 0 && !positions.empty()) {
    for (ModelLayer& layer : layers) layer.mixer = Mixer::short_convolution;
    for (const std::string& position : positions) {
      const auto at = parse_integer(position);
      if (at && *at >= 0 && static_cast<std::size_t>(*at) < layers.size())
        layers[static_cast<std::size_t>(*at)].mixer = Mixer::full_attention;
    }
  }
}

/// Whether layer i (from 0) holds experts, by the words of DeepSeek, GLM, Qwen and Ernie.
class ExpertPlaces {
 public:
  ExpertPlaces(const ConfigFields& fields, ExpertRule rule)
      : rule_(rule),
        words_(fields.texts({"mlp_layer_types"})),
        first_(fields.whole({"first_k_dense_replace", "moe_layer_start_index"}, k_most_layers).value_or(0)),
        last_(fields.whole({"moe_layer_end_index"}, k_most_layers).value_or(k_most_layers)),
        step_(fields.whole({"decoder_sparse_step", "moe_layer_interval", "interleave_moe_layer_step"}, k_most_layers)
                  .value_or(1)) {
    for (const std::string& at : fields.texts({"mlp_only_layers"}))
      if (const auto layer = parse_integer(at)) dense_.insert(*layer);
    const ConfigValue* const frequency = fields.find({"moe_layer_freq"});
    if (frequency == nullptr) return;
    if (frequency->kind == ConfigValue::Kind::scalar)
      step_ = fields.whole({"moe_layer_freq"}, k_most_layers).value_or(1);
    for (std::size_t i = 0; i < frequency->items.size(); ++i)
      if (frequency->items[i].text() == "0") dense_.insert(static_cast<std::int64_t>(i));
  }

  [[nodiscard]] bool holds(std::int64_t layer) const {
    if (static_cast<std::size_t>(layer) < words_.size()) return words_[static_cast<std::size_t>(layer)] == "sparse";
    if (dense_.contains(layer) || layer < first_ || layer > last_) return false;
    if (step_ <= 1) return step_ == 1;
    return rule_ == ExpertRule::stepped ? (layer + 1) % step_ == 0 : layer % step_ == 0;
  }

 private:
  ExpertRule rule_;
  std::vector<std::string> words_;
  std::int64_t first_, last_, step_;
  std::set<std::int64_t> dense_;
};

void place_feed_forward(const ConfigFields& fields, const ModelFamily& family, Architecture& a) {
  const ExpertPlaces places(fields, family.experts);
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    ModelLayer& layer = a.layers[i];
    const bool experts = a.experts.known() && places.holds(static_cast<std::int64_t>(i));
    const bool both = family.experts == ExpertRule::beside_dense || family.type == "granitemoehybrid";
    layer.feed_forward = !experts ? FeedForward::dense : both ? FeedForward::dense_and_experts : FeedForward::experts;
  }
}

void set_widths(const ConfigFields& fields, const ModelFamily& family, Architecture& a) {
  const bool gemma4 = family.type.starts_with("gemma4");
  constexpr std::int64_t k_global_head_dim = 512;  // Gemma-4's default
  const std::int64_t global_dim = fields.whole({"global_head_dim"}, k_most_width).value_or(k_global_head_dim);
  const bool same = fields.flag({"attention_k_eq_v"}).value_or(false);
  const auto global_heads = fields.whole({"num_global_key_value_heads"}, k_most_heads);
  const std::int64_t shared = fields.whole({"num_kv_shared_layers"}, k_most_layers).value_or(0);
  const bool wide = fields.flag({"use_double_wide_mlp"}).value_or(false);
  const auto first_shared = static_cast<std::int64_t>(a.layers.size()) - shared;
  if (shared > 0 && first_shared <= 0)
    fields.complain("num_kv_shared_layers is " + std::to_string(shared) + " of " + std::to_string(a.layers.size()) +
                    " layers");
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    ModelLayer& layer = a.layers[i];
    const bool shares = static_cast<std::int64_t>(i) >= first_shared;
    if (layer.feed_forward == FeedForward::dense || layer.feed_forward == FeedForward::dense_and_experts)
      layer.intermediate = a.intermediate * (wide && shares ? 2 : 1);
    if (!layer.attends()) continue;
    layer.query_heads = a.query_heads;
    layer.key_value_heads = a.key_value_heads;
    layer.head_dim = a.head_dim;
    layer.reuses_key_value = shares;
    if (!gemma4 || layer.mixer != Mixer::full_attention) continue;
    layer.head_dim = global_dim;
    layer.value_is_key = same;
    if (same && global_heads.value_or(0) > 0) layer.key_value_heads = *global_heads;
  }
}

void check_widths(const ConfigFields& fields, const Architecture& a) {
  const auto has = [&a](FeedForward kind) {
    return std::any_of(a.layers.begin(), a.layers.end(),
                       [kind](const ModelLayer& layer) { return layer.feed_forward == kind; });
  };
  if (has(FeedForward::dense) && a.intermediate == 0) fields.complain("intermediate_size is missing");
  if (has(FeedForward::experts) && !a.experts) fields.complain("layers of experts, but no number of experts");
  if (a.count_layers(Mixer::gated_delta_net) > 0 && !a.linear)
    fields.complain("layers of linear attention, but no linear_num_value_heads");
  if (a.count_layers(Mixer::mamba2) > 0 && !a.state_space) fields.complain("Mamba layers, but no mamba_num_heads");
  if (a.count_layers(Mixer::short_convolution) > 0 && a.short_convolution == 0)
    fields.complain("layers of short convolution, but no conv_L_cache");
}

}  // namespace

void read_layers(const ConfigFields& fields, const ModelFamily& family, Architecture& architecture,
                 std::vector<std::string>& doubts) {
  const std::string pattern = pattern_of(fields, family);
  const ConfigFields::Names names = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
  if (!pattern.empty()) {
    apply_pattern(fields, pattern, architecture.layers);
    const auto stated = fields.whole(names, k_most_layers);
    if (stated && *stated != static_cast<std::int64_t>(architecture.layers.size()))
      doubts.push_back("hybrid_override_pattern has " + std::to_string(architecture.layers.size()) +
                       " layers, num_hidden_layers says " + std::to_string(*stated) + "; the pattern is counted");
  } else {
    architecture.layers.resize(static_cast<std::size_t>(fields.required(names, k_most_layers)));
    if (!apply_words(fields, architecture.layers)) {
      apply_window(fields, family, architecture, architecture.layers);
      apply_rules(fields, architecture, architecture.layers);
    }
    place_feed_forward(fields, family, architecture);
  }
  set_widths(fields, family, architecture);
  check_widths(fields, architecture);
}

}  // namespace sparkops::facts
