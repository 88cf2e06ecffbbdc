#include "facts/workload/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "facts/workload/architecture_reader.h"
#include "workload/gguf_writer.h"

namespace sparkops::facts {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Result<GgufHeader> read(const std::string& bytes) {
  return read_gguf_header(*open_bytes(bytes, "m.gguf"));
}

std::string problem(const std::string& bytes) {
  const auto header = read(bytes);
  EXPECT_FALSE(header);
  return header ? "" : header.error().message;
}

TEST(GgufHeader, HoldsValuesLengthsOfArraysAndTensors) {
  for (const std::uint32_t version : {2U, 3U}) {
    GgufWriter writer(version);
    writer.text("general.architecture", "qwen3").number("qwen3.block_count", 2);
    writer.texts("tokenizer.ggml.tokens", {"a", "b", "c"}).numbers("qwen3.attention.head_count_kv", {8, 8});
    writer.tensor("blk.0.ffn_up.weight", {512, 2}, 12).tensor("output_norm.weight", {512}, 0);
    const auto header = read(writer.finish());
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->values.at("general.architecture"), "qwen3");
    EXPECT_EQ(header->array_lengths.at("tokenizer.ggml.tokens"), 3U);
    EXPECT_EQ(header->arrays.at("qwen3.attention.head_count_kv").at(1), 8);
    ASSERT_THAT(header->tensors, SizeIs(2));
    EXPECT_EQ(header->tensors[0].type->name, "Q4_K");
    EXPECT_EQ(header->tensors[0].bytes, 4 * 144);
    EXPECT_EQ(header->tensors[1].bytes, 2048);
  }
}

/// memory-model.md §4: bits of each weight.
TEST(GgufTypes, HaveTheirBitsPerWeight) {
  const std::pair<std::uint32_t, double> k_bits[] = {
      {0, 32},      {1, 16},     {30, 16},     {2, 4.5},     {3, 5},       {6, 5.5},     {7, 6},
      {8, 8.5},     {10, 2.625}, {11, 3.4375}, {12, 4.5},    {13, 5.5},    {14, 6.5625}, {15, 9.125},
      {19, 1.5625}, {29, 1.75},  {16, 2.0625}, {17, 2.3125}, {22, 2.5625}, {18, 3.0625}, {21, 3.4375},
      {20, 4.5},    {23, 4.25},  {34, 1.6875}, {35, 2.0625}, {39, 4.25},   {40, 4.5}};
  for (const auto& [id, bits] : k_bits) {
    const GgufType* const type = find_gguf_type(id);
    ASSERT_NE(type, nullptr) << id;
    EXPECT_DOUBLE_EQ(8.0 * static_cast<double>(type->block_bytes) / static_cast<double>(type->block_weights), bits)
        << type->name;
  }
  EXPECT_EQ(find_gguf_type(4), nullptr);  // removed from the format
}

TEST(GgufHeader, IsRefusedWhereItMakesNoSense) {
  EXPECT_THAT(problem("GGML"), HasSubstr("does not start with GGUF"));
  EXPECT_THAT(problem(""), HasSubstr("does not start with GGUF"));
  EXPECT_THAT(problem(GgufWriter(1).finish()), HasSubstr("version is 1"));
  EXPECT_THAT(problem(GgufWriter(0x03000000).finish()), HasSubstr("little-endian"));
  EXPECT_THAT(problem(GgufWriter(3).counts(std::uint64_t{1} << 60, 0).finish()), HasSubstr("tensors"));
  EXPECT_THAT(problem(GgufWriter(3).counts(0, std::uint64_t{1} << 60).finish()), HasSubstr("values"));
  EXPECT_THAT(problem(GgufWriter(3).text_of_length("k", std::uint64_t{5} << 30).finish()), HasSubstr("cannot be read"));
  EXPECT_THAT(problem(GgufWriter(3).array_of("k", 4, std::uint64_t{1} << 40).finish()), HasSubstr("items"));
  EXPECT_THAT(problem(GgufWriter(3).array_of("k", 9, 1).finish()), HasSubstr("type 9"));
  EXPECT_THAT(problem(GgufWriter(3).array_of("k", 10, 100).finish()), HasSubstr("past the end"));
  EXPECT_THAT(problem(GgufWriter(3).tensor("t", {-4}, 0).finish()), HasSubstr("shape"));
  EXPECT_THAT(problem(GgufWriter(3).tensor("t", {1LL << 40, 1LL << 40}, 0).finish()), HasSubstr("shape"));
  EXPECT_THAT(problem(GgufWriter(3).tensor("t", {1LL << 40}, 0, GgufWriter::Data::absent).finish()),
              HasSubstr("larger than"));
  EXPECT_THAT(problem(GgufWriter(3).tensor("t", {100}, 12).finish()), HasSubstr("do not fill blocks"));
  EXPECT_THAT(problem(GgufWriter(3).tensor("t", {32}, 999).finish()), HasSubstr("type 999"));
}

