#include "facts/workload/architecture_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/workload/config_readers.h"

namespace sparkops::facts {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result<ArchitectureReading> read(const std::string& json) {
  const auto config = parse_json(json);
  if (!config) return tl::unexpected(config.error());
  return read_architecture(*config);
}

Architecture architecture(const std::string& json) {
  const auto reading = read(json);
  EXPECT_TRUE(reading) << (reading ? "" : reading.error().message);
  return reading ? reading->architecture : Architecture{};
}

std::string problem(const std::string& json) {
  const auto reading = read(json);
  EXPECT_FALSE(reading);
  return reading ? "" : reading.error().message;
}

/// `fields` put into a small config that is complete without them; later fields win.
std::string with(const std::string& fields) {
  return R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":8,
             "num_key_value_heads":2,"intermediate_size":128,"vocab_size":1000,"tie_word_embeddings":false)" +
         (fields.empty() ? "" : "," + fields) + "}";
}

TEST(Architecture, OfADenseDecoder) {
  const Architecture a = architecture(with(""));
  EXPECT_TRUE(a.family_known);
  EXPECT_EQ(a.head_dim, 8);
  ASSERT_THAT(a.layers, SizeIs(4));
  EXPECT_EQ(a.layers[0].mixer, Mixer::full_attention);
  EXPECT_EQ(a.layers[3].key_value_heads, 2);
  EXPECT_EQ(a.layers[3].intermediate, 128);
  EXPECT_FALSE(a.experts);
  EXPECT_FALSE(a.latent);
  EXPECT_FALSE(a.tied_embeddings);
}

TEST(Architecture, TakesTheDecoderOutOfAModelWithTowers) {
  const Architecture a = architecture(
      R"({"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],
          "text_config":{"model_type":"gemma3_text","hidden_size":2560,"num_hidden_layers":34,"num_attention_heads":8,
            "num_key_value_heads":4,"head_dim":256,"intermediate_size":10240,"vocab_size":262208,"sliding_window":1024},
          "vision_config":{"model_type":"siglip_vision_model","hidden_size":1152,"intermediate_size":4304,
            "num_hidden_layers":27,"num_attention_heads":16,"patch_size":14,"image_size":896}})");
  EXPECT_EQ(a.family, "gemma3_text");
  EXPECT_TRUE(a.tied_embeddings);
  EXPECT_EQ(a.count_layers(Mixer::sliding_attention), 29);
  EXPECT_EQ(a.count_layers(Mixer::full_attention), 5);
  ASSERT_THAT(a.towers, SizeIs(1));
  EXPECT_EQ(a.towers[0].kind, Tower::Kind::vision);
  EXPECT_EQ(a.towers[0].positions, 4096);
  EXPECT_EQ(a.towers[0].output, 2560);
}

