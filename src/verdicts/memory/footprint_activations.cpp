#include <fmt/format.h>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

using namespace constants;

constexpr double k_16bit = 2, k_fp32 = 4;

bool unfused_norms(const RunShape& run) {
  return !run.compiled && run.framework != "megatron" && run.framework != "unsloth";
}

/// What one layer with attention and a dense network keeps for its backward pass, per token.
double saved_by_dense_layer(const RunShape& run, double intermediate) {
  const ModelShape& model = run.model;
  double bytes = 0;
  if (!model.gated)
    bytes = k_saved_plain_intermediate * intermediate + k_saved_plain_hidden * model.hidden;
  else if (unfused_norms(run))
    bytes = k_saved_intermediate * intermediate + k_saved_hidden * model.hidden;
  else
    bytes = k_saved_intermediate_fused * intermediate + k_saved_hidden_fused * model.hidden;
  if (model.query_width > model.hidden) bytes += k_saved_wide_heads * (model.query_width - model.hidden);
  if (run.weights == WeightFormat::nf4 || run.weights == WeightFormat::nf4_single)
    bytes += k_saved_by_bnb_intermediate * intermediate + k_saved_by_bnb_hidden * model.hidden;
  if (run.fp8_compute) bytes -= k_saved_less_with_fp8 * model.hidden;
  return bytes;
}

double eager_scores(const RunShape& run) {
  return run.attention == AttentionMode::eager ? run.model.query_heads * run.sequence.value * k_eager_scores : 0;
}

/// Everything kept without checkpointing, per token, all layers.
double saved_by_all_layers(const RunShape& run) {
  const ModelShape& model = run.model;
  double bytes = model.dense_layers * saved_by_dense_layer(run, model.intermediate);
  const double routed = model.active_experts * model.expert_intermediate + model.shared_intermediate;
  bytes += model.expert_layers *
           (saved_by_dense_layer(run, routed) + 2 * k_16bit * model.active_experts * model.expert_width);
  // Layers that hold a mixer alone, or beside the networks counted above, keep their projections.
  bytes += model.recurrent_layers * k_16bit *
           (model.recurrent_input_width + 2 * model.recurrent_conv_width + 2 * model.recurrent_inner_width);
  return bytes + model.attention_layers * eager_scores(run);
}

/// One expert layer computed again with its gradients, per token.
Estimate expert_layer(const RunShape& run) {
  const ModelShape& model = run.model;
  const double beside = model.shared_intermediate + model.query_width + model.hidden;
  const double grouped =
      k_layer_experts * (model.active_experts * (model.expert_intermediate + model.expert_width) + beside);
  const double inner = model.gated ? k_loop_inner_gated : k_loop_inner;
  const double loop = model.active_experts * (k_loop_width * model.expert_width + inner * model.expert_intermediate) +
                      k_layer * (model.shared_intermediate + model.hidden) +
                      k_one_hot_bytes * model.active_experts * model.experts;
  const double dense =
      k_layer_experts * model.experts * (model.expert_intermediate + model.expert_width) + k_layer * beside;
  switch (run.experts) {
    case ExpertMode::loop: return run.experts_known ? about(loop, 0.15, 0.15) : Estimate{loop, loop, grouped};
    case ExpertMode::dense: return run.experts_known ? about(dense, 0.10, 0.10) : Estimate{grouped, dense, dense};
    case ExpertMode::grouped: break;
  }
  // Unsaid: a loop needs less; code that computes every expert for every token needs far more (seen on GB10).
  return run.experts_known ? about(grouped, 0.15, 0.15) : Estimate{loop, grouped, grouped * 1.3};
}

/// X of memory-model.md §1: the layer that needs most.
Estimate layer_bytes(const RunShape& run) {
  const ModelShape& model = run.model;
  Estimate bytes{};
  if (model.dense_layers > 0 || model.attention_layers > 0) {
    double dense = k_layer * (model.intermediate + model.hidden);
    const double unfused = k_layer * model.intermediate + k_layer_unfused_hidden * model.hidden;
    const double wide = model.query_width > model.hidden ? k_saved_wide_heads * (model.query_width - model.hidden) : 0;
    dense += wide;
    bytes = {dense * (1 - k_activations_below), dense, std::max(unfused + wide, dense * (1 + k_activations_above))};
  }
  if (model.expert_layers > 0) bytes = larger(bytes, expert_layer(run));
  if (model.recurrent_layers > 0)
    bytes = larger(bytes, about(k_layer * (model.hidden + model.recurrent_input_width + model.recurrent_conv_width +
                                           model.recurrent_inner_width),
                                0.15, 0.5));
  if (run.lora_dropout) bytes += exactly(k_dropout_copy * model.hidden);
  if (run.checkpointing != CheckpointingMode::none) bytes += exactly(eager_scores(run));
  return bytes;
}

}  // namespace

