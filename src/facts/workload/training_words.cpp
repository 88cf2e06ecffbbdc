#include "facts/workload/training_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/workload/options.h"
#include "facts/workload/training_keys.h"

namespace sparkops::facts {

bool is_on(std::string_view value) {
  const std::string word = to_lower(trim(value));
  return !word.empty() && word != "false" && word != "0" && word != "no" && word != "none" && word != "null" &&
         word != "off" && word != "disabled";
}

bool is_null(std::string_view value) {
  const std::string word = to_lower(trim(value));
  return word == "null" || word == "none" || word == "~";
}

std::optional<std::int64_t> whole_number(std::string_view value) {
  value = trim(value);
  std::int64_t unit = 1;
  if (!value.empty()) {
    switch (value.back()) {
      case 'k': unit = 1000; break;
      case 'K': unit = 1024; break;
      case 'm': unit = 1'000'000; break;
      case 'M': unit = std::int64_t{1024} * 1024; break;
      default: break;
    }
    if (unit > 1) value.remove_suffix(1);
  }
  const auto number = parse_number(value);
  constexpr double k_most = 1e15;
  if (!number || *number < -k_most || *number > k_most) return std::nullopt;
  const double product = *number * static_cast<double>(unit);
  const auto whole = static_cast<std::int64_t>(product);
  return static_cast<double>(whole) == product ? std::optional(whole) : std::nullopt;
}

std::string dtype_word(std::string_view word) {
  if (contains(word, "bf16") || contains(word, "bfloat16")) return "bf16";
  if (contains(word, "fp8") || contains(word, "float8")) return "fp8";
  if (contains(word, "nvfp4")) return "nvfp4";
  if (contains(word, "fp32") || contains(word, "float32") || word == "32" || word == "32-true") return "fp32";
  if (contains(word, "fp16") || contains(word, "float16") || word == "half" || word == "16") return "fp16";
  return "";
}

std::string optimizer_word(std::string_view value) {
  const std::size_t dot = value.rfind('.');
  std::string word(trim(dot == std::string_view::npos ? value : value.substr(dot + 1)));
  // AdamW8bit, PagedAdamW8bit, CPUOffloadOptimizer: a step from small to large or to a digit begins a word.
  std::string apart;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto is_upper = [&word](std::size_t at) { return word[at] >= 'A' && word[at] <= 'Z'; };
    const auto is_lower = [&word](std::size_t at) { return word[at] >= 'a' && word[at] <= 'z'; };
    const bool digit = word[i] >= '0' && word[i] <= '9';
    const bool begins =
        i > 0 && word[i - 1] != '_' &&
        ((is_upper(i) && is_lower(i - 1) && i + 1 < word.size() && is_lower(i + 1)) || (digit && is_upper(i - 1)));
    if (begins) apart += '_';
    apart += word[i];
  }
  return to_lower(apart);
}

std::optional<AttentionImplementation> attention_word(std::string_view word) {
  if (contains(word, "flash") || contains(word, "fa2") || contains(word, "fa3") || contains(word, "flex") ||
      contains(word, "xformers"))
    return AttentionImplementation::flash;
  if (contains(word, "sdpa")) return AttentionImplementation::sdpa;
  if (word == "eager" || word == "disabled") return AttentionImplementation::eager;
  return std::nullopt;
}

std::optional<LossImplementation> loss_word(std::string_view word) {
  if (contains(word, "chunked") || contains(word, "linearcrossentropy")) return LossImplementation::chunked;
  if (contains(word, "fusedlinear") || contains(word, "cut_cross")) return LossImplementation::cut_cross_entropy;
  if (contains(word, "liger")) return LossImplementation::liger;
  if (contains(word, "crossentropy")) return LossImplementation::hf;
  return std::nullopt;
}

std::optional<Objective> objective_word(std::string_view word) {
  if (word == "pt" || contains(word, "pretrain")) return Objective::pretraining;
  if (contains(word, "sft") || word == "instruct") return Objective::sft;
  if (contains(word, "orpo")) return Objective::orpo;
  if (contains(word, "grpo")) return Objective::grpo;
  if (contains(word, "kto")) return Objective::kto;
  if (contains(word, "dpo") || contains(word, "ipo") || contains(word, "simpo")) return Objective::dpo;
  if (word == "rm" || contains(word, "reward")) return Objective::reward;
  if (contains(word, "ppo")) return Objective::ppo;
  return std::nullopt;
}

