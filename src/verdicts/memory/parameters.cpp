#include "verdicts/memory/parameters.h"

#include <algorithm>
#include <initializer_list>

namespace sparkops::verdicts {

namespace {

using facts::Architecture;
using facts::CorrectionBias;
using facts::Experts;
using facts::FeedForward;
using facts::Mixer;
using facts::ModelLayer;
using facts::QueryKeyNorm;

/// No model has a matrix of so many weights; products stop here, so that sums of them fit.
constexpr std::int64_t k_absurd = 10'000'000'000'000;

std::int64_t product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors)
    if (__builtin_mul_overflow(result, factor, &result) || result > k_absurd) return k_absurd;
  return result;
}

/// Two or three matrices between the hidden width and the wider one.
std::int64_t feed_forward(const Architecture& a, std::int64_t hidden, std::int64_t intermediate) {
  return product({a.gated_mlp ? 3 : 2, hidden, intermediate});
}

void note_linear(ParameterCount& count, std::int64_t size) {
  count.largest_linear = std::max(count.largest_linear, size);
}

void add_latent_attention(const Architecture& a, const ModelLayer& layer, ParameterCount& count) {
  const facts::LatentAttention& latent = *a.latent;
  const std::int64_t query_width = product({layer.query_heads, latent.rope_head_dim + latent.nope_head_dim});
  const std::int64_t query_input = latent.query_rank > 0 ? latent.query_rank : a.hidden;
  const std::int64_t expanded = product({layer.query_heads, latent.nope_head_dim + latent.value_head_dim});
  const std::int64_t queries = product({query_input, query_width});
  const std::int64_t output = product({layer.query_heads, latent.value_head_dim, a.hidden});
  count.attention += queries + output;
  if (latent.query_rank > 0) count.attention += product({a.hidden, latent.query_rank}) + latent.query_rank;
  count.attention += product({a.hidden, latent.key_value_rank + latent.rope_head_dim}) + latent.key_value_rank;
  count.attention += product({latent.key_value_rank, expanded});
  if (latent.indexer_heads > 0) {
    // Queries from the compressed ones, one key for all heads with a LayerNorm, one weight for each head.
    count.attention += product({query_input, latent.indexer_heads, latent.indexer_head_dim});
    count.attention += product({a.hidden, latent.indexer_head_dim}) + 2 * latent.indexer_head_dim;
    count.attention += product({a.hidden, latent.indexer_heads});
  }
  note_linear(count, std::max(queries, output));
}

void add_attention(const Architecture& a, const ModelLayer& layer, ParameterCount& count) {
  if (a.latent) return add_latent_attention(a, layer, count);
  const std::int64_t query = product({layer.query_heads, layer.head_dim});
  const std::int64_t key = product({layer.key_value_heads, layer.head_dim});
  const std::int64_t query_out = a.attention_gate ? 2 * query : query;
  const bool holds_key_value = !layer.reuses_key_value || a.shared_layers_keep_key_value;
  const std::int64_t key_value_matrices = !holds_key_value ? 0 : layer.value_is_key ? 1 : 2;
  count.attention += product({a.hidden, query_out}) + product({query, a.hidden});
  count.attention += key_value_matrices * product({a.hidden, key});
  if (a.query_key_value_bias) count.attention += query_out + key_value_matrices * key;
  if (a.output_bias) count.attention += a.hidden;
  if (a.sinks) count.attention += layer.query_heads;
  if (a.query_key_norm == QueryKeyNorm::per_head) count.attention += layer.head_dim * (holds_key_value ? 2 : 1);
  if (a.query_key_norm == QueryKeyNorm::full_width) count.attention += query + (holds_key_value ? key : 0);
  note_linear(count, product({a.hidden, query_out}));
}

void add_delta_net(const Architecture& a, ParameterCount& count) {
  if (!a.linear) return;
  const facts::LinearAttention& linear = *a.linear;
  const std::int64_t keys = product({linear.key_heads, linear.key_head_dim});
  const std::int64_t values = product({linear.value_heads, linear.value_head_dim});
  count.linear_mixers += product({a.hidden, 2 * keys + 2 * values});        // q, k, v and the gate z
  count.linear_mixers += product({a.hidden, 2 * linear.value_heads});       // b and a
  count.linear_mixers += product({2 * keys + values, linear.convolution});  // without bias
  count.linear_mixers += 2 * linear.value_heads + linear.value_head_dim;    // A_log, dt_bias, norm
  count.linear_mixers += product({values, a.hidden});
  note_linear(count, product({a.hidden, 2 * keys + values}));
}

