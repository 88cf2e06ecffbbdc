#include <string>
#include <string_view>

#include "verdicts/memory/parameters.h"

namespace sparkops::verdicts {

namespace {

using facts::Tower;

/// A linear layer with its bias.
std::int64_t linear(std::int64_t in, std::int64_t out) {
  return in * out + out;
}

/// SigLIP (Gemma-3, Mistral-Small-3 style towers have other classes): patch and position embeddings, pre-norm blocks
/// with biases, a last LayerNorm; then Gemma-3's RMSNorm and projection.
std::int64_t siglip(const Tower& t, std::int64_t hidden) {
  const std::int64_t block = 4 * linear(t.hidden, t.hidden) + linear(t.hidden, t.intermediate) +
                             linear(t.intermediate, t.hidden) + 4 * t.hidden;
  const std::int64_t embeddings = linear(t.channels * t.patch * t.patch, t.hidden) + t.positions * t.hidden;
  return embeddings + t.layers * block + 2 * t.hidden + t.hidden * hidden + t.hidden;
}

/// Qwen3-VL and Qwen3.5: biases everywhere, a patch merger of two linear layers, further ones for deepstack.
std::int64_t qwen3(const Tower& t) {
  const std::int64_t block = linear(t.hidden, 3 * t.hidden) + linear(t.hidden, t.hidden) +
                             linear(t.hidden, t.intermediate) + linear(t.intermediate, t.hidden) + 4 * t.hidden;
  const std::int64_t merged = t.hidden * t.merge * t.merge;
  const std::int64_t merger = linear(merged, merged) + linear(merged, t.output);
  const std::int64_t embeddings =
      linear(t.channels * t.temporal_patch * t.patch * t.patch, t.hidden) + t.positions * t.hidden;
  return embeddings + t.layers * block + merger + 2 * t.hidden + t.deepstack * (merger + 2 * merged);
}

/// Gemma-4's encoder: no biases, gated MLP, two position tables, norms of queries and keys; then a projection.
std::int64_t gemma4_vision(const Tower& t, std::int64_t hidden) {
  const std::int64_t head = t.head_dim > 0 ? t.head_dim : t.hidden / t.heads;
  const std::int64_t block = 4 * t.hidden * t.heads * head + 3 * t.hidden * t.intermediate + 2 * head + 4 * t.hidden;
  return t.channels * t.patch * t.patch * t.hidden + 2 * t.positions * t.hidden + t.layers * block + t.hidden * hidden;
}

/// Gemma-4's conformer: two feed-forward networks of four times the width, attention with relative positions, a light
/// convolution; two input convolutions of 3 × 3.
std::int64_t gemma4_audio(const Tower& t, std::int64_t hidden) {
  constexpr std::int64_t k_window = 9, k_widening = 4;
  const std::int64_t first = t.subsampling[0], second = t.subsampling[1];
  const std::int64_t input =
      k_window * first + first + k_window * first * second + second + first / 4 * second * t.hidden;
  const std::int64_t networks = 2 * (2 * k_widening * t.hidden * t.hidden + 2 * t.hidden);
  const std::int64_t attention = 5 * t.hidden * t.hidden + t.hidden / t.heads;
  const std::int64_t convolution = 3 * t.hidden * t.hidden + t.hidden * t.convolution + 2 * t.hidden;
  return input + t.layers * (networks + attention + convolution + 3 * t.hidden) + linear(t.hidden, t.output) +
         t.output * hidden;
}

/// Gemma-4-12B has no encoder: joined patches go through one linear layer between two LayerNorms, get two position
/// embeddings and a third LayerNorm, and are projected.
std::int64_t gemma4_unified_vision(const Tower& t, std::int64_t hidden) {
  const std::int64_t pixels = t.channels * t.patch * t.merge * t.patch * t.merge;
  return 2 * pixels + linear(pixels, t.hidden) + 2 * t.hidden + 2 * t.positions * t.hidden + 2 * t.hidden +
         t.hidden * hidden;
}

}  // namespace

Known<std::int64_t> count_tower_parameters(const Tower& tower, std::int64_t hidden) {
  if (tower.parameters) return tower.parameters;
  const std::string_view type = tower.model_type;
  const std::string of = type.empty() ? "a tower that names no model_type" : "a tower of type " + tower.model_type;
  if (tower.hidden == 0) return unknown("the width of " + of + " is not told");
  if (type == "gemma4_unified_vision") return as_derived(gemma4_unified_vision(tower, hidden));
  if (type == "gemma4_unified_audio") return as_derived(tower.hidden * hidden);
  if (tower.layers == 0 || tower.heads == 0) return unknown("layers or heads of " + of + " are not told");
  if (type == "gemma4_audio") return as_derived(gemma4_audio(tower, hidden));
  if (tower.intermediate == 0) return unknown("the inner width of " + of + " is not told");
  if (type == "siglip_vision_model" && tower.positions > 0) return as_derived(siglip(tower, hidden));
  if (type.starts_with("qwen3_vl") || type.starts_with("qwen3_5")) return as_derived(qwen3(tower));
  if (type == "gemma4_vision") return as_derived(gemma4_vision(tower, hidden));
  return unknown("the parameters of " + of + " are not counted here");
}

}  // namespace sparkops::verdicts
