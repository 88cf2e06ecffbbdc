#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "verdicts/memory/estimate.h"

namespace sparkops::verdicts {

/// Attention layers that keep the same amount of key and value for each token.
struct CacheGroup {
  double layers = 0;
  double values_per_token = 0;  ///< of one layer, keys and values together
  double window = 0;            ///< tokens; 0: the whole context
};

/// A model as the formulas of memory-model.md see it: widths in elements, counts of parameters. Filled from
/// facts::Model in one place (model_shape.h); a run that names only `--params` has `widths_known` false and guessed
/// widths.
struct ModelShape {
  std::string name;
  std::string family;
  bool widths_known = true;
  bool family_known = true;

  double parameters = 0;            ///< everything that is loaded, towers included
  double embedding_parameters = 0;  ///< the input table
  double head_parameters = 0;       ///< an output matrix of its own; 0 when it is tied to the input table
  double expert_parameters = 0;     ///< of routed experts
  double tower_parameters = 0;      ///< vision, audio: they stay 16-bit
  double small_parameters = 0;      ///< norms, biases, routers, convolutions: they stay 16-bit
  double largest_matrix = 0;        ///< elements of the largest linear layer
  bool fused_experts = false;       ///< experts are one three-dimensional tensor: bitsandbytes and PEFT pass them over

  double layers = 0, hidden = 0, vocabulary = 0;
  double residual_streams = 1;
  bool gated = true;  ///< gate, up and down; else up and down

  double attention_layers = 0;  ///< with softmax attention
  double query_width = 0;       ///< query heads times their width, of the widest layer
  double key_value_width = 0;   ///< keys, or values: heads times width
  double query_heads = 0;

  double dense_layers = 0, intermediate = 0;  ///< layers with a dense feed-forward network, and its width
  double expert_layers = 0, experts = 0, active_experts = 0;
  double expert_intermediate = 0, expert_width = 0;  ///< the width experts work in: hidden, or the latent one
  double shared_intermediate = 0;                    ///< of all shared experts together

  double recurrent_layers = 0;       ///< Mamba2, Gated DeltaNet
  double recurrent_input_width = 0;  ///< what the input projection gives
  double recurrent_conv_width = 0, recurrent_inner_width = 0;
  double recurrent_state = 0;  ///< values that one layer keeps for one sequence, convolution included

  std::vector<CacheGroup> cache;
  std::vector<std::string> doubts;

  [[nodiscard]] double matrix_parameters() const {  ///< of linear layers without embedding, head, towers
    const double others = embedding_parameters + head_parameters + tower_parameters + small_parameters;
    return parameters > others ? parameters - others : 0;
  }
};

enum class RunMethod { full, lora, qlora, nvfp4_lora, inference };
enum class RunObjective { sft, dpo, orpo, kto, grpo };
enum class CheckpointingMode { none, full, unsloth, selective };
enum class AttentionMode { flash, sdpa, eager };
/// Who computes the loss (memory-model.md §3.5); the last two are what remote model code was measured to do.
enum class LossMode { hf, hf_in_place, fast_ce_1, fast_ce_2, chunked, liger, cut, unsloth, hf_shifted, hf_16bit };
enum class LoaderMode { unknown, mmap, pread, fastsafetensors, instanttensor, runai, llama_mmap, llama_no_mmap };
/// How routed experts run in training.
enum class ExpertMode {
  grouped,  ///< copies of the tokens of the active experts at the same time
  loop,     ///< one expert after the other
  dense,    ///< every expert computes every token
};
/// What a cache of keys and values costs beside its content.
enum class CacheMode {
  exact,    ///< allocated once: vLLM's pages, llama.cpp, StaticCache
  dynamic,  ///< grown by concatenation, one layer at a time (transformers' DynamicCache)
  tuple,    ///< grown by concatenation, the old one alive until the new one is complete (older model code)
};
enum class ParallelMode { none, ddp, fsdp, pipeline, tensor };
enum class WeightFormat {
  bf16,
  fp16,
  fp32,
  nf4,
  nf4_single,
  int8,
  gptq_int8,
  gptq_int4,
  awq_int4,
  fp8,
  nvfp4,
  mxfp4,
  gguf,
};

/// One value that went into the run, for the person: "batch", "4", read.
struct ResolvedInput {
  std::string name;
  std::string value;
  Provenance provenance;
};

/// Everything that decides how much memory a run takes, resolved: nothing is left to look up.
struct RunShape {
  ModelShape model;
  RunMethod method = RunMethod::full;
  RunObjective objective = RunObjective::sft;
  std::string framework = "hf";  ///< hf, unsloth, torchtune, litgpt, megatron, vllm, sglang, llama.cpp, …

