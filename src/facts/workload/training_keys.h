#pragma once

#include <string>
#include <string_view>

namespace sparkops::facts {

/// What a key of a training configuration means, whatever the framework.
enum class TrainingKey {
  unknown,
  irrelevant,           ///< known, and without influence on memory (learning rates, logging, seeds)
  framework_component,  ///< _target_ or _component_ of another section
  model,
  weights_dtype,
  compute_dtype,  ///< bf16: true, mixed_precision: bf16
  bf16,
  fp16,
  load_in_4bit,
  load_in_8bit,
  quantization_bits,
  quantization_kind,
  double_quantization,
  fp4_recipe,
  adapter,
  finetuning_type,
  uses_adapter,
  full_finetuning,
  lora_rank,
  lora_alpha,
  lora_dropout,
  lora_targets,
  lora_all_linear,
  modules_to_save,
  dora,
  batch,
  eval_batch,
  accumulation,
  sequence,
  packing,
  packed_length,  ///< NeMo AutoModel: a length above 0 packs
  generations,
  prompt_length,
  completion_length,
  checkpointing,
  no_checkpointing,
  activation_offload,
  optimizer_offload,
  parameter_offload,
  attention,
  flash,
  sdpa,
  eager,
  liger,
  cut_cross_entropy,
  chunked_cross_entropy,
  unsloth_cross_entropy,
  loss_component,
  plugins,
  compile,
  optimizer,
  optimizer_in_backward,
  objective,
  pretraining,
  dataset,
  gpus,
};

/// The meaning of a canonical key (options.h); positions in lists are left out before: "datasets.path",
/// "lora_target_modules". Sections are looked at where the last part alone says too little ("peft.dim").
[[nodiscard]] TrainingKey meaning_of_training_key(std::string_view canonical);

/// A canonical key without its positions: "datasets.0.path" gives "datasets.path".
[[nodiscard]] std::string without_positions(std::string_view canonical);

}  // namespace sparkops::facts