RC_GTEST_PROP(GgufHeader, EndsForEveryCutOfAGoodOne, ()) {
  GgufWriter writer(3);
  writer.text("general.architecture", "llama").texts("tokens", {"a", "b"}).numbers("n", {1, 2, 3});
  writer.tensor("t", {256}, 12);
  const std::string good = writer.finish();
  const auto length = *rc::gen::inRange<std::size_t>(0, good.size());
  RC_ASSERT(!read(good.substr(0, length)));
}

TEST(GgufConfig, DescribesTheNetworkAsTransformersWould) {
  GgufWriter writer(3);
  writer.text("general.architecture", "qwen3moe").number("qwen3moe.block_count", 2);
  writer.number("qwen3moe.embedding_length", 256).number("qwen3moe.attention.head_count", 8);
  writer.number("qwen3moe.attention.head_count_kv", 2).number("qwen3moe.attention.key_length", 64);
  writer.number("qwen3moe.feed_forward_length", 1024).number("qwen3moe.expert_count", 16);
  writer.number("qwen3moe.expert_used_count", 4).number("qwen3moe.expert_feed_forward_length", 128);
  writer.texts("tokenizer.ggml.tokens", {"a", "b", "c"}).tensor("token_embd.weight", {256, 3}, 1);
  const auto header = read(writer.finish());
  ASSERT_TRUE(header) << header.error().message;
  const auto config = config_of_gguf(*header);
  ASSERT_TRUE(config);
  const auto reading = read_architecture(*config);
  ASSERT_TRUE(reading) << reading.error().message;
  const Architecture& a = reading->architecture;
  EXPECT_EQ(a.family, "qwen3_moe");
  EXPECT_EQ(a.head_dim, 64);
  EXPECT_EQ(a.vocabulary, 3);
  EXPECT_EQ(a.experts->intermediate, 128);
  EXPECT_TRUE(a.tied_embeddings);
}

TEST(GgufConfig, OfAHybridPlacesItsLayers) {
  GgufWriter writer(3);
  writer.text("general.architecture", "nemotron_h_moe").number("nemotron_h_moe.block_count", 4);
  writer.number("nemotron_h_moe.embedding_length", 256).number("nemotron_h_moe.attention.head_count", 8);
  writer.numbers("nemotron_h_moe.attention.head_count_kv", {0, 0, 2, 0});
  writer.numbers("nemotron_h_moe.feed_forward_length", {0, 128, 0, 0});
  writer.number("nemotron_h_moe.attention.key_length", 32).number("nemotron_h_moe.expert_count", 4);
  writer.number("nemotron_h_moe.expert_used_count", 2).number("nemotron_h_moe.expert_feed_forward_length", 128);
  writer.number("nemotron_h_moe.ssm.inner_size", 512).number("nemotron_h_moe.ssm.time_step_rank", 8);
  writer.number("nemotron_h_moe.ssm.state_size", 16).number("nemotron_h_moe.ssm.group_count", 2);
  writer.number("nemotron_h_moe.ssm.conv_kernel", 4).number("nemotron_h_moe.vocab_size", 1000);
  const auto header = read(writer.finish());
  ASSERT_TRUE(header) << header.error().message;
  const auto reading = read_architecture(*config_of_gguf(*header));
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->architecture.layers[0].mixer, Mixer::mamba2);
  EXPECT_EQ(reading->architecture.layers[1].feed_forward, FeedForward::experts);
  EXPECT_EQ(reading->architecture.layers[2].mixer, Mixer::full_attention);
  EXPECT_EQ(reading->architecture.state_space->head_dim, 64);
}

TEST(GgufConfig, NeedsAnArchitecture) {
  const auto header = read(GgufWriter(3).finish());
  ASSERT_TRUE(header);
  EXPECT_FALSE(config_of_gguf(*header));
}

}  // namespace
}  // namespace sparkops::facts
