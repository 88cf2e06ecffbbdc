#include "verdicts/memory/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/workload/architecture_reader.h"
#include "facts/workload/config_readers.h"
#include "facts/workload/safetensors.h"
#include "knowledge/model_names.h"
#include "knowledge/tables.h"
#include "memory/checkpoint_tensors.h"
#include "verdicts/memory/known_model.h"

namespace sparkops::verdicts {
namespace {

using facts::ModelPart;
using testing::HasSubstr;

const knowledge::Tables& tables() {
  static const knowledge::Tables compiled_in(std::vector<std::string>{});
  return compiled_in;
}

facts::Architecture architecture_of(const std::string& name) {
  const auto model = known_model(tables(), name);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return model && model->architecture ? *model->architecture : facts::Architecture{};
}

TEST(Parameters, OfEveryKnownModelEqualItsPublishedTotal) {
  int compared = 0;
  for (const knowledge::ModelEntry& entry : tables().models()) {
    const auto model = model_of_entry(entry, entry.name);
    ASSERT_TRUE(model) << model.error().message;
    const auto count = count_parameters(*model->architecture);
    ASSERT_TRUE(count) << entry.name << ": " << count.reason();
    for (const facts::Tower& tower : model->architecture->towers)
      EXPECT_TRUE(count_tower_parameters(tower, model->architecture->hidden)) << entry.name;
    if (!entry.parameters) continue;
    EXPECT_EQ(count->total(), *entry.parameters) << entry.name;
    ++compared;
  }
  EXPECT_GE(compared, 60);
}

/// The totals of memory-model.md §11 that no entry states by itself: decoders without their towers.
TEST(Parameters, OfDecodersEqualTheirVerifiedTotals) {
  const std::pair<const char*, std::int64_t> k_decoders[] = {
      {"Gemma-3-4B", 3'880'263'168},       {"Gemma-3-12B", 11'766'034'176}, {"Gemma-3-27B", 27'009'346'304},
      {"Gemma-4-E2B", 4'647'449'856},      {"Gemma-4-E4B", 7'518'068'992},  {"Gemma-4-12B", 11'907'350'272},
      {"Gemma-4-26B-A4B", 25'233'141'760}, {"Gemma-4-31B", 30'697'345'280}, {"Qwen3.5-0.8B", 752'393'024},
      {"Qwen3.5-2B", 1'881'825'088},       {"Qwen3.5-4B", 4'205'751'296},   {"Qwen3.5-9B", 8'953'803'264},
      {"Qwen3.5-27B", 26'895'998'464}};
  for (const auto& [name, decoder] : k_decoders)
    EXPECT_EQ(count_parameters(architecture_of(name))->decoder(), decoder) << name;
}

/// A header that holds these tensors one behind the other.
std::string header_of(const std::vector<CheckpointTensor>& tensors, std::uint64_t& data_size) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  data_size = 0;
  for (const CheckpointTensor& tensor : tensors) {
    std::uint64_t bytes = 2;
    std::string shape;
    for (const std::int64_t size : tensor.shape) {
      bytes *= static_cast<std::uint64_t>(size);
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    header += ",\"" + tensor.name + "\":{\"dtype\":\"BF16\",\"shape\":[" + shape + "],\"data_offsets\":[" +
              std::to_string(data_size) + "," + std::to_string(data_size + bytes) + "]}";
    data_size += bytes;
  }
  return header + "}";
}

TEST(Parameters, EqualTheSumOverTheTensorsOfACheckpoint) {
  for (const knowledge::ModelEntry& entry : tables().models()) {
    const auto architecture = architecture_of(entry.name);
    const auto count = count_parameters(architecture);
    ASSERT_TRUE(count) << entry.name;
    const Known<facts::ModelQuantization> none = unknown("none");
    facts::TensorSum sum(static_cast<std::int64_t>(architecture.layers.size()), none);
    std::uint64_t data_size = 0;
    const std::string header = header_of(CheckpointTensors(architecture).list(), data_size);
    const auto scanned =
        facts::scan_safetensors_header(header, data_size, [&](const facts::StoredTensor& tensor) { sum.add(tensor); });
    ASSERT_TRUE(scanned) << entry.name << ": " << scanned.error().message;
    const facts::TensorTotals totals = sum.finish();
    const bool gemma4 = architecture.family.starts_with("gemma4");
    const std::int64_t buffers = count->buffers - (gemma4 ? static_cast<std::int64_t>(architecture.layers.size()) : 0);
    EXPECT_EQ(*totals.parameters, count->decoder() + buffers) << entry.name;
    EXPECT_EQ(totals.bytes.value, 2 * (count->decoder() + buffers)) << entry.name;
    const auto part = [&](ModelPart wanted) {
      const auto found = totals.by_part.find(wanted);
      return found == totals.by_part.end() ? 0 : found->second.elements;
    };
    EXPECT_EQ(part(ModelPart::experts), count->experts) << entry.name;
    EXPECT_EQ(part(ModelPart::head), count->head) << entry.name;
    EXPECT_EQ(part(ModelPart::linear_mixer), count->linear_mixers) << entry.name;
    EXPECT_EQ(part(ModelPart::attention), count->attention) << entry.name;
    EXPECT_EQ(part(ModelPart::router), count->router + buffers) << entry.name;
    EXPECT_EQ(part(ModelPart::mlp), count->mlp + count->shared_experts) << entry.name;
  }
}

TEST(Parameters, CountTheActiveOnesOfExperts) {
  const auto active = [](const char* name) {
    return static_cast<double>(count_parameters(architecture_of(name))->active) / 1e9;
  };
  EXPECT_NEAR(active("Qwen3-30B-A3B"), 3.3, 0.1);  // "3.3B activated" of its model card
  EXPECT_NEAR(active("DeepSeek-V3"), 37.5, 0.6);   // "37B"
  EXPECT_NEAR(active("gpt-oss-120b"), 5.7, 0.7);   // "5.1B" without embeddings
  EXPECT_NEAR(active("Qwen3-8B"), 8.19, 0.01);
}

TEST(Parameters, OfTheNextTokenBlockStandApart) {
  const auto count = count_parameters(architecture_of("DeepSeek-V3"));
  // 685 billion on disk, 671 without the block.
  EXPECT_NEAR(static_cast<double>(count->next_token) / 1e9, 13.5, 0.3);
}

TEST(CacheValues, EqualTheBytesOfTheArchitectureTable) {
  constexpr std::int64_t k_bf16 = 2;
  const auto cache = [](const char* name) {
    const CacheValues values = count_cache_values(architecture_of(name));
    return k_bf16 * (values.full + values.sliding);
  };
  EXPECT_EQ(cache("Llama-3.1-8B"), 131'072);
  EXPECT_EQ(cache("Qwen2.5-0.5B"), 12'288);
  EXPECT_EQ(cache("Gemma-2-9B"), 344'064);
  EXPECT_EQ(cache("DeepSeek-V3"), 70'272);
  EXPECT_EQ(cache("GLM-4.7-Flash"), 54'144);
  EXPECT_EQ(cache("Nemotron-3-Nano-30B-A3B"), 6'144);
  EXPECT_EQ(cache("Nemotron-3-Super-120B-A12B"), 8'192);
  EXPECT_EQ(cache("Qwen3.5-27B"), 65'536);
  const CacheValues gpt_oss = count_cache_values(architecture_of("gpt-oss-20b"));
  EXPECT_EQ(k_bf16 * gpt_oss.full, 24'576);
  EXPECT_EQ(k_bf16 * gpt_oss.sliding * 128, 3 << 20);
  const CacheValues gemma = count_cache_values(architecture_of("Gemma-4-12B"));
  EXPECT_EQ(k_bf16 * gemma.full, 16'384);
  EXPECT_EQ(k_bf16 * gemma.sliding, 327'680);
  constexpr std::int64_t k_fp32 = 4;
  EXPECT_NEAR(static_cast<double>(k_fp32 * count_cache_values(architecture_of("Qwen3.5-27B")).state) / (1 << 20), 149.6,
              0.1);
  EXPECT_NEAR(static_cast<double>(k_fp32 * count_cache_values(architecture_of("Nemotron-3-Nano-30B-A3B")).state) / 1e6,
              49.9, 0.1);
  EXPECT_NEAR(
      static_cast<double>(k_fp32 * count_cache_values(architecture_of("Nemotron-3-Super-120B-A12B")).state) / 1e6,
      172.7, 0.1);
}

TEST(Parameters, AreUnknownForNumbersThatMultiplyWithoutEnd) {
  const auto config = facts::parse_json(
      R"({"model_type":"qwen3_moe","hidden_size":1048576,"num_hidden_layers":4096,"num_attention_heads":16384,
          "head_dim":1048576,"intermediate_size":1048576,"vocab_size":67108864,"num_experts":16384,
          "num_experts_per_tok":16384,"moe_intermediate_size":1048576})");
  ASSERT_TRUE(config);
  const auto reading = facts::read_architecture(*config);
  ASSERT_TRUE(reading) << reading.error().message;
  const auto count = count_parameters(reading->architecture);
  EXPECT_FALSE(count);
  EXPECT_THAT(count.reason(), HasSubstr("no model has"));
  (void)count_cache_values(reading->architecture);
}

TEST(TowerParameters, AreUnknownForClassesThatAreNotKnown) {
  facts::Tower tower;
  tower.model_type = "pixtral";
  tower.hidden = 1024;
  tower.layers = tower.heads = 16;
  tower.intermediate = 4096;
  EXPECT_THAT(count_tower_parameters(tower, 5120).reason(), HasSubstr("pixtral"));
  tower.parameters = as_read(std::int64_t{42});
  EXPECT_EQ(*count_tower_parameters(tower, 5120), 42);
}

TEST(KnownModel, IsFoundByVariantsOfItsNameAndSaysWhatTheNameTells) {
  const auto model = known_model(tables(), "nvidia/Qwen3-14B-NVFP4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(to_string(model->architecture.provenance()), "knowledge:2026-11-30");
  EXPECT_EQ(model->quantization->format, "nvfp4");
  EXPECT_FALSE(model->tensors);
}

TEST(KnownModel, OfAnUnknownNameSuggestsTheNearest) {
  const auto model = known_model(tables(), "Qwen3-8X");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::not_found);
  EXPECT_THAT(model.error().message, HasSubstr("Qwen3-8B"));
}

TEST(KnownModel, ThatIsNotVerifiedSaysSo) {
  const auto model = known_model(tables(), "DeepSeek-V4-Flash");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(model->doubts, testing::Contains(HasSubstr("not verified")));
  EXPECT_FALSE(model->architecture->family_known);
}

}  // namespace
}  // namespace sparkops::verdicts
