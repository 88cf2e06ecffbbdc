#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "facts/workload/model.h"
#include "facts/workload/training_config.h"
#include "verdicts/memory/model_shape.h"
#include "verdicts/memory/run_shape.h"

namespace sparkops::verdicts {

/// What a person said on the command line; it wins over what a configuration says. Empty: nothing said.
struct RunOverrides {
  std::optional<RunMethod> method;
  std::optional<RunObjective> objective;
  std::optional<std::string> framework, optimizer;
  std::optional<WeightFormat> weights;
  std::optional<double> gguf_bits, checkpoint_bytes, source_bytes;
  std::optional<bool> residual_fp32, fp8_compute, fp32_master, keeps_logits, compiled;
  std::optional<bool> optimizer_in_backward, activation_offload, expandable_segments, lora_dropout;
  std::optional<double> rank, adapter_bytes, trainable_parameters;
  std::optional<std::vector<std::string>> targets, modules_to_save;
  std::optional<double> batch, gradient_accumulation, steps, prompt, cached_prefix;
  std::optional<Estimate> sequence;
  std::optional<CheckpointingMode> checkpointing;
  std::optional<AttentionMode> attention;
  std::optional<LossMode> loss;
  std::optional<ExpertMode> experts;
  std::optional<LoaderMode> loader;
  std::optional<CacheMode> cache;
  std::optional<double> nodes;
  std::optional<ParallelMode> parallel;
  std::optional<double> server_fraction, kv_bytes, kv_value_bytes, max_sequences, batched_tokens, context_bytes;
};

/// Everything that may say something about a run.
struct RunSources {
  ModelShape model;
  const facts::Model* read_model = nullptr;         ///< null: --params or --arch alone
  const facts::TrainingConfig* training = nullptr;  ///< null: no trainer was named
  const facts::ServerConfig* server = nullptr;      ///< null: no server was named
  RunOverrides overrides;
  double pool_bytes = 0;  ///< MemTotal of the machine that is judged
};

/// The one place where a run is resolved: flags win over the configuration, that over what the framework does by
/// itself; every value is recorded with where it comes from. Errors: usage, when values contradict each other.
[[nodiscard]] Result<RunShape> resolve_run(const RunSources& sources);

/// Bytes of one cached value: "bf16", "fp8", "q8_0" … (memory-model.md §7); nothing for other words.
[[nodiscard]] std::optional<double> cache_value_bytes(std::string_view word);

/// Bits per weight of a whole GGUF file by the name of its mix ("Q4_K_M"); nothing for names that are not known.
[[nodiscard]] std::optional<double> gguf_mix_bits(std::string_view name);

}  // namespace sparkops::verdicts
