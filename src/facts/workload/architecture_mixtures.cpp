#include <algorithm>

#include "facts/workload/architecture_reader.h"

namespace sparkops::facts {

namespace {

/// The width of all shared experts together.
std::int64_t shared_width(const ConfigFields& fields, const ModelFamily& family, std::int64_t intermediate) {
  if (family.type == "granitemoehybrid") return 0;  // its shared network is counted as the dense one
  const auto count = fields.whole({"n_shared_experts", "moe_num_shared_experts", "num_shared_experts"}, k_most_experts);
  const auto width = fields.whole(
      {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"},
      k_most_width);
  if (width) return *width * std::max<std::int64_t>(1, count.value_or(1));
  return count.value_or(0) * intermediate;
}

void read_experts(const ConfigFields& fields, const ModelFamily& family, Architecture& a) {
  a.experts = unknown("the model has no experts");
  const auto count =
      fields.whole({"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts"},
                   k_most_experts);
  if (family.experts == ExpertRule::none || count.value_or(0) == 0) return;
  if (family.experts == ExpertRule::beside_dense && !fields.flag({"enable_moe_block"}).value_or(false)) return;
  Experts experts;
  experts.count = *count;
  experts.active = fields.required(
      {"num_experts_per_tok", "num_experts_per_token", "top_k_experts", "experts_per_token", "moe_k", "moe_topk"},
      k_most_experts);
  experts.intermediate =
      fields.required({"moe_intermediate_size", "intermediate_size", "ffn_hidden_size"}, k_most_width);
  if (experts.active > experts.count)
    fields.complain("a token uses " + std::to_string(experts.active) + " of " + std::to_string(experts.count) +
                    " experts");
  experts.shared_intermediate = shared_width(fields, family, experts.intermediate);
  experts.latent = fields.whole({"moe_latent_size"}, k_most_width).value_or(0);
  experts.shared_gate =
      family.type.starts_with("qwen2_moe") || family.type == "qwen3_next" || family.type.starts_with("qwen3_5");
  experts.router_bias = experts.biases = family.type == "gpt_oss";
  experts.correction_bias = family.correction_bias;
  experts.per_expert_scale = family.experts == ExpertRule::beside_dense;
  a.experts = as_read(experts);
}

void read_latent(const ConfigFields& fields, Architecture& a) {
  a.latent = unknown("the model has no latent attention");
  const auto rank = fields.whole({"kv_lora_rank"}, k_most_width);
  if (rank.value_or(0) == 0) return;
  LatentAttention latent;
  latent.key_value_rank = *rank;
  latent.query_rank = fields.whole({"q_lora_rank"}, k_most_width).value_or(0);
  latent.rope_head_dim = fields.required({"qk_rope_head_dim"}, k_most_width);
  latent.nope_head_dim = fields.required({"qk_nope_head_dim"}, k_most_width);
  latent.value_head_dim = fields.required({"v_head_dim"}, k_most_width);
  latent.indexer_heads = fields.whole({"index_n_heads"}, k_most_heads).value_or(0);
  latent.indexer_head_dim = fields.whole({"index_head_dim"}, k_most_width).value_or(0);
  a.latent = as_read(latent);
}

void read_linear(const ConfigFields& fields, Architecture& a) {
  a.linear = unknown("the model has no linear attention");
  if (!fields.has({"linear_num_value_heads"})) return;
  LinearAttention linear;
  linear.key_heads = fields.required({"linear_num_key_heads"}, k_most_heads);
  linear.value_heads = fields.required({"linear_num_value_heads"}, k_most_heads);
  linear.key_head_dim = fields.required({"linear_key_head_dim"}, k_most_width);
  linear.value_head_dim = fields.required({"linear_value_head_dim"}, k_most_width);
  linear.convolution = fields.required({"linear_conv_kernel_dim"}, k_most_heads);
  a.linear = as_read(linear);
}

void read_state_space(const ConfigFields& fields, Architecture& a) {
  a.state_space = unknown("the model has no Mamba layers");
  const ConfigFields::Names heads = {"mamba_num_heads", "mamba_n_heads"};
  if (!fields.has(heads)) return;
  StateSpace space;
  space.heads = fields.required(heads, k_most_heads);
  const ConfigFields::Names head_dim = {"mamba_head_dim", "mamba_d_head"};
  const bool automatic = fields.text(head_dim) == "auto";
  const std::int64_t expand = fields.whole({"mamba_expand", "expand"}, k_most_heads).value_or(2);
  if (automatic && space.heads > 0)
    space.head_dim = expand * a.hidden / space.heads;
  else
    space.head_dim = fields.required(head_dim, k_most_width);
  space.state = fields.required({"ssm_state_size", "mamba_d_state"}, k_most_width);
  space.groups = fields.required({"n_groups", "mamba_n_groups"}, k_most_heads);
  space.convolution = fields.required({"conv_kernel", "mamba_d_conv"}, k_most_heads);
  a.state_space = as_read(space);
}

}  // namespace

void read_mixtures(const ConfigFields& fields, const ModelFamily& family, Architecture& architecture) {
  read_experts(fields, family, architecture);
  read_latent(fields, architecture);
  read_linear(fields, architecture);
  read_state_space(fields, architecture);
}

}  // namespace sparkops::facts
