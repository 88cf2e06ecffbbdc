#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdicts/memory/known_model.h"
#include "verdicts/memory/plan.h"
#include "verdicts/memory/resolve_run.h"

namespace sparkops::verdicts {
namespace {

using ::testing::HasSubstr;

const knowledge::Tables& tables() {
  static const knowledge::Tables k_tables{std::vector<std::string>{}};
  return k_tables;
}

RunShape run_of(const char* model, const RunOverrides& overrides) {
  RunSources sources;
  const auto read = known_model(tables(), model);
  EXPECT_TRUE(read);
  sources.model = *shape_of_model(*read);
  sources.overrides = overrides;
  sources.pool_bytes = static_cast<double>(tables().gb10().pool.value);
  const auto run = resolve_run(sources);
  EXPECT_TRUE(run) << run.error().message;
  return *run;
}

Budget idle() {
  return budget_of_platform(tables().gb10().pool, "2026-11-30", k_default_reserve);
}

RunOverrides lora(double packing) {
  RunOverrides overrides;
  overrides.method = RunMethod::lora;
  overrides.sequence = exactly(packing);
  overrides.loader = LoaderMode::pread;
  return overrides;
}

TEST(ModelShape, TakesWidthsAndCountsOfKnownModels) {
  const auto glm = known_model(tables(), "GLM-4.5-Air");
  ASSERT_TRUE(glm);
  const Known<ModelShape> shape = shape_of_model(*glm);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->experts, 128);
  EXPECT_EQ(shape->active_experts, 8);
  EXPECT_EQ(shape->expert_layers, 45);
  EXPECT_EQ(shape->dense_layers, 1);
  EXPECT_EQ(shape->query_width, 96 * 128);
  const auto nemotron = known_model(tables(), "Nemotron-3-Super-120B-A12B");
  ASSERT_TRUE(nemotron);
  EXPECT_EQ(shape_of_model(*nemotron)->recurrent_layers, 40);
  EXPECT_EQ(shape_of_model(*nemotron)->expert_width, 1024);
  const auto gemma = known_model(tables(), "Gemma-4-12B");
  ASSERT_TRUE(gemma);
  const Known<ModelShape> windows = shape_of_model(*gemma);
  double sliding = 0;
  for (const CacheGroup& group : windows->cache) sliding += group.window > 0 ? group.layers : 0;
  EXPECT_EQ(sliding, 40);
}

TEST(ModelShape, WidthsOfACountAloneAreOfThatOrder) {
  const ModelShape small = shape_of_parameters(8e9);
  EXPECT_NEAR(small.layers, 32, 2);
  EXPECT_NEAR(small.hidden, 4096, 600);
  const ModelShape large = shape_of_parameters(70e9);
  EXPECT_NEAR(large.layers, 80, 8);
  EXPECT_NEAR(large.hidden, 8192, 1000);
  EXPECT_FALSE(large.widths_known);
}

TEST(ResolveRun, DefaultsAreMarkedAndFlagsWin) {
  const RunShape run = run_of("Qwen3-8B", lora(4096));
  bool batch_is_default = false, sequence_is_read = false;
  for (const ResolvedInput& input : run.inputs) {
    if (input.name == "batch") batch_is_default = input.provenance.origin == Origin::default_value;
    if (input.name == "sequence") sequence_is_read = input.provenance.origin == Origin::read;
  }
  EXPECT_TRUE(batch_is_default);
  EXPECT_TRUE(sequence_is_read);
  EXPECT_EQ(run.adapter_bytes, 4);
}

TEST(ResolveRun, AConfigurationIsTakenOver) {
  facts::TrainingConfig config;
  config.framework = as_read(facts::TrainingFramework::unsloth);
  config.method = as_read(facts::TrainingMethod::qlora);
  config.batch = as_read(std::int64_t{3});
  config.sequence = as_read(std::int64_t{777});
  config.checkpointing = as_read(facts::GradientCheckpointing::unsloth);
  config.lora_rank = as_read(std::int64_t{8});
  RunSources sources;
  sources.model = shape_of_parameters(8e9);
  sources.training = &config;
  const auto run = resolve_run(sources);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->method, RunMethod::qlora);
  EXPECT_EQ(run->weights, WeightFormat::nf4);
  EXPECT_EQ(run->batch, 3);
  EXPECT_EQ(run->sequence.value, 777);
  EXPECT_EQ(run->checkpointing, CheckpointingMode::unsloth);
  EXPECT_EQ(run->loss, LossMode::unsloth);
  EXPECT_EQ(run->lora_rank, 8);
}

TEST(ResolveRun, ContradictionsAreErrors) {
  RunSources sources;
  sources.model = shape_of_parameters(8e9);
  sources.overrides.method = RunMethod::full;
  sources.overrides.weights = WeightFormat::nf4;
  EXPECT_FALSE(resolve_run(sources));
  sources.overrides.weights.reset();
  sources.overrides.parallel = ParallelMode::tensor;
  const auto tensor = resolve_run(sources);
  ASSERT_FALSE(tensor);
  EXPECT_THAT(tensor.error().message, HasSubstr("G10"));
}

