#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/text.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

/// What one name of a target module stands for.
struct Target {
  std::string_view word;
  bool query = false, key_value = false, output = false, gate_up = false, down = false;
  bool fused_up = false;  ///< gate and up (or q, k, v) are one matrix: one pair of adapters
};

constexpr std::array<Target, 20> k_targets{{
    {.word = "q_proj", .query = true},    {.word = "k_proj", .key_value = true}, {.word = "v_proj", .key_value = true},
    {.word = "o_proj", .output = true},   {.word = "q", .query = true},          {.word = "k", .key_value = true},
    {.word = "v", .key_value = true},     {.word = "o", .output = true},         {.word = "gate_proj", .gate_up = true},
    {.word = "up_proj", .gate_up = true}, {.word = "down_proj", .down = true},   {.word = "gate", .gate_up = true},
    {.word = "up", .gate_up = true},      {.word = "down", .down = true},        {.word = "w1", .gate_up = true},
    {.word = "w2", .gate_up = true},      {.word = "w3", .down = true},          {.word = "fc1", .gate_up = true},
    {.word = "fc2", .down = true},        {.word = "dense", .output = true},
}};

/// Widths of one adapter pair: rank · (in + out).
double attention_pairs(const ModelShape& model, const Target& target) {
  double widths = 0;
  if (target.query) widths += model.hidden + model.query_width;
  if (target.key_value) widths += model.hidden + model.key_value_width;
  if (target.output) widths += model.query_width + model.hidden;
  return widths * model.attention_layers;
}

double feed_forward_pairs(const ModelShape& model, const Target& target) {
  if (!target.gate_up && !target.down) return 0;
  double widths = model.dense_layers * (model.hidden + model.intermediate);
  if (model.expert_layers > 0) {
    if (!model.fused_experts)
      widths += model.expert_layers * model.experts * (model.expert_width + model.expert_intermediate);
    if (model.shared_intermediate > 0) widths += model.expert_layers * (model.hidden + model.shared_intermediate);
  }
  return widths;
}

/// Every linear layer of the decoder, the head left out (PEFT's "all-linear").
double all_linear_pairs(const ModelShape& model) {
  double widths = 0;
  for (const std::string_view word : {"q_proj", "k_proj", "v_proj", "o_proj"})
    for (const Target& target : k_targets)
      if (target.word == word) widths += attention_pairs(model, target);
  const double matrices = model.gated ? 3 : 2;
  widths += matrices * feed_forward_pairs(model, Target{.word = "", .gate_up = true});
  widths += model.recurrent_layers *
            (model.hidden + model.recurrent_input_width + model.recurrent_inner_width + model.hidden);
  return widths;
}

/// "c_attn", "qkv_proj", "W_pack" are one matrix for queries, keys and values; "c_proj" names two kinds of layer.
double fused_pairs(const ModelShape& model, std::string_view word) {
  if (word == "c_attn" || word == "qkv_proj" || word == "W_pack" || word == "query_key_value" || word == "attn")
    return model.attention_layers * (model.hidden + model.query_width + 2 * model.key_value_width);
  if (word == "gate_up_proj") return model.dense_layers * (model.hidden + 2 * model.intermediate);
  if (word == "c_proj")
    return model.attention_layers * (model.query_width + model.hidden) +
           model.dense_layers * (model.hidden + model.intermediate);
  if (word == "in_proj" || word == "in_proj_qkvz")
    return model.recurrent_layers * (model.hidden + model.recurrent_input_width);
  if (word == "out_proj") return model.recurrent_layers * (model.recurrent_inner_width + model.hidden);
  return 0;
}

double pairs_of(const ModelShape& model, std::string_view word) {
  if (word == "all-linear" || word == "all") return all_linear_pairs(model);
  if (const double fused = fused_pairs(model, word); fused > 0) return fused;
  for (const Target& target : k_targets)
    if (target.word == word) return attention_pairs(model, target) + feed_forward_pairs(model, target);
  return 0;
}

double saved_modules(const RunShape& run) {
  double parameters = 0;
  for (const std::string& module : run.modules_to_save) {
    if (contains(module, "head"))
      parameters += run.model.head_parameters > 0 ? run.model.head_parameters : run.model.embedding_parameters;
    else if (contains(module, "emb") || module == "wte")
      parameters += run.model.embedding_parameters;
    else if (contains(module, "norm"))
      parameters += 2 * run.model.hidden * run.model.layers;
  }
  return parameters;
}

}  // namespace

Trainable count_trainable(const RunShape& run) {
  Trainable trainable;
  if (!run.trains()) return trainable;
  if (run.method == RunMethod::full) {
    trainable.full = run.model.parameters;
    trainable.detail = "every parameter";
    return trainable;
  }
  trainable.saved_modules = saved_modules(run);
  if (run.trainable_parameters) {
    trainable.given = true;
    trainable.adapters = std::max(0.0, *run.trainable_parameters - trainable.saved_modules);
    trainable.detail = "as the trainer prints it";
    return trainable;
  }
  std::vector<std::string> counted, unknown;
  for (const std::string& target : run.lora_targets) {
    const double pairs = pairs_of(run.model, target);
    trainable.adapters += run.lora_rank * pairs;
    (pairs > 0 ? counted : unknown).push_back(target);
  }
  trainable.detail = fmt::format("rank {:g} on {}", run.lora_rank, join(counted, ", "));
  if (!unknown.empty()) trainable.detail += " (not counted: " + join(unknown, ", ") + ")";
  return trainable;
}

Term adapters_term(const RunShape& run, const Trainable& trainable) {
  Term term{.id = "adapters",
            .title = "adapter weights",
            .formula = "Σ r · (in + out) · bytes + modules_to_save · 2",
            .filled = "",
            .source = "memory-model.md §1, §3.4 (exact)",
            .bytes = {},
            .zero_because = ""};
  if (!run.trains_adapters()) {
    term.zero_because = run.trains() ? "every weight is trained itself" : "inference";
    return term;
  }
  constexpr double k_saved_copy_bytes = 2;
  const double bytes = trainable.adapters * run.adapter_bytes + trainable.saved_modules * k_saved_copy_bytes;
  term.filled = fmt::format("{} · {:g} + {} · 2 ({})", figure(trainable.adapters), run.adapter_bytes,
                            figure(trainable.saved_modules), trainable.detail);
  // bf16 adapters are half as large as PEFT's fp32 ones, when nobody said which.
  term.bytes = exactly(bytes);
  return term;
}

}  // namespace sparkops::verdicts
