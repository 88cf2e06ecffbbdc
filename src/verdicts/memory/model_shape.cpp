#include "verdicts/memory/model_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "verdicts/memory/parameters.h"

namespace sparkops::verdicts {

namespace {

double number(std::int64_t value) {
  return static_cast<double>(value);
}

/// Families whose experts are one three-dimensional tensor in transformers: no linear layers that bitsandbytes or PEFT
/// would see (memory-model.md §4).
bool has_fused_experts(std::string_view family) {
  constexpr std::array<std::string_view, 6> k_families{"qwen3_5_moe", "qwen3_next", "gpt_oss",
                                                       "gemma4",      "llama4",     "glm4_moe_lite"};
  return std::any_of(k_families.begin(), k_families.end(),
                     [&](std::string_view word) { return family.starts_with(word); });
}

void add_attention(const facts::Architecture& architecture, ModelShape& shape) {
  for (const facts::ModelLayer& layer : architecture.layers) {
    if (!layer.attends()) continue;
    shape.attention_layers += 1;
    shape.query_width = std::max(shape.query_width, number(layer.query_heads * layer.head_dim));
    shape.key_value_width = std::max(shape.key_value_width, number(layer.key_value_heads * layer.head_dim));
    shape.query_heads = std::max(shape.query_heads, number(layer.query_heads));
  }
  if (architecture.latent) {
    const facts::LatentAttention& latent = *architecture.latent;
    // The kernels see the expanded heads: query and key of nope + rope, values of their own width.
    shape.query_width = number(architecture.query_heads * (latent.nope_head_dim + latent.rope_head_dim));
    shape.key_value_width = number(architecture.query_heads * latent.value_head_dim);
    shape.query_heads = number(architecture.query_heads);
  }
}

/// Layers of the same cache size and window together.
void add_cache(const facts::Architecture& architecture, ModelShape& shape) {
  for (const facts::ModelLayer& layer : architecture.layers) {
    if (!layer.attends() || layer.reuses_key_value) continue;
    CacheGroup group{.layers = 1, .values_per_token = 2 * number(layer.key_value_heads * layer.head_dim), .window = 0};
    if (architecture.latent)
      group.values_per_token = number(architecture.latent->key_value_rank + architecture.latent->rope_head_dim);
    if (layer.mixer == facts::Mixer::sliding_attention) group.window = number(architecture.sliding_window);
    const auto same = std::find_if(shape.cache.begin(), shape.cache.end(), [&](const CacheGroup& other) {
      return other.values_per_token == group.values_per_token && other.window == group.window;
    });
    if (same != shape.cache.end())
      same->layers += 1;
    else
      shape.cache.push_back(group);
  }
  if (architecture.latent && architecture.latent->indexer_head_dim > 0)
    shape.cache.push_back({.layers = shape.attention_layers,
                           .values_per_token = number(architecture.latent->indexer_head_dim),
                           .window = 0});
}

void add_feed_forward(const facts::Architecture& architecture, ModelShape& shape) {
  for (const facts::ModelLayer& layer : architecture.layers) {
    const bool dense =
        layer.feed_forward == facts::FeedForward::dense || layer.feed_forward == facts::FeedForward::dense_and_experts;
    const bool experts = layer.feed_forward == facts::FeedForward::experts ||
                         layer.feed_forward == facts::FeedForward::dense_and_experts;
    if (dense) {
      shape.dense_layers += 1;
      shape.intermediate = std::max(shape.intermediate, number(layer.intermediate));
    }
    if (experts) shape.expert_layers += 1;
  }
  if (!architecture.experts) return;
  const facts::Experts& experts = *architecture.experts;
  shape.experts = number(experts.count);
  shape.active_experts = number(experts.active);
  shape.expert_intermediate = number(experts.intermediate);
  shape.expert_width = number(experts.latent > 0 ? experts.latent : architecture.hidden);
  shape.shared_intermediate = number(experts.shared_intermediate);
}

void add_recurrent(const facts::Architecture& architecture, ModelShape& shape) {
  if (architecture.linear) {
    const facts::LinearAttention& linear = *architecture.linear;
    const double keys = number(linear.key_heads * linear.key_head_dim);
    const double values = number(linear.value_heads * linear.value_head_dim);
    shape.recurrent_layers += number(architecture.count_layers(facts::Mixer::gated_delta_net));
    shape.recurrent_input_width = 2 * keys + 2 * values + 2 * number(linear.value_heads);
    shape.recurrent_conv_width = 2 * keys + values;
    shape.recurrent_inner_width = values;
    shape.recurrent_state = number(linear.value_heads * linear.key_head_dim * linear.value_head_dim) +
                            number(linear.convolution - 1) * shape.recurrent_conv_width;
  }
  if (architecture.state_space) {
    const facts::StateSpace& space = *architecture.state_space;
    const double inner = number(space.heads * space.head_dim);
    const double groups = 2 * number(space.groups * space.state);
    shape.recurrent_layers += number(architecture.count_layers(facts::Mixer::mamba2));
    shape.recurrent_input_width = 2 * inner + groups + number(space.heads);
    shape.recurrent_conv_width = inner + groups;
    shape.recurrent_inner_width = inner;
    shape.recurrent_state = inner * number(space.state) + number(space.convolution - 1) * shape.recurrent_conv_width;
  }
}

void add_counts(const facts::Model& model, const ParameterCount& count, ModelShape& shape) {
  const double decoder = number(count.total());
  shape.embedding_parameters = number(count.embedding + count.per_layer_embedding);
  shape.head_parameters = number(count.head);
  shape.expert_parameters = number(count.experts);
  shape.tower_parameters = number(count.vision + count.audio);
  shape.small_parameters = number(count.norms + count.router);
  shape.largest_matrix = number(count.largest_linear);
  shape.parameters = decoder;
  if (!model.parameters) return;
  // A published or read total is what is loaded; what the architecture does not explain is a tower or a doubt.
  const double given = number(*model.parameters);
  if (given > decoder) shape.tower_parameters += given - decoder;
  shape.parameters = std::max(given, decoder);
}

}  // namespace

Known<ModelShape> shape_of_model(const facts::Model& model) {
  if (!model.architecture) {
    if (!model.parameters) return unknown(model.architecture.reason());
    ModelShape shape = shape_of_parameters(number(*model.parameters));
    shape.name = model.name;
    shape.doubts = model.doubts;
    return as_derived(std::move(shape));
  }
  const facts::Architecture& architecture = *model.architecture;
  const Known<ParameterCount> count = count_parameters(architecture);
  if (!count) return count.as_unknown();
  ModelShape shape;
  shape.name = model.name;
  shape.family = architecture.family;
  shape.family_known = architecture.family_known || architecture.family == "generic";
  shape.layers = number(static_cast<std::int64_t>(architecture.layers.size()));
  shape.hidden = number(architecture.hidden);
  shape.vocabulary = number(architecture.vocabulary);
  shape.residual_streams = number(architecture.residual_streams);
  shape.gated = architecture.gated_mlp;
  shape.fused_experts = has_fused_experts(architecture.family);
  shape.doubts = model.doubts;
  add_attention(architecture, shape);
  add_cache(architecture, shape);
  add_feed_forward(architecture, shape);
  add_recurrent(architecture, shape);
  add_counts(model, *count, shape);
  return as_derived(std::move(shape));
}

ModelShape shape_of_parameters(double parameters) {
  // Usual decoders: 8e9 → 32 layers of 4096, 70e9 → 80 of 8192 (memory-model.md §11).
  constexpr double k_reference = 8e9, k_reference_layers = 32, k_growth = 0.4, k_parameters_per_square = 12.5;
  constexpr double k_inner = 3.3, k_head_width = 128, k_group = 4, k_vocabulary = 152000, k_multiple = 128;
  ModelShape shape;
  shape.name = "unnamed";
  shape.family = "unknown";
  shape.widths_known = false;
  shape.parameters = parameters;
  shape.layers = std::max(4.0, std::round(k_reference_layers * std::pow(parameters / k_reference, k_growth)));
  const double hidden = std::sqrt(parameters / (shape.layers * k_parameters_per_square));
  shape.hidden = std::max(k_multiple, std::round(hidden / k_multiple) * k_multiple);
  shape.intermediate = std::round(shape.hidden * k_inner);
  shape.vocabulary = k_vocabulary;
  shape.embedding_parameters = std::min(parameters * 0.3, k_vocabulary * shape.hidden);
  shape.head_parameters = parameters > 4e9 ? shape.embedding_parameters : 0;
  shape.small_parameters = 2 * shape.hidden * shape.layers;
  shape.largest_matrix = shape.hidden * shape.intermediate;
  shape.attention_layers = shape.dense_layers = shape.layers;
  shape.query_width = shape.hidden;
  shape.key_value_width = std::max(k_head_width, shape.hidden / k_group);
  shape.query_heads = std::max(1.0, shape.hidden / k_head_width);
  shape.cache = {{.layers = shape.layers, .values_per_token = 2 * shape.key_value_width, .window = 0}};
  return shape;
}

}  // namespace sparkops::verdicts