TEST(FitSearch, WhatItFindsFitsAndTwiceOfItDoesNot) {
  const RunShape run = run_of("Qwen3-32B", lora(2048));
  const FitSearch search = search_fit(run, idle());
  ASSERT_TRUE(search.packing);
  RunShape found = run;
  found.sequence = exactly(*search.packing);
  EXPECT_EQ(judge_fit(compute_footprint(found).system, idle()).answer, FitAnswer::fits);
  found.sequence = exactly(2 * *search.packing);
  EXPECT_NE(judge_fit(compute_footprint(found).system, idle()).answer, FitAnswer::fits);
  EXPECT_EQ(search.table.size(), 28U);
}

TEST(Ladder, EveryRungIsThereInItsOrder) {
  const RunShape run = run_of("Qwen3-32B", lora(32768));
  const std::vector<RungGain> rungs = ladder_gains(run, compute_footprint(run), idle());
  ASSERT_EQ(rungs.size(), 5U);
  EXPECT_EQ(rungs[0].id, "flush");
  EXPECT_EQ(rungs[1].id, "packing");
  EXPECT_GT(rungs[1].gives->value, 0);
  EXPECT_EQ(rungs[2].id, "batch");
  EXPECT_FALSE(rungs[2].skipped_because.empty());
  EXPECT_EQ(rungs[3].id, "method");
  EXPECT_EQ(rungs[4].id, "two-boxes");
}

TEST(Ladder, QloraOffersBf16LoraOnlyWhereItFits) {
  RunOverrides overrides = lora(1024);
  overrides.method = RunMethod::qlora;
  const RunShape large = run_of("Llama-3.3-70B", overrides);
  const RungGain rung = ladder_gains(large, compute_footprint(large), idle())[3];
  EXPECT_FALSE(rung.suffices);
  EXPECT_THAT(rung.skipped_because, HasSubstr("of weights alone"));
  EXPECT_THAT(rung.change, HasSubstr("no proof"));
  const RunShape small = run_of("Qwen3-8B", overrides);
  EXPECT_TRUE(ladder_gains(small, compute_footprint(small), idle())[3].suffices);
}

TEST(NearAnchors, ShowTheSameMethodAndTheCeiling) {
  const RunShape run = run_of("Qwen3.5-27B", lora(4096));
  const auto anchors = nearest_anchors(run, tables().anchors_of("lora"), 3);
  ASSERT_FALSE(anchors.empty());
  EXPECT_TRUE(anchors.front().is_ceiling);
  EXPECT_EQ(anchors.front().measured, 1024);
}

TEST(NearAnchors, AFarEstimateOfTheSameModelIsFlagged) {
  RunOverrides overrides = lora(1024);
  overrides.method = RunMethod::full;
  overrides.optimizer = "adamw-8bit";
  RunShape run = run_of("Qwen3-8B", overrides);
  const auto own = [&] {
    for (const NearAnchor& anchor : nearest_anchors(run, tables().anchors_of("full"), 3))
      if (anchor.id == "qwen3-8b-full-8bit-2x1k") return anchor;
    return NearAnchor{};
  };
  EXPECT_GT(own().measured, 0);
  EXPECT_FALSE(own().far);
  run.optimizer = "adamw";
  EXPECT_TRUE(own().far);
}

TEST(Anchors, TheTableIsReadWithoutProblems) {
  EXPECT_GE(tables().anchors().size(), 25U);
  for (const char* method : {"full", "lora", "qlora", "nvfp4-lora", "inference"}) {
    EXPECT_FALSE(tables().anchors_of(method).empty()) << method;
    for (const auto& anchor : tables().anchors_of(method)) EXPECT_EQ(anchor.method, method);
  }
  EXPECT_TRUE(tables().problems().empty());
}

TEST(TimeFloor, OneTokenReadsTheActiveWeightsOnce) {
  RunOverrides overrides;
  overrides.method = RunMethod::inference;
  overrides.sequence = exactly(1);
  const RunShape run = run_of("Qwen3-30B-A3B", overrides);
  const TimeFloor floor = time_floor(run, compute_footprint(run));
  // 3.3e9 active parameters of two bytes at 234 GB/s.
  EXPECT_NEAR(floor.seconds->value, 6.7e9 / 234e9, 0.004);
}

TEST(RoomBeside, TheCapLeavesTheRunItsUpperBound) {
  const RunShape run = run_of("Qwen3-8B", lora(2048));
  const Footprint footprint = compute_footprint(run);
  Tenant tenant;
  tenant.name = "vLLM";
  tenant.server = as_read(facts::ServerKind::vllm);
  const BesidePlan plan = room_beside(footprint, idle(), tenant);
  ASSERT_TRUE(plan.room);
  EXPECT_LE(static_cast<double>(plan.room->value) + footprint.system.high,
            static_cast<double>(idle().headroom_after_flush->value) + 1);
  EXPECT_THAT(plan.setting, HasSubstr("--gpu-memory-utilization 0."));
  Budget nothing = idle();
  nothing.headroom_after_flush = unknown("no meminfo");
  EXPECT_FALSE(room_beside(footprint, nothing, tenant).room);
  EXPECT_EQ(room_beside(footprint, nothing, tenant).setting, "");
}

}  // namespace
}  // namespace sparkops::verdicts
