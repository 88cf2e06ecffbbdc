#include <fmt/format.h>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

using namespace constants;

bool trains_head(const RunShape& run) {
  if (run.method == RunMethod::full) return true;
  for (const std::string& module : run.modules_to_save)
    if (module.find("head") != std::string::npos) return true;
  return false;
}

/// Bytes per token and vocabulary entry; 0 for losses that never hold all logits.
double lambda(const RunShape& run) {
  switch (run.loss) {
    case LossMode::hf: return k_lambda_hf;
    case LossMode::hf_in_place: return k_lambda_hf_in_place;
    case LossMode::fast_ce_1: return k_lambda_fast_1;
    case LossMode::fast_ce_2: return k_lambda_fast_2;
    case LossMode::hf_shifted: return k_lambda_shifted;
    case LossMode::hf_16bit: return k_lambda_16bit;
    case LossMode::chunked: return trains_head(run) ? k_lambda_chunked : k_lambda_chunked_frozen;
    case LossMode::liger:
    case LossMode::cut:
    case LossMode::unsloth: return 0;
  }
  return k_lambda_hf;
}

bool has_reference(const RunShape& run) {
  return run.objective == RunObjective::dpo || run.objective == RunObjective::kto;
}

double next_power_of_two(double value) {
  return std::exp2(std::ceil(std::log2(std::max(1.0, value))));
}

/// Rows of one chunk of Liger's fused loss (its source): next_pow2(T / ceil(V / h)).
double liger_rows(const RunShape& run, double tokens) {
  const double parts = std::ceil(run.model.vocabulary / std::max(1.0, run.model.hidden));
  return std::min(tokens, next_power_of_two(std::ceil(tokens / std::max(1.0, parts))));
}

void fill_fused(const RunShape& run, const Estimate& tokens, Term& term) {
  const double head_gradient = trains_head(run) ? run.model.vocabulary * run.model.hidden * 2 : 0;
  const Estimate hidden = tokens * Estimate{k_kappa_low, k_kappa, k_kappa_high} * run.model.hidden;
  if (run.loss == LossMode::unsloth) {
    term.formula = "one chunk, sized by the free memory it sees + T · κ·h";
    term.filled = fmt::format("{} B + {} B", figure(k_unsloth_chunk), figure(hidden.value));
    const double all = tokens.value * run.model.vocabulary * k_lambda_fast_2;
    term.bytes =
        hidden + Estimate{std::min(k_unsloth_chunk_low, all), std::min(k_unsloth_chunk, all),
                          std::min(k_unsloth_chunk_high, tokens.high * run.model.vocabulary * k_lambda_fast_2)};
    return;
  }
  const double rows = run.loss == LossMode::liger ? liger_rows(run, tokens.value) : 0;
  const double chunk = rows * run.model.vocabulary * k_chunk_entry;
  term.formula = run.loss == LossMode::liger ? "one chunk: rows · V · 8 + T · κ·h" : "T · κ·h (logits are never built)";
  term.filled = fmt::format("{} · {} · {:g} + {} B", figure(rows), figure(run.model.vocabulary), k_chunk_entry,
                            figure(hidden.value));
  term.bytes = hidden + Estimate{chunk / 2, chunk, chunk * 1.5} + exactly(head_gradient);
}

}  // namespace

bool has_full_logits(const RunShape& run) {
  return run.trains() && lambda(run) >= k_lambda_fast_2;
}

Term loss_term(const RunShape& run) {
  Term term{.id = "loss",
            .title = fmt::format("logits and loss ({})", to_string(run.loss)),
            .formula = "",
            .filled = "",
            .source = "memory-model.md §3.5 (measured slopes)",
            .bytes = {},
            .zero_because = ""};
  const Estimate tokens = tokens_of(run);
  double per_entry = lambda(run);
  if (per_entry == 0) {
    fill_fused(run, tokens, term);
    return term;
  }
  if (has_reference(run)) per_entry += k_lambda_reference;
  const double vocabulary = run.model.vocabulary, hidden = run.model.hidden;
  term.formula = "T · (λ·V + κ·h)";
  term.filled = fmt::format("{} · ({:g} · {} + {:g} · {})", figure(tokens.value), per_entry, figure(vocabulary),
                            k_kappa, figure(hidden));
  term.bytes =
      tokens * Estimate{per_entry * vocabulary * 0.95 + k_kappa_low * hidden, per_entry * vocabulary + k_kappa * hidden,
                        per_entry * vocabulary * 1.05 + k_kappa_high * hidden};
  return term;
}

Term retained_logits_term(const RunShape& run) {
  Term term{.id = "retained-logits",
            .title = "logits that the training loop keeps through the step",
            .formula = "T · 4·V",
            .filled = "",
            .source = "docs/memory-model.md (slope of the GB10 rows whose peak is the optimizer step)",
            .bytes = {},
            .zero_because = "the trainer drops its outputs before the step"};
  if (!run.keeps_logits || !has_full_logits(run)) return term;
  term.zero_because.clear();
  const Estimate tokens = tokens_of(run);
  term.filled = fmt::format("{} · {:g} · {}", figure(tokens.value), k_lambda_retained, figure(run.model.vocabulary));
  const double entry = k_lambda_retained * run.model.vocabulary;
  term.bytes = {0, tokens.value * entry, tokens.high * entry};
  return term;
}

}  // namespace sparkops::verdicts