  WeightFormat weights = WeightFormat::bf16;
  double gguf_bits = 0;                    ///< bits per weight of the whole file, for gguf
  std::optional<double> checkpoint_bytes;  ///< exact bytes of the weights: headers, or given
  std::optional<double> source_bytes;      ///< of the files that are read, where it differs (QLoRA from bf16)
  bool fp8_compute = false;                ///< Transformer Engine's FP8 matrix multiplications over 16-bit weights
  bool fp32_master = false;                ///< mixed precision with a 32-bit copy of what is trained

  std::string optimizer = "adamw";
  bool optimizer_in_backward = false;
  bool compiled = false;
  bool residual_fp32 = false;  ///< PEFT's prepare_model_for_kbit_training: embedding, head and norms in fp32 as well

  double lora_rank = 16;
  std::vector<std::string> lora_targets;
  std::vector<std::string> modules_to_save;
  bool lora_dropout = false;
  double adapter_bytes = 4;                    ///< of one adapter weight
  std::optional<double> trainable_parameters;  ///< when the trainer printed it

  double batch = 1;
  Estimate sequence = exactly(2048);  ///< tokens of one sample, padding included; low: of the shortest batch
  double prompt = 0;                  ///< tokens of the prompt, where a prefill is planned
  double cached_prefix = 0;           ///< tokens in front that are not trained
  double gradient_accumulation = 1;
  double steps = 0;  ///< 0: many; 1: a trial of one step never holds the optimizer's state during a backward pass
  bool keeps_logits = false;  ///< the training loop holds the logits through the optimizer step

  CheckpointingMode checkpointing = CheckpointingMode::full;
  bool activation_offload = false;
  AttentionMode attention = AttentionMode::sdpa;
  LossMode loss = LossMode::hf;
  ExpertMode experts = ExpertMode::grouped;
  bool experts_known = false;  ///< somebody said how experts run; else the bounds hold the other ways
  LoaderMode loader = LoaderMode::unknown;
  bool expandable_segments = false;

  double nodes = 1;
  ParallelMode parallel = ParallelMode::none;

  std::optional<double> server_fraction;  ///< of the pool
  std::optional<double> kv_bytes;         ///< the whole cache, given
  double kv_value_bytes = 2;              ///< of one cached value
  double max_sequences = 1;
  double batched_tokens = 2048;  ///< of one forward pass of a server
  CacheMode cache = CacheMode::dynamic;
  double pool_bytes = 0;  ///< of the machine, for fractions

  double context_bytes = 741326848;  ///< of the CUDA context; GB10 by default
  std::vector<ResolvedInput> inputs;

  [[nodiscard]] bool trains() const { return method != RunMethod::inference; }
  [[nodiscard]] bool trains_adapters() const { return trains() && method != RunMethod::full; }
  [[nodiscard]] bool is_server() const {
    return framework == "vllm" || framework == "sglang" || framework == "llama.cpp";
  }
};

[[nodiscard]] std::string_view to_string(RunMethod method);
[[nodiscard]] std::string_view to_string(RunObjective objective);
[[nodiscard]] std::string_view to_string(CheckpointingMode mode);
[[nodiscard]] std::string_view to_string(AttentionMode mode);
[[nodiscard]] std::string_view to_string(LossMode mode);
[[nodiscard]] std::string_view to_string(LoaderMode mode);
[[nodiscard]] std::string_view to_string(ExpertMode mode);
[[nodiscard]] std::string_view to_string(CacheMode mode);
[[nodiscard]] std::string_view to_string(ParallelMode mode);
[[nodiscard]] std::string_view to_string(WeightFormat format);

/// The words of the command line; nothing for a word that is none of them.
[[nodiscard]] std::optional<RunMethod> parse_method(std::string_view word);
[[nodiscard]] std::optional<RunObjective> parse_objective(std::string_view word);
[[nodiscard]] std::optional<CheckpointingMode> parse_checkpointing(std::string_view word);
[[nodiscard]] std::optional<AttentionMode> parse_attention(std::string_view word);
[[nodiscard]] std::optional<LossMode> parse_loss(std::string_view word);
[[nodiscard]] std::optional<LoaderMode> parse_loader(std::string_view word);
[[nodiscard]] std::optional<ExpertMode> parse_experts(std::string_view word);
[[nodiscard]] std::optional<CacheMode> parse_cache(std::string_view word);
[[nodiscard]] std::optional<WeightFormat> parse_weight_format(std::string_view word);

/// Every word such an option takes, for messages: "full, lora, …".
[[nodiscard]] std::string method_words();
[[nodiscard]] std::string weight_words();
[[nodiscard]] std::string loss_words();

}  // namespace sparkops::verdicts