namespace {

struct FrameworkKeys {
  TrainingFramework framework;
  std::array<std::string_view, 8> keys;
};

/// Keys that one framework alone has. The first framework with any of them wins.
constexpr std::array<FrameworkKeys, 9> k_frameworks = {{
    {TrainingFramework::unsloth,
     {"fastlanguagemodel.from_pretrained", "fastmodel.from_pretrained", "fastvisionmodel.from_pretrained",
      "use_unsloth", "unslothtrainingarguments"}},
    {TrainingFramework::axolotl,
     {"sequence_len", "sample_packing", "sample_packing_eff_est", "flash_attention", "adapter", "base_model_config"}},
    {TrainingFramework::llama_factory,
     {"finetuning_type", "cutoff_len", "dataset_dir", "neat_packing", "preprocessing_num_workers"}},
    {TrainingFramework::torchtune,
     {"model._component_", "optimizer._component_", "enable_activation_checkpointing", "optimizer_in_bwd",
      "checkpointer._component_"}},
    {TrainingFramework::nemo_automodel,
     {"step_scheduler", "packed_sequence", "model._target_", "recipe._target_", "loss_fn._target_"}},
    {TrainingFramework::transformers,
     {"per_device_train_batch_size", "sfttrainer", "trainer", "sftconfig", "trainingarguments", "optim"}},
    {TrainingFramework::megatron,
     {"tensor_model_parallel_size", "pipeline_model_parallel_size", "train_iters", "use_mcore_models",
      "global_batch_size"}},
    {TrainingFramework::deepspeed, {"zero_optimization", "train_micro_batch_size_per_gpu"}},
    {TrainingFramework::accelerate, {"compute_environment", "distributed_type"}},
}};

/// Whether the key is `wanted`, one of its sections, or its last part.
bool holds(const std::string& key, std::string_view wanted) {
  if (wanted.empty()) return false;
  return key == wanted || key.ends_with("." + std::string(wanted)) || key.starts_with(std::string(wanted) + ".");
}

}  // namespace

Known<TrainingFramework> framework_of_settings(const std::vector<Setting>& settings) {
  for (const FrameworkKeys& row : k_frameworks)
    for (const Setting& setting : settings) {
      const std::string key = without_positions(canonical_key(setting.key));
      for (const std::string_view wanted : row.keys)
        if (holds(key, wanted)) return as_derived(TrainingFramework(row.framework));
    }
  return unknown("no key tells the framework");
}

std::string_view to_string(TrainingMethod method) {
  switch (method) {
    case TrainingMethod::full: return "full";
    case TrainingMethod::lora: return "lora";
    case TrainingMethod::qlora: return "qlora";
    case TrainingMethod::nvfp4_lora: return "nvfp4-lora";
  }
  return "";
}

std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::pretraining: return "pretraining";
    case Objective::sft: return "sft";
    case Objective::dpo: return "dpo";
    case Objective::orpo: return "orpo";
    case Objective::kto: return "kto";
    case Objective::grpo: return "grpo";
    case Objective::reward: return "reward";
    case Objective::ppo: return "ppo";
  }
  return "";
}

std::string_view to_string(GradientCheckpointing checkpointing) {
  switch (checkpointing) {
    case GradientCheckpointing::none: return "none";
    case GradientCheckpointing::full: return "full";
    case GradientCheckpointing::unsloth: return "unsloth";
    case GradientCheckpointing::selective: return "selective";
  }
  return "";
}

std::string_view to_string(AttentionImplementation attention) {
  switch (attention) {
    case AttentionImplementation::flash: return "flash";
    case AttentionImplementation::sdpa: return "sdpa";
    case AttentionImplementation::eager: return "eager";
  }
  return "";
}

std::string_view to_string(LossImplementation loss) {
  switch (loss) {
    case LossImplementation::hf: return "hf";
    case LossImplementation::hf_in_place: return "hf-inplace";
    case LossImplementation::fast_ce_1: return "fastce1";
    case LossImplementation::fast_ce_2: return "fastce2";
    case LossImplementation::chunked: return "chunked";
    case LossImplementation::liger: return "liger";
    case LossImplementation::cut_cross_entropy: return "cce";
    case LossImplementation::unsloth: return "unsloth";
  }
  return "";
}

std::string_view to_string(TrainingFramework framework) {
  switch (framework) {
    case TrainingFramework::transformers: return "transformers";
    case TrainingFramework::axolotl: return "axolotl";
    case TrainingFramework::llama_factory: return "llama-factory";
    case TrainingFramework::unsloth: return "unsloth";
    case TrainingFramework::torchtune: return "torchtune";
    case TrainingFramework::nemo_automodel: return "nemo-automodel";
    case TrainingFramework::litgpt: return "litgpt";
    case TrainingFramework::megatron: return "megatron";
    case TrainingFramework::deepspeed: return "deepspeed";
    case TrainingFramework::accelerate: return "accelerate";
  }
  return "";
}

}  // namespace sparkops::facts