Estimate tokens_of(const RunShape& run) {
  Estimate tokens = run.sequence * run.batch;
  // Chosen and rejected answers run together.
  if (run.objective == RunObjective::dpo || run.objective == RunObjective::orpo || run.objective == RunObjective::kto)
    tokens = tokens * 2;
  return tokens;
}

Term stored_activations_term(const RunShape& run) {
  const ModelShape& model = run.model;
  const Estimate tokens = tokens_of(run);
  Term term{.id = "stored-activations",
            .title = "activations kept for the backward pass",
            .formula = "",
            .filled = "",
            .source = "memory-model.md §3.2, §3.3 (measured slopes)",
            .bytes = {},
            .zero_because = ""};
  const double stream = run.residual_fp32 ? k_fp32 : k_16bit;
  double per_token = 0, below = 0.02, above = 0.05;
  switch (run.checkpointing) {
    case CheckpointingMode::full:
    case CheckpointingMode::unsloth:
      per_token = stream * model.hidden * model.layers * model.residual_streams;
      term.formula = run.residual_fp32 ? "T · 4·h·L (fp32 residual stream)" : "T · 2·h·L";
      term.filled =
          fmt::format("{} · {:g} · {} · {}", figure(tokens.value), stream, figure(model.hidden), figure(model.layers));
      if (model.residual_streams > 1) term.filled += fmt::format(" · {:g} streams", model.residual_streams);
      break;
    case CheckpointingMode::selective: {
      RunShape flash = run;
      flash.attention = AttentionMode::flash;
      per_token = saved_by_all_layers(flash);
      term.formula = "T · Σ over layers, without attention scores";
      term.filled = fmt::format("{} · {}", figure(tokens.value), figure(per_token));
      below = k_activations_below, above = k_activations_above;
      break;
    }
    case CheckpointingMode::none:
      per_token = saved_by_all_layers(run);
      if (run.residual_fp32) per_token += k_16bit * model.hidden * model.layers;
      term.formula =
          model.gated ? (unfused_norms(run) ? "T · Σ (8·i + 22·h)" : "T · Σ (6·i + 16·h)") : "T · Σ (4·i + 18·h)";
      term.filled = fmt::format("{} · {}", figure(tokens.value), figure(per_token));
      below = k_activations_below, above = k_activations_above;
      break;
  }
  term.bytes = tokens * about(per_token, below, above);
  if (!model.widths_known) {
    term.bytes.low *= 0.5;
    term.bytes.high *= 1.6;
  }
  return term;
}

Term layer_term(const RunShape& run) {
  const Estimate tokens = tokens_of(run);
  const Estimate bytes = layer_bytes(run);
  Term term{.id = "layer",
            .title = "one layer computed again, and its gradients",
            .formula = "T · 14·(i + h)",
            .filled = fmt::format("{} · {}", figure(tokens.value), figure(bytes.value)),
            .source = "memory-model.md §1 (fit, +0.2 % on a held-out 70B)",
            .bytes = tokens * bytes,
            .zero_because = ""};
  if (run.model.expert_layers > 0) {
    term.formula = fmt::format("T · the larger of 14·(i + h) and the expert layer ({})", to_string(run.experts));
    term.source += "; experts: docs/memory-model.md";
  }
  if (!run.model.widths_known) {
    term.bytes.low *= 0.5;
    term.bytes.high *= 1.6;
  }
  return term;
}

Term cached_prefix_term(const RunShape& run) {
  Term term{.id = "cached-prefix",
            .title = "cache of the prefix that is not trained",
            .formula = "tokens · values · bytes · 3",
            .filled = "",
            .source = "docs/memory-model.md (cache, its concatenation, expanded heads; GB10 rows)",
            .bytes = {},
            .zero_because = "no cached prefix"};
  if (run.cached_prefix <= 0) return term;
  term.zero_because.clear();
  const double cache = run.cached_prefix * cache_values_per_token(run.model) * run.kv_value_bytes;
  term.filled = fmt::format("{} · {} · {:g} · {:g}", figure(run.cached_prefix),
                            figure(cache_values_per_token(run.model)), run.kv_value_bytes, k_prefix_copies);
  term.bytes = {cache, cache * k_prefix_copies, cache * (k_prefix_copies + 1)};
  return term;
}

}  // namespace sparkops::verdicts
