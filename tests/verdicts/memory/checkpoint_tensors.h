#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facts/workload/model.h"

namespace sparkops::verdicts {

/// A tensor as a checkpoint of transformers holds it.
struct CheckpointTensor {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Lists the tensors of a checkpoint one by one, after the modules of transformers: written without a look at how
/// parameters.cpp counts them, so that the two can be compared.
class CheckpointTensors {
 public:
  explicit CheckpointTensors(const facts::Architecture& architecture) : a_(architecture) {}

  std::vector<CheckpointTensor> list() {
    add("model.embed_tokens.weight", {a_.vocabulary, a_.hidden});
    if (a_.learned_positions > 0) add("model.wpe.weight", {a_.learned_positions, a_.hidden});
    if (!a_.tied_embeddings) add("lm_head.weight", {a_.vocabulary, a_.hidden});
    add("model.norm.weight", {a_.hidden});
    if (a_.norm_bias) add("model.norm.bias", {a_.hidden});
    const auto layers = static_cast<std::int64_t>(a_.layers.size());
    if (a_.per_layer_embedding) {
      const std::int64_t width = layers * a_.per_layer_embedding->width;
      add("model.embed_tokens_per_layer.weight", {a_.per_layer_embedding->vocabulary, width});
      add("model.per_layer_model_projection.weight", {width, a_.hidden});
      add("model.per_layer_projection_norm.weight", {a_.per_layer_embedding->width});
    }
    for (std::int64_t i = 0; i < layers; ++i) {
      prefix_ = "model.layers." + std::to_string(i) + ".";
      add_layer(a_.layers[static_cast<std::size_t>(i)]);
    }
    return std::move(tensors_);
  }

 private:
  void add(const std::string& name, std::vector<std::int64_t> shape) { tensors_.push_back({name, std::move(shape)}); }
  void in_layer(const std::string& name, std::vector<std::int64_t> shape) { add(prefix_ + name, std::move(shape)); }

  void linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias = false) {
    in_layer(name + ".weight", {out, in});
    if (bias) in_layer(name + ".bias", {out});
  }

  void add_layer(const facts::ModelLayer& layer) {
    for (int i = 0; i < a_.norms_per_layer; ++i) {
      in_layer("norm_" + std::to_string(i) + ".weight", {a_.hidden});
      if (a_.norm_bias) in_layer("norm_" + std::to_string(i) + ".bias", {a_.hidden});
    }
    if (layer.attends() && a_.latent) add_latent(layer);
    if (layer.attends() && !a_.latent) add_attention(layer);
    if (layer.mixer == facts::Mixer::gated_delta_net) add_delta_net();
    if (layer.mixer == facts::Mixer::mamba2) add_mamba();
    if (layer.mixer == facts::Mixer::short_convolution) {
      linear("conv.in_proj", a_.hidden, 3 * a_.hidden);
      in_layer("conv.conv.weight", {a_.hidden, 1, a_.short_convolution});
      linear("conv.out_proj", a_.hidden, a_.hidden);
    }
    if (layer.intermediate > 0) add_mlp("mlp.", layer.intermediate, a_.mlp_bias);
    const bool experts = layer.feed_forward == facts::FeedForward::experts ||
                         layer.feed_forward == facts::FeedForward::dense_and_experts;
    if (experts) add_experts();
    if (a_.per_layer_embedding) {
      linear("per_layer_input_gate", a_.hidden, a_.per_layer_embedding->width);
      linear("per_layer_projection", a_.per_layer_embedding->width, a_.hidden);
      in_layer("post_per_layer_input_norm.weight", {a_.hidden});
    }
  }

  void add_mlp(const std::string& name, std::int64_t intermediate, bool bias) {
    if (a_.gated_mlp) linear(name + "gate_proj", a_.hidden, intermediate, bias);
    linear(name + "up_proj", a_.hidden, intermediate, bias);
    linear(name + "down_proj", intermediate, a_.hidden, bias);
  }

  void add_attention(const facts::ModelLayer& layer) {
    const std::int64_t q = layer.query_heads * layer.head_dim, k = layer.key_value_heads * layer.head_dim;
    linear("self_attn.q_proj", a_.hidden, a_.attention_gate ? 2 * q : q, a_.query_key_value_bias);
    const bool stored = !layer.reuses_key_value || a_.shared_layers_keep_key_value;
    if (stored) linear("self_attn.k_proj", a_.hidden, k, a_.query_key_value_bias);
    if (stored && !layer.value_is_key) linear("self_attn.v_proj", a_.hidden, k, a_.query_key_value_bias);
    linear("self_attn.o_proj", q, a_.hidden, a_.output_bias);
    if (a_.sinks) in_layer("self_attn.sinks", {layer.query_heads});
    const bool per_head = a_.query_key_norm == facts::QueryKeyNorm::per_head;
    if (a_.query_key_norm == facts::QueryKeyNorm::none) return;
    in_layer("self_attn.q_norm.weight", {per_head ? layer.head_dim : q});
    if (stored) in_layer("self_attn.k_norm.weight", {per_head ? layer.head_dim : k});
  }

