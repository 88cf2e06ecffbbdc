#include "facts/workload/tensor_names.h"

#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

TEST(PartOfTensor, IsToldByNamesOfTransformers) {
  const std::pair<const char*, ModelPart> k_names[] = {
      {"model.embed_tokens.weight", ModelPart::embedding},
      {"lm_head.weight", ModelPart::head},
      {"model.layers.3.self_attn.q_proj.weight", ModelPart::attention},
      {"model.layers.3.self_attn.q_norm.weight", ModelPart::attention},
      {"model.layers.3.mlp.up_proj.weight", ModelPart::mlp},
      {"model.layers.3.mlp.gate.weight", ModelPart::router},
      {"model.layers.3.mlp.gate_proj.weight", ModelPart::mlp},
      {"model.layers.3.mlp.experts.7.down_proj.weight", ModelPart::experts},
      {"model.layers.3.mlp.shared_experts.up_proj.weight", ModelPart::mlp},
      {"model.layers.3.block_sparse_moe.gate.weight", ModelPart::router},
      {"model.layers.3.input_layernorm.weight", ModelPart::norm},
      {"model.norm.weight", ModelPart::norm},
      {"model.layers.3.linear_attn.in_proj_qkvz.weight", ModelPart::linear_mixer},
      {"backbone.layers.3.mixer.in_proj.weight", ModelPart::linear_mixer},
      {"backbone.layers.3.mixer.q_proj.weight", ModelPart::attention},
      {"backbone.layers.3.mixer.up_proj.weight", ModelPart::mlp},
      {"backbone.layers.3.mixer.experts.2.up_proj.weight", ModelPart::experts},
      {"backbone.layers.3.mixer.gate.weight", ModelPart::router},
      {"model.visual.blocks.0.attn.qkv.weight", ModelPart::tower},
      {"vision_tower.encoder.layers.0.mlp.fc1.weight", ModelPart::tower},
      {"mtp.layers.0.self_attn.q_proj.weight", ModelPart::next_token},
      {"model.layers.61.eh_proj.weight", ModelPart::next_token},
      {"transformer.h.3.attn.c_attn.weight", ModelPart::attention},
      {"transformer.wte.weight", ModelPart::embedding},
      {"something.else", ModelPart::other},
      {"", ModelPart::other},
      {"...", ModelPart::other}};
  for (const auto& [name, part] : k_names) EXPECT_EQ(part_of_tensor(name), part) << name;
}

TEST(PartOfTensor, BehindTheDecodersLayersIsTheNextTokenBlock) {
  EXPECT_EQ(part_of_tensor("model.layers.60.mlp.experts.0.up_proj.weight", 61), ModelPart::experts);
  EXPECT_EQ(part_of_tensor("model.layers.61.mlp.experts.0.up_proj.weight", 61), ModelPart::next_token);
}

TEST(PartOfTensor, IsToldByNamesOfGguf) {
  EXPECT_EQ(part_of_tensor("token_embd.weight"), ModelPart::embedding);
  EXPECT_EQ(part_of_tensor("output.weight"), ModelPart::head);
  EXPECT_EQ(part_of_tensor("blk.12.attn_q.weight"), ModelPart::attention);
  EXPECT_EQ(part_of_tensor("blk.12.ffn_gate_exps.weight"), ModelPart::experts);
  EXPECT_EQ(part_of_tensor("blk.12.ffn_gate_inp.weight"), ModelPart::router);
  EXPECT_EQ(part_of_tensor("blk.12.ffn_norm.weight"), ModelPart::norm);
  EXPECT_EQ(part_of_tensor("blk.12.ssm_in.weight"), ModelPart::linear_mixer);
  EXPECT_EQ(part_of_tensor("v.blk.0.ffn_up.weight"), ModelPart::tower);
}

TEST(QuantizationHelper, IsWhatOnlyHelpsToReadAnotherTensor) {
  for (const char* const name :
       {"a.weight_scale", "a.weight_scale_inv", "a.weight_scale_2", "a.input_scale", "a.weight_global_scale",
        "a.qzeros", "a.scales", "a.g_idx", "a.weight.absmax", "a.weight.quant_map",
        "a.weight.quant_state.bitsandbytes__nf4", "a.SCB", "mlp.experts.gate_up_proj_scales",
        "mlp.experts.down_proj_scale", "self_attn.k_scale", "a.weight_shape"})
    EXPECT_TRUE(is_quantization_helper(name)) << name;
  for (const char* const name : {"a.weight", "a.bias", "a.qweight", "a.weight_packed", "router.per_expert_scale",
                                 "router.scale", "mlp.experts.gate_up_proj_blocks", "layer_scalar", ""})
    EXPECT_FALSE(is_quantization_helper(name)) << name;
}

}  // namespace
}  // namespace sparkops::facts