TEST(Architecture, ReadsTheKindsOfLayersFromTheirList) {
  const Architecture a = architecture(with(
      R"("model_type":"gpt_oss","sliding_window":128,"num_local_experts":4,"num_experts_per_tok":2,
         "layer_types":["sliding_attention","full_attention","sliding_attention","full_attention"])"));
  EXPECT_EQ(a.count_layers(Mixer::sliding_attention), 2);
  EXPECT_EQ(a.layers[0].feed_forward, FeedForward::experts);
  EXPECT_EQ(a.layers[0].intermediate, 0);
  EXPECT_TRUE(a.sinks);
  EXPECT_TRUE(a.experts->biases);
}

TEST(Architecture, PlacesExpertsBehindTheDenseLayers) {
  const Architecture a = architecture(with(
      R"("model_type":"deepseek_v3","n_routed_experts":16,"num_experts_per_tok":4,"moe_intermediate_size":32,
         "n_shared_experts":2,"first_k_dense_replace":1,"kv_lora_rank":16,"q_lora_rank":null,"qk_rope_head_dim":8,
         "qk_nope_head_dim":16,"v_head_dim":16,"num_nextn_predict_layers":1,"num_key_value_heads":8)"));
  EXPECT_EQ(a.layers[0].feed_forward, FeedForward::dense);
  EXPECT_EQ(a.layers[1].feed_forward, FeedForward::experts);
  EXPECT_EQ(a.experts->shared_intermediate, 64);
  EXPECT_EQ(a.experts->correction_bias, CorrectionBias::parameter);
  EXPECT_EQ(a.latent->query_rank, 0);
  EXPECT_EQ(a.next_token_layers, 1);
}

TEST(Architecture, PlacesExpertsByStepAndExceptions) {
  const Architecture a =
      architecture(with(R"("model_type":"qwen3_moe","num_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":32,
              "decoder_sparse_step":2,"mlp_only_layers":[3])"));
  EXPECT_EQ(a.layers[0].feed_forward, FeedForward::dense);
  EXPECT_EQ(a.layers[1].feed_forward, FeedForward::experts);
  EXPECT_EQ(a.layers[3].feed_forward, FeedForward::dense);
}

TEST(Architecture, ReadsTheBlocksOfNemotron) {
  const std::string fields =
      R"("model_type":"nemotron_h","n_routed_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":32,
         "mamba_num_heads":4,"mamba_head_dim":8,"ssm_state_size":16,"n_groups":2,"conv_kernel":4)";
  const Architecture a = architecture(with(fields + R"(,"hybrid_override_pattern":"ME*-")"));
  EXPECT_EQ(a.layers[0].mixer, Mixer::mamba2);
  EXPECT_EQ(a.layers[0].feed_forward, FeedForward::none);
  EXPECT_EQ(a.layers[1].feed_forward, FeedForward::experts);
  EXPECT_EQ(a.layers[1].mixer, Mixer::none);
  EXPECT_EQ(a.layers[2].mixer, Mixer::full_attention);
  EXPECT_EQ(a.layers[3].intermediate, 128);
  EXPECT_FALSE(a.gated_mlp);
  const Architecture words = architecture(with(fields + R"(,"layers_block_type":["mamba","moe","attention","mlp"])"));
  EXPECT_EQ(words.layers[1].feed_forward, FeedForward::experts);
  EXPECT_EQ(words.layers[2].mixer, Mixer::full_attention);
}

TEST(Architecture, ReadsLinearAttentionByItsInterval) {
  const Architecture a = architecture(with(
      R"("model_type":"qwen3_5_text","linear_num_key_heads":2,"linear_num_value_heads":4,"linear_key_head_dim":8,
         "linear_value_head_dim":8,"linear_conv_kernel_dim":4,"mtp_num_hidden_layers":1)"));
  EXPECT_EQ(a.count_layers(Mixer::gated_delta_net), 3);
  EXPECT_EQ(a.layers[3].mixer, Mixer::full_attention);
  EXPECT_TRUE(a.attention_gate);
  EXPECT_EQ(a.layers[0].query_heads, 0);
}

TEST(Architecture, ReadsGemma4sSharedAndWideLayers) {
  const Architecture a =
      architecture(with(R"("model_type":"gemma4_text","head_dim":8,"global_head_dim":16,"sliding_window":512,
              "num_kv_shared_layers":2,"use_double_wide_mlp":true,"hidden_size_per_layer_input":4,
              "layer_types":["sliding_attention","full_attention","sliding_attention","full_attention"])"));
  EXPECT_FALSE(a.layers[1].reuses_key_value);
  EXPECT_TRUE(a.layers[2].reuses_key_value);
  EXPECT_EQ(a.layers[1].head_dim, 16);
  EXPECT_EQ(a.layers[2].head_dim, 8);
  EXPECT_EQ(a.layers[3].intermediate, 256);
  EXPECT_EQ(a.per_layer_embedding->vocabulary, 1000);
}

TEST(Architecture, OfAnUnknownClassIsCountedAsALlamaWithADoubt) {
  const auto reading = read(with(R"("model_type":"hyperformer_9")"));
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_FALSE(reading->architecture.family_known);
  EXPECT_THAT(reading->doubts, Contains(HasSubstr("hyperformer_9 is not known")));
}

TEST(Architecture, TellsWhenItAssumesASeparateHead) {
  const auto reading = read(
      R"({"model_type":"new","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":8,"intermediate_size":128,
          "vocab_size":1000})");
  ASSERT_TRUE(reading);
  EXPECT_THAT(reading->doubts, Contains(HasSubstr("output head")));
}

TEST(Architecture, RefusesWhatMakesNoSenseAndNamesEveryField) {
  EXPECT_THAT(problem(with(R"("hidden_size":-64)")), HasSubstr("hidden_size is -64"));
  EXPECT_THAT(problem(with(R"("num_hidden_layers":1e18)")), HasSubstr("num_hidden_layers"));
  EXPECT_THAT(problem(with(R"("vocab_size":"many")")), HasSubstr("vocab_size is \"many\""));
  EXPECT_THAT(problem(with(R"("num_key_value_heads":3)")), HasSubstr("no multiple of num_key_value_heads 3"));
  EXPECT_THAT(problem(with(R"("num_key_value_heads":0)")), HasSubstr("num_key_value_heads is 0"));
  EXPECT_THAT(problem(with(R"("num_attention_heads":7,"num_key_value_heads":7)")), HasSubstr("not divisible"));
  EXPECT_THAT(problem(with(R"("layer_types":["full_attention"])")), HasSubstr("lists 1 layers"));
  EXPECT_THAT(problem(with(R"("layer_types":["a","b","c","d"])")), HasSubstr("no kind of layer"));
  EXPECT_THAT(problem(with(R"("model_type":"qwen3_moe","num_experts":4,"num_experts_per_tok":8,
                              "moe_intermediate_size":8)")),
              HasSubstr("uses 8 of 4 experts"));
  EXPECT_THAT(problem(R"({"model_type":"llama"})"), HasSubstr("hidden_size is missing"));
  EXPECT_THAT(problem(R"([1,2])"), HasSubstr("a map of fields"));
  EXPECT_THAT(problem(with(R"("is_encoder_decoder":true)")), HasSubstr("encoder-decoder"));
  EXPECT_THAT(problem(with(R"("model_type":"nemotron_h","hybrid_override_pattern":"MX")")), HasSubstr("'X'"));
}

TEST(Architecture, OfATowerWithAbsurdNumbersIsRefused) {
  EXPECT_THAT(problem(with(R"("vision_config":{"hidden_size":1e12})")), HasSubstr("hidden_size"));
  const Architecture a = architecture(with(R"("vision_config":{"patch_size":[-1,2],"depth":4})"));
  EXPECT_EQ(a.towers[0].patch, 0);
}

}  // namespace
}  // namespace sparkops::facts