  void add_latent(const facts::ModelLayer& layer) {
    const facts::LatentAttention& l = *a_.latent;
    const std::int64_t heads = layer.query_heads, q = heads * (l.nope_head_dim + l.rope_head_dim);
    if (l.query_rank > 0) {
      linear("self_attn.q_a_proj", a_.hidden, l.query_rank);
      in_layer("self_attn.q_a_layernorm.weight", {l.query_rank});
      linear("self_attn.q_b_proj", l.query_rank, q);
    } else {
      linear("self_attn.q_proj", a_.hidden, q);
    }
    linear("self_attn.kv_a_proj_with_mqa", a_.hidden, l.key_value_rank + l.rope_head_dim);
    in_layer("self_attn.kv_a_layernorm.weight", {l.key_value_rank});
    linear("self_attn.kv_b_proj", l.key_value_rank, heads * (l.nope_head_dim + l.value_head_dim));
    linear("self_attn.o_proj", heads * l.value_head_dim, a_.hidden);
    if (l.indexer_heads == 0) return;
    linear("self_attn.indexer.wq_b", l.query_rank, l.indexer_heads * l.indexer_head_dim);
    linear("self_attn.indexer.wk", a_.hidden, l.indexer_head_dim);
    in_layer("self_attn.indexer.k_norm.weight", {l.indexer_head_dim});
    in_layer("self_attn.indexer.k_norm.bias", {l.indexer_head_dim});
    linear("self_attn.indexer.weights_proj", a_.hidden, l.indexer_heads);
  }

  void add_delta_net() {
    const facts::LinearAttention& l = *a_.linear;
    const std::int64_t keys = l.key_heads * l.key_head_dim, values = l.value_heads * l.value_head_dim;
    linear("linear_attn.in_proj_qkv", a_.hidden, 2 * keys + values);
    linear("linear_attn.in_proj_z", a_.hidden, values);
    linear("linear_attn.in_proj_b", a_.hidden, l.value_heads);
    linear("linear_attn.in_proj_a", a_.hidden, l.value_heads);
    in_layer("linear_attn.conv1d.weight", {2 * keys + values, 1, l.convolution});
    in_layer("linear_attn.A_log", {l.value_heads});
    in_layer("linear_attn.dt_bias", {l.value_heads});
    in_layer("linear_attn.norm.weight", {l.value_head_dim});
    linear("linear_attn.out_proj", values, a_.hidden);
  }

  void add_mamba() {
    const facts::StateSpace& s = *a_.state_space;
    const std::int64_t inner = s.heads * s.head_dim, convolved = inner + 2 * s.groups * s.state;
    linear("mamba.in_proj", a_.hidden, 2 * inner + 2 * s.groups * s.state + s.heads);
    in_layer("mamba.conv1d.weight", {convolved, 1, s.convolution});
    in_layer("mamba.conv1d.bias", {convolved});
    for (const char* const name : {"mamba.A_log", "mamba.D", "mamba.dt_bias"}) in_layer(name, {s.heads});
    in_layer("mamba.norm.weight", {inner});
    linear("mamba.out_proj", inner, a_.hidden);
  }

  void add_experts() {
    const facts::Experts& e = *a_.experts;
    const std::int64_t width = e.latent > 0 ? e.latent : a_.hidden;
    const std::int64_t in = a_.gated_mlp ? 2 * e.intermediate : e.intermediate;
    // Fused as current transformers and gpt-oss store them: the same bytes in fewer names.
    in_layer("mlp.experts.gate_up_proj", {e.count, width, in});
    in_layer("mlp.experts.down_proj", {e.count, e.intermediate, width});
    if (e.biases) in_layer("mlp.experts.gate_up_proj_bias", {e.count, in});
    if (e.biases) in_layer("mlp.experts.down_proj_bias", {e.count, width});
    linear("mlp.gate", a_.hidden, e.count, e.router_bias);
    if (e.correction_bias != facts::CorrectionBias::none) in_layer("mlp.gate.e_score_correction_bias", {e.count});
    if (e.per_expert_scale) {
      in_layer("router.per_expert_scale", {e.count});
      in_layer("router.scale", {a_.hidden});
      for (const char* const name :
           {"pre_feedforward_layernorm_2", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"})
        in_layer(std::string(name) + ".weight", {a_.hidden});
    }
    if (e.latent > 0) linear("mlp.fc1_latent_proj", a_.hidden, e.latent);
    if (e.latent > 0) linear("mlp.fc2_latent_proj", e.latent, a_.hidden);
    if (e.shared_intermediate > 0) add_mlp("mlp.shared_experts.", e.shared_intermediate, false);
    if (e.shared_gate) linear("mlp.shared_expert_gate", a_.hidden, 1);
  }

  const facts::Architecture& a_;
  std::string prefix_;
  std::vector<CheckpointTensor> tensors_;
};

}  // namespace sparkops::verdicts
