#include "verdicts/memory/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sparkops::verdicts {
namespace {

constexpr double k_gb = 1e9;

/// A dense decoder by its widths; norms and biases are left out of the counts where they do not matter.
ModelShape dense(double layers, double hidden, double heads, double key_value_heads, double head, double inner,
                 double vocabulary, bool tied) {
  ModelShape model;
  model.name = "test";
  model.family = "generic";
  model.layers = model.attention_layers = model.dense_layers = layers;
  model.hidden = hidden;
  model.intermediate = inner;
  model.vocabulary = vocabulary;
  model.query_heads = heads;
  model.query_width = heads * head;
  model.key_value_width = key_value_heads * head;
  model.embedding_parameters = vocabulary * hidden;
  model.head_parameters = tied ? 0 : vocabulary * hidden;
  model.small_parameters = (2 * layers + 1) * hidden;
  model.largest_matrix = hidden * inner;
  model.parameters =
      layers * (2 * hidden * model.query_width + 2 * hidden * model.key_value_width + 3 * hidden * inner) +
      model.embedding_parameters + model.head_parameters + model.small_parameters;
  model.cache = {{.layers = layers, .values_per_token = 2 * model.key_value_width, .window = 0}};
  return model;
}

ModelShape mistral_7b() {
  return dense(32, 4096, 32, 8, 128, 14336, 32000, false);
}
ModelShape llama_70b() {
  return dense(80, 8192, 64, 8, 128, 28672, 128256, false);
}
ModelShape qwen3_8b() {
  return dense(36, 4096, 32, 8, 128, 12288, 151936, false);
}

RunShape training(ModelShape model, RunMethod method, double tokens) {
  RunShape run;
  run.model = std::move(model);
  run.method = method;
  run.sequence = exactly(tokens);
  run.lora_targets = {"q_proj", "k_proj", "v_proj", "o_proj"};
  run.experts_known = true;
  return run;
}

bool any_contains(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(Footprint, FullFineTuneWithForeachAdamWPeaksInTheStepAtTenBytesAParameter) {
  // Two weights, two gradients, four state, two of the foreach copy (measured 10.00 B per parameter on an A100).
  const RunShape run = training(mistral_7b(), RunMethod::full, 4 * 4096);
  const Footprint footprint = compute_footprint(run);
  EXPECT_NEAR(footprint.peak_allocated.value / run.model.parameters, 10.0, 0.01);
  EXPECT_EQ(footprint.peak().moment, "optimizer step");
}

TEST(Footprint, FusedAdamWSavesTheCopy) {
  RunShape run = training(mistral_7b(), RunMethod::full, 1024);
  run.optimizer = "adamw-fused";
  // The first layer's backward pass beside every gradient is what remains above 8 B a parameter.
  EXPECT_NEAR(compute_footprint(run).peak_allocated.value / run.model.parameters, 8.0, 0.06);
}

TEST(Footprint, LossDecidesWhereTheVocabularyIsLarge) {
  RunShape run = training(mistral_7b(), RunMethod::lora, 8 * 4096);
  const Footprint full = compute_footprint(run);
  // 262,144 for stored activations, 14 · 32,000 for logits, 6 · 4,096 beside (measured slope 734.8 K).
  const double per_token = 2.0 * 4096 * 32 + 14.0 * 32000 + 6.0 * 4096;
  const double resident = full.find("weights")->bytes.value + 3 * full.find("adapters")->bytes.value;
  EXPECT_NEAR(full.peak_allocated.value, resident + run.sequence.value * per_token, 0.01 * k_gb);
  run.loss = LossMode::liger;
  // The same run with Liger: 32.39 GB measured.
  EXPECT_NEAR(compute_footprint(run).peak_allocated.value, 32.39 * k_gb, 0.03 * 32.39 * k_gb);
}

TEST(Footprint, SeventyBillionInNf4IsThirtyFiveToFortyGigabytesAndPeaksWhileLoading) {
  RunShape run = training(llama_70b(), RunMethod::qlora, 2048);
  run.weights = WeightFormat::nf4;
  run.loader = LoaderMode::mmap;
  const Footprint footprint = compute_footprint(run);
  EXPECT_GE(footprint.load.value, 35 * k_gb);
  EXPECT_LE(footprint.load.value, 40 * k_gb);
  EXPECT_EQ(footprint.peak().kind, PhaseKind::load);
  EXPECT_GT(footprint.system.value, 2.0 * run.model.parameters);
}

TEST(Footprint, NineBillionWithEightBitAdamStaysBelowSeventyGigabytes) {
  RunShape run = training(qwen3_8b(), RunMethod::full, 2048);
  run.optimizer = "adamw_8bit";
  run.loader = LoaderMode::pread;
  const Footprint footprint = compute_footprint(run);
  // Measured on a GB10 with this model, batch 2 of 1,024: 53.89 GB.
  EXPECT_NEAR(footprint.peak_allocated.value, 53.89 * k_gb, 0.02 * 53.89 * k_gb);
  EXPECT_LT(footprint.system.high, 75 * k_gb);
}

TEST(Footprint, UnslothOffloadLeavesTheAllocatorAndNotThePool) {
  RunShape run = training(qwen3_8b(), RunMethod::lora, 16384);
  run.loss = LossMode::cut;
  const Footprint plain = compute_footprint(run);
  run.checkpointing = CheckpointingMode::unsloth;
  const Footprint moved = compute_footprint(run);
  EXPECT_LT(moved.peak_allocated.value, plain.peak_allocated.value);
  // What differs is only the allocator's slack on what was moved.
  const double stored = plain.find("stored-activations")->bytes.value;
  EXPECT_GT(moved.system.value, plain.system.value - 0.2 * stored);
  EXPECT_TRUE(any_contains(moved.saves_nothing, "saves 0 B"));
}

TEST(Footprint, PagedStatesAreInvisibleToTheAllocatorAndCountInThePool) {
  RunShape run = training(qwen3_8b(), RunMethod::full, 1024);
  run.optimizer = "adamw-8bit";
  const Footprint plain = compute_footprint(run);
  run.optimizer = "paged-adamw-8bit";
  const Footprint paged = compute_footprint(run);
  EXPECT_LT(paged.peak_allocated.value, plain.peak_allocated.value - 10 * k_gb);
  EXPECT_NEAR(paged.system.value, plain.system.value, 0.02 * plain.system.value);
  EXPECT_TRUE(any_contains(paged.saves_nothing, "paged"));
}

TEST(Footprint, KbitPreparationDoublesTheResidualStream) {
  RunShape run = training(mistral_7b(), RunMethod::qlora, 4 * 4096);
  run.weights = WeightFormat::nf4;
  const Footprint plain = compute_footprint(run);
  run.residual_fp32 = true;
  const Footprint prepared = compute_footprint(run);
  EXPECT_NEAR(prepared.find("stored-activations")->bytes.value, 2 * plain.find("stored-activations")->bytes.value, 1);
  EXPECT_NEAR(prepared.find("fp32-upcast")->bytes.value, 2 * (2 * 32000.0 * 4096 + 65 * 4096), 1);
}

TEST(Footprint, OneStepHoldsNoStateDuringItsBackwardPass) {
  RunShape run = training(qwen3_8b(), RunMethod::full, 32768);
  run.optimizer = "adamw-fused";
  const Footprint many = compute_footprint(run);
  run.steps = 1;
  EXPECT_LT(compute_footprint(run).peak_allocated.value, many.peak_allocated.value);
}

TEST(Footprint, KeysAndValuesByKindOfAttention) {
  RunShape run;
  run.method = RunMethod::inference;
  run.cache = CacheMode::exact;
  run.model = qwen3_8b();
  run.sequence = exactly(32768);
  // 147,456 B a token (memory-model.md §11).
  EXPECT_NEAR(compute_footprint(run).kv_cache.value, 147456.0 * 32768, 1);
  run.kv_value_bytes = 34.0 / 32;
  EXPECT_NEAR(compute_footprint(run).kv_cache.value, 147456.0 / 2 * 34 / 32 * 32768, 1);
  // DeepSeek-V3: 61 layers of 512 + 64 values.
  run.kv_value_bytes = 2;
  run.model.cache = {{.layers = 61, .values_per_token = 576, .window = 0}};
  EXPECT_NEAR(compute_footprint(run).kv_cache.value, 70272.0 * 32768, 1);
  // Gemma-4-12B in vLLM: 40 layers with a window of 1,024 over batches of 4,096, 8 full ones: 1.687 GiB a request.
  run.framework = "vllm";
  run.sequence = exactly(8192);
  run.batched_tokens = 4096;
  run.model.cache = {{.layers = 40, .values_per_token = 4096, .window = 1024},
                     {.layers = 8, .values_per_token = 1024, .window = 0}};
  EXPECT_NEAR(compute_footprint(run).kv_cache.value / (1024.0 * 1024 * 1024), 1.687, 0.001);
}

TEST(Footprint, RecurrentStateIsConstantForASequence) {
  RunShape run;
  run.method = RunMethod::inference;
  run.model = qwen3_8b();
  run.model.recurrent_layers = 48;
  run.model.recurrent_state = 48 * 128 * 128;
  run.sequence = exactly(1000);
  const double one = compute_footprint(run).find("recurrent-state")->bytes.value;
  run.sequence = exactly(100000);
  EXPECT_EQ(compute_footprint(run).find("recurrent-state")->bytes.value, one);
  EXPECT_GT(one, 0);
}

TEST(Footprint, LlamaCppComputeBuffers) {
  RunShape run;
  run.method = RunMethod::inference;
  run.framework = "llama.cpp";
  run.weights = WeightFormat::gguf;
  run.gguf_bits = 16;
  run.batched_tokens = 512;
  run.model = dense(32, 4096, 32, 8, 128, 14336, 128256, false);
  EXPECT_NEAR(compute_footprint(run).activations.value, 258.50 * 1024 * 1024, 1);  // Llama-3-8B's log
  run.model = dense(32, 2560, 32, 32, 80, 10240, 50304, false);
  run.sequence = exactly(2048);
  run.attention = AttentionMode::eager;
  EXPECT_NEAR(compute_footprint(run).activations.value, 162.0 * 1024 * 1024, 1);  // pythia-2.8B's log
}

TEST(Footprint, TwoBoxes) {
  RunShape run = training(llama_70b(), RunMethod::full, 2048);
  run.loader = LoaderMode::pread;
  const double alone = compute_footprint(run).system.value;
  run.nodes = 2;
  run.parallel = ParallelMode::ddp;
  EXPECT_GE(compute_footprint(run).system.value, alone);
  run.parallel = ParallelMode::fsdp;
  const double sharded = compute_footprint(run).system.value;
  EXPECT_LT(sharded, 0.6 * alone);
  EXPECT_GT(sharded, 0.5 * alone);
}

TEST(Footprint, BoundsHoldTheValueInEveryTermAndPhase) {
  for (const RunMethod method : {RunMethod::full, RunMethod::lora, RunMethod::qlora, RunMethod::inference}) {
    RunShape run = training(qwen3_8b(), method, 4096);
    run.sequence = {512, 2048, 4096};
    if (method == RunMethod::qlora) run.weights = WeightFormat::nf4;
    const Footprint footprint = compute_footprint(run);
    for (const Term& term : footprint.terms) EXPECT_TRUE(is_usable(term.bytes)) << term.id;
    for (const Phase& phase : footprint.phases) EXPECT_TRUE(is_usable(phase.system)) << phase.moment;
    EXPECT_TRUE(is_usable(footprint.system));
    EXPECT_GE(footprint.system.value, footprint.peak_allocated.value);
  }
}

TEST(Footprint, TermsWithoutBytesSayWhy) {
  const Footprint footprint = compute_footprint(training(qwen3_8b(), RunMethod::full, 1024));
  for (const Term& term : footprint.terms) EXPECT_TRUE(term.bytes.high > 0 || !term.zero_because.empty()) << term.id;
  EXPECT_FALSE(footprint.zero_terms.empty());
  EXPECT_FALSE(footprint.not_modelled.empty());
}

TEST(Footprint, AnOptimizerNobodyKnowsWidensTheBounds) {
  RunShape run = training(qwen3_8b(), RunMethod::full, 1024);
  run.optimizer = "sophia-h";
  const Footprint footprint = compute_footprint(run);
  EXPECT_EQ(footprint.find("optimizer")->bytes.low, 0);
  EXPECT_TRUE(any_contains(footprint.doubts, "sophia-h"));
}

TEST(Footprint, ExpertsThatComputeEveryTokenCostManyTimesMore) {
  RunShape run = training(qwen3_8b(), RunMethod::lora, 4096);
  run.model.dense_layers = 0;
  run.model.expert_layers = 36;
  run.model.experts = 128;
  run.model.active_experts = 8;
  run.model.expert_intermediate = 1408;
  run.model.expert_width = 4096;
  run.loss = LossMode::cut;
  const double grouped = compute_footprint(run).find("layer")->bytes.value;
  run.experts = ExpertMode::loop;
  const double loop = compute_footprint(run).find("layer")->bytes.value;
  run.experts = ExpertMode::dense;
  const double all = compute_footprint(run).find("layer")->bytes.value;
  EXPECT_LT(loop, grouped);
  EXPECT_GT(all, 8 * grouped);
}

}  // namespace
}  // namespace sparkops::verdicts
