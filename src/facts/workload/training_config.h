#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/result.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

enum class TrainingMethod { full, lora, qlora, nvfp4_lora };
enum class Objective { pretraining, sft, dpo, orpo, kto, grpo, reward, ppo };
enum class GradientCheckpointing { none, full, unsloth, selective };
enum class AttentionImplementation { flash, sdpa, eager };

/// How the loss is computed from the logits (memory-model.md §3.5).
enum class LossImplementation { hf, hf_in_place, fast_ce_1, fast_ce_2, chunked, liger, cut_cross_entropy, unsloth };

enum class TrainingFramework {
  transformers,  ///< Trainer and TRL
  axolotl,
  llama_factory,
  unsloth,
  torchtune,
  nemo_automodel,
  litgpt,
  megatron,
  deepspeed,
  accelerate,
};

/// What a training run asks for, whatever the framework's own words for it. Unknown: nothing said it; the framework's
/// default is not filled in here. Every value's origin is `read`, or `derived` where one setting implies another.
struct TrainingConfig {
  Known<TrainingFramework> framework;
  Known<std::string> model;  ///< a path or a name
  Known<TrainingMethod> method;
  Known<Objective> objective;

  Known<std::string> weights;         ///< as --weights of plan: bf16, fp16, fp32, nf4, nf4-single, int8, fp8, nvfp4 …
  Known<std::string> dtype;           ///< computed in: bf16, fp16, fp32
  Known<std::string> optimizer;       ///< lower case, as written: "adamw_8bit", "paged_adamw_8bit", "muon"
  Known<bool> optimizer_in_backward;  ///< torchtune
  Known<bool> optimizer_offload, parameter_offload, activation_offload;  ///< to the CPU: the same pool on a Spark

  Known<std::int64_t> batch;     ///< samples of one micro-batch on one GPU
  Known<std::int64_t> sequence;  ///< tokens, longest
  Known<bool> packing;           ///< samples are put together to `sequence` tokens
  Known<std::int64_t> gradient_accumulation;
  Known<std::int64_t> eval_batch;
  Known<std::int64_t> generations;                       ///< of GRPO, for each prompt
  Known<std::int64_t> prompt_length, completion_length;  ///< of DPO and GRPO, tokens

  Known<GradientCheckpointing> checkpointing;
  Known<AttentionImplementation> attention;
  Known<LossImplementation> loss;
  Known<bool> compiles;  ///< torch.compile

  Known<std::int64_t> lora_rank, lora_alpha;
  Known<double> lora_dropout;
  Known<std::vector<std::string>> lora_targets;  ///< "q_proj" …, or the one word "all-linear"
  Known<std::vector<std::string>> modules_to_save;
  Known<bool> uses_dora;

  Known<std::string> loader;   ///< as --loader of plan
  Known<std::string> dataset;  ///< the first one: a path or a name
  Known<int> gpus_per_node;
  Parallelism parallelism;  ///< nodes, tensor, pipeline, data …

  std::vector<Setting> used;          ///< what the values above were read from
  std::vector<Setting> unknown_keys;  ///< settings that this reader has no meaning for; never guessed
  std::vector<std::string> not_read;  ///< values that cannot be told without running the file, each with its place
};

/// One training configuration out of settings of one run, later ones overriding earlier ones: keys of a configuration
/// file ("lora_target_modules.0"), options of a command, arguments of Python calls ("LoraConfig.r").
[[nodiscard]] TrainingConfig read_training_settings(const std::vector<Setting>& settings);

/// What a server asks for.
struct ServerConfig {
  Known<ServerKind> server;
  std::string where;
  Known<std::string> model;
  Known<std::string> weights;  ///< as in TrainingConfig
  Known<std::string> dtype, key_value_dtype;
  ServerCap cap;
  Known<std::int64_t> context;         ///< tokens of one sequence
  Known<std::int64_t> sequences;       ///< at the same time
  Known<std::int64_t> batched_tokens;  ///< of one forward pass
  Known<std::string> loader;           ///< --load-format
  Known<bool> eager, prefix_caching, memory_mapped;
  Known<std::string> speculative;  ///< method or draft model
  Known<std::string> draft_model;
  Parallelism parallelism;
  std::vector<Setting> used;
  std::vector<Setting> unknown_keys;
};

/// Everything of one workload that decides its memory.
struct WorkloadConfig {
  std::vector<TrainingConfig> trainings;  ///< one for each trainer, usually one
  std::vector<ServerConfig> servers;
  std::vector<std::string> files;
  std::vector<std::string> not_understood;
};

/// A file or a directory: what read_workload reads, and Python scripts and notebooks, whose literal arguments of known
/// calls are read without running them. Errors: usage when the path cannot be read or nothing in it was understood.
[[nodiscard]] Result<WorkloadConfig> read_workload_config(const std::string& path);

/// A command as given after "--"; configuration files and scripts that it names are read too.
[[nodiscard]] WorkloadConfig read_command_config(const std::vector<std::string>& command);

[[nodiscard]] std::string_view to_string(TrainingMethod method);
[[nodiscard]] std::string_view to_string(Objective objective);
[[nodiscard]] std::string_view to_string(GradientCheckpointing checkpointing);
[[nodiscard]] std::string_view to_string(AttentionImplementation attention);
[[nodiscard]] std::string_view to_string(LossImplementation loss);
[[nodiscard]] std::string_view to_string(TrainingFramework framework);

}  // namespace sparkops::facts