void add_mamba2(const Architecture& a, ParameterCount& count) {
  if (!a.state_space) return;
  const facts::StateSpace& space = *a.state_space;
  const std::int64_t inner = product({space.heads, space.head_dim});
  const std::int64_t convolved = inner + 2 * product({space.groups, space.state});
  const std::int64_t input = product({a.hidden, inner + convolved + space.heads});
  count.linear_mixers += input + product({convolved, space.convolution}) + convolved;  // the convolution has a bias
  count.linear_mixers += 3 * space.heads + inner;                                      // A_log, D, dt_bias; norm
  count.linear_mixers += product({inner, a.hidden});
  note_linear(count, input);
}

void add_short_convolution(const Architecture& a, ParameterCount& count) {
  count.linear_mixers += product({4, a.hidden, a.hidden}) + product({a.hidden, a.short_convolution});
  note_linear(count, product({3, a.hidden, a.hidden}));
}

void add_dense(const Architecture& a, const ModelLayer& layer, ParameterCount& count) {
  count.mlp += feed_forward(a, a.hidden, layer.intermediate);
  if (a.mlp_bias) count.mlp += (a.gated_mlp ? 2 : 1) * layer.intermediate + a.hidden;
  note_linear(count, product({a.hidden, layer.intermediate}));
}

void add_experts(const Architecture& a, ParameterCount& count) {
  if (!a.experts) return;
  const Experts& experts = *a.experts;
  const std::int64_t width = experts.latent > 0 ? experts.latent : a.hidden;
  std::int64_t one = feed_forward(a, width, experts.intermediate);
  if (experts.biases) one += (a.gated_mlp ? 2 : 1) * experts.intermediate + width;
  count.experts += product({experts.count, one});
  count.router += product({a.hidden, experts.count});
  if (experts.router_bias) count.router += experts.count;
  if (experts.correction_bias == CorrectionBias::parameter) count.router += experts.count;
  if (experts.correction_bias == CorrectionBias::buffer) count.buffers += experts.count;
  if (experts.per_expert_scale) count.router += experts.count + a.hidden;
  if (experts.latent > 0) count.shared_experts += 2 * product({a.hidden, experts.latent});
  count.shared_experts += feed_forward(a, a.hidden, experts.shared_intermediate);
  if (experts.shared_gate) count.shared_experts += a.hidden;
  note_linear(count, product({a.hidden, experts.shared_intermediate}));
}

void add_norms(const Architecture& a, const ModelLayer& layer, ParameterCount& count) {
  constexpr std::int64_t k_gemma4_expert_norms = 3;
  const bool gemma4_experts =
      layer.feed_forward == FeedForward::dense_and_experts && a.experts && a.experts->per_expert_scale;
  const std::int64_t norms = a.norms_per_layer + (gemma4_experts ? k_gemma4_expert_norms : 0);
  count.norms += norms * a.hidden * (a.norm_bias ? 2 : 1);
}

void add(ParameterCount& sum, const ParameterCount& part) {
  sum.per_layer_embedding += part.per_layer_embedding;
  sum.attention += part.attention;
  sum.linear_mixers += part.linear_mixers;
  sum.mlp += part.mlp;
  sum.experts += part.experts;
  sum.shared_experts += part.shared_experts;
  sum.router += part.router;
  sum.norms += part.norms;
  sum.buffers += part.buffers;
  note_linear(sum, part.largest_linear);
}

/// MTP blocks, approximately: the last layer again, a projection of two joined states, three norms; DeepSeek and GLM
/// store copies of embedding and head as well.
std::int64_t count_next_token(const Architecture& a) {
  if (a.next_token_layers == 0 || a.layers.empty()) return 0;
  const ParameterCount layer = count_layer_parameters(a, a.layers.back());
  const bool copies = a.family.starts_with("deepseek") || a.family.starts_with("glm") || a.family == "kimi_k2";
  const std::int64_t one = layer.decoder() + product({2, a.hidden, a.hidden}) + 3 * a.hidden +
                           (copies ? 2 * product({a.vocabulary, a.hidden}) : 0);
  return product({a.next_token_layers, one});
}

}  // namespace

ParameterCount count_layer_parameters(const Architecture& a, const ModelLayer& layer) {
  ParameterCount count;
  if (layer.attends()) add_attention(a, layer, count);
  if (layer.mixer == Mixer::gated_delta_net) add_delta_net(a, count);
  if (layer.mixer == Mixer::mamba2) add_mamba2(a, count);
  if (layer.mixer == Mixer::short_convolution) add_short_convolution(a, count);
  if (layer.intermediate > 0) add_dense(a, layer, count);
  if (layer.feed_forward == FeedForward::experts || layer.feed_forward == FeedForward::dense_and_experts)
    add_experts(a, count);
  add_norms(a, layer, count);
  if (a.per_layer_embedding)
    count.per_layer_embedding += 2 * product({a.hidden, a.per_layer_embedding->width}) + a.hidden;
  if (a.family.starts_with("gemma4")) count.buffers += 1;  // layer_scalar
  return count;
}

Known<ParameterCount> count_parameters(const Architecture& a) {
  ParameterCount sum;
  for (const ModelLayer& layer : a.layers) add(sum, count_layer_parameters(a, layer));
  sum.embedding = product({a.vocabulary + a.learned_positions, a.hidden});
  sum.head = a.tied_embeddings ? 0 : product({a.vocabulary, a.hidden});
  sum.norms += a.hidden * (a.norm_bias ? 2 : 1);
  if (a.per_layer_embedding) {
    const std::int64_t width = product({static_cast<std::int64_t>(a.layers.size()), a.per_layer_embedding->width});
    sum.per_layer_embedding += product({a.per_layer_embedding->vocabulary + a.hidden, width});
    sum.per_layer_embedding += a.per_layer_embedding->width;
  }
  for (const facts::Tower& tower : a.towers) {
    const std::int64_t size = count_tower_parameters(tower, a.hidden).value_or(0);
    (tower.kind == facts::Tower::Kind::vision ? sum.vision : sum.audio) += size;
  }
  sum.next_token = count_next_token(a);
  if (sum.total() >= k_absurd || sum.next_token >= k_absurd)
    return unknown("the config's numbers multiply to more than 10^13 parameters, which no model has");
  sum.active = sum.total();
  if (a.experts && a.experts->count > 0) sum.active += sum.experts / a.experts->count * a.experts->active - sum.experts;
  return as_derived(sum);
}

CacheValues count_cache_values(const Architecture& a) {
  CacheValues values;
  const auto recurrent = [&values](std::int64_t inner, std::int64_t keys, std::int64_t per_channel,
                                   std::int64_t convolution) {
    values.state += product({inner, per_channel}) + product({convolution - 1, inner + 2 * keys});
  };
  for (const ModelLayer& layer : a.layers) {
    if (layer.mixer == Mixer::gated_delta_net && a.linear)
      recurrent(product({a.linear->value_heads, a.linear->value_head_dim}),
                product({a.linear->key_heads, a.linear->key_head_dim}), a.linear->key_head_dim, a.linear->convolution);
    if (layer.mixer == Mixer::mamba2 && a.state_space)
      recurrent(product({a.state_space->heads, a.state_space->head_dim}),
                product({a.state_space->groups, a.state_space->state}), a.state_space->state,
                a.state_space->convolution);
    if (layer.mixer == Mixer::short_convolution) values.state += product({a.short_convolution - 1, a.hidden});
    if (!layer.attends() || layer.reuses_key_value) continue;
    const std::int64_t width = a.latent ? a.latent->key_value_rank + a.latent->rope_head_dim
                                        : product({2, layer.key_value_heads, layer.head_dim});
    (layer.mixer == Mixer::sliding_attention ? values.sliding : values.full) += width;
    if (a.latent) values.indexer += a.latent->indexer_head_dim;
  }
  return values;
}

}  // namespace sparkops::verdicts
