#include <fmt/format.h>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

using namespace constants;

/// Tokens of one sequence that a layer with a window keeps: vLLM adds one forward pass' tokens.
double window_tokens(const RunShape& run, const CacheGroup& group, double context) {
  if (group.window <= 0) return context;
  const double beside = run.framework == "vllm" ? run.batched_tokens - 1 : 0;
  return std::min(context, group.window + beside);
}

double cache_of_one_sequence(const RunShape& run, double context) {
  double values = 0;
  for (const CacheGroup& group : run.model.cache)
    values += group.layers * group.values_per_token * window_tokens(run, group, context);
  return values * run.kv_value_bytes;
}

double sequences(const RunShape& run) {
  return run.is_server() ? run.max_sequences : run.batch;
}

/// What vLLM's fraction leaves for the cache: pool · fraction − weights − profile run − what it books as non-torch.
Term pool_term(const RunShape& run, const Term& weights, Term term) {
  const Estimate profile = prefill_term(run).bytes;
  const double pool = run.pool_bytes * *run.server_fraction;
  const double value = pool - weights.bytes.value - profile.value - k_server_other;
  term.formula = "pool · fraction − weights − profile run − non-torch";
  term.filled = fmt::format("{} · {:g} − {} − {} − {}", figure(run.pool_bytes), *run.server_fraction,
                            figure(weights.bytes.value), figure(profile.value), figure(k_server_other));
  const double low = pool - weights.bytes.high - profile.high - k_server_other_high;
  const double high = pool - weights.bytes.low - profile.low - k_server_other_low;
  term.bytes = {std::max(0.0, low), std::max(0.0, value), std::max(0.0, high)};
  return term;
}

}  // namespace

double cache_values_per_token(const ModelShape& model) {
  double values = 0;
  for (const CacheGroup& group : model.cache) values += group.layers * group.values_per_token;
  return values;
}

Term kv_cache_term(const RunShape& run, const Term& weights) {
  Term term{.id = "kv-cache",
            .title = "keys and values",
            .formula = "sequences · Σ layers · values · bytes · tokens",
            .filled = "",
            .source = "memory-model.md §7 (exact layouts)",
            .bytes = {},
            .zero_because = ""};
  if (run.trains()) {
    term.zero_because = "training keeps no cache";
    return term;
  }
  if (run.kv_bytes) {
    term.formula = "given";
    term.filled = figure(*run.kv_bytes) + " B";
    term.bytes = exactly(*run.kv_bytes);
    return term;
  }
  if (run.server_fraction && run.framework != "llama.cpp") return pool_term(run, weights, std::move(term));
  const double one = cache_of_one_sequence(run, run.sequence.value);
  const double count = sequences(run);
  term.filled = fmt::format("{} · {} B of {} tokens", figure(count), figure(one), figure(run.sequence.value));
  double copies = 1;
  if (run.cache == CacheMode::tuple) {
    copies = 2;
    term.filled += " · 2 (the old cache lives until the new one is complete)";
  }
  const double low = cache_of_one_sequence(run, run.sequence.low) * count;
  term.bytes = {low, one * count * copies, cache_of_one_sequence(run, run.sequence.high) * count * copies};
  if (run.cache == CacheMode::dynamic && run.model.layers > 0) {
    const double one_layer = one * count / run.model.layers;
    term.bytes.value += one_layer;
    term.bytes.high += 2 * one_layer;
    term.filled += " + one layer's copy";
  }
  return term;
}

Term recurrent_state_term(const RunShape& run) {
  Term term{.id = "recurrent-state",
            .title = "state of recurrent layers",
            .formula = "sequences · L(recurrent) · state · 4",
            .filled = "",
            .source = "memory-model.md §7",
            .bytes = {},
            .zero_because = ""};
  if (run.trains() || run.model.recurrent_layers == 0) {
    term.zero_because = run.trains() ? "counted with the layers" : "no recurrent layers";
    return term;
  }
  constexpr double k_fp32 = 4;
  const double bytes = sequences(run) * run.model.recurrent_layers * run.model.recurrent_state * k_fp32;
  term.filled = fmt::format("{} · {} · {} · 4", figure(sequences(run)), figure(run.model.recurrent_layers),
                            figure(run.model.recurrent_state));
  term.bytes = {bytes / 2, bytes, bytes};
  // Inside a server's fraction the state is a part of the pool that was counted already.
  if (run.server_fraction) {
    term.bytes = {};
    term.zero_because = "lies in the server's pool";
  }
  return term;
}

Term prefill_term(const RunShape& run) {
  const ModelShape& model = run.model;
  Term term{.id = "prefill",
            .title = "the largest forward pass",
            .formula = "tokens · 2·(3i + 4h)",
            .filled = "",
            .source = "memory-model.md §7 (exact on GB10 for Qwen3-8B)",
            .bytes = {},
            .zero_because = ""};
  if (run.framework == "llama.cpp") {
    term.formula = "(V + h) · ubatch · 4";
    term.source = "memory-model.md §7 (exact on two logs)";
    const double ubatch = std::min(run.batched_tokens, 512.0);
    double bytes = (model.vocabulary + model.hidden) * ubatch * 4;
    term.filled = fmt::format("({} + {}) · {} · 4", figure(model.vocabulary), figure(model.hidden), figure(ubatch));
    if (run.attention == AttentionMode::eager) {
      // Scores and mask over the context, one block's inner tensors (exact on two more logs).
      const double context = run.sequence.value;
      const double scores = ((model.query_heads + 1) * context + model.intermediate + 2 * model.hidden) * ubatch * 4;
      term.formula = "the larger of (V + h) · ubatch · 4 and ((heads + 1) · context + i + 2·h) · ubatch · 4";
      term.filled += fmt::format(", ({} · {} + {}) · {} · 4", figure(model.query_heads + 1), figure(context),
                                 figure(model.intermediate + 2 * model.hidden), figure(ubatch));
      bytes = std::max(bytes, scores);
    }
    term.bytes = about(bytes, 0.05, 0.5);
    return term;
  }
  const double tokens = run.is_server() ? run.batched_tokens : run.prompt * run.batch;
  if (tokens <= 0) {
    term.zero_because = "no prompt length was given";
    return term;
  }
  const double routed =
      model.active_experts * (model.expert_intermediate + model.expert_width) + model.shared_intermediate;
  const double inner = std::max(model.intermediate, routed);
  const double per_token = 2 * (3 * inner + 4 * model.hidden);
  term.filled = fmt::format("{} · 2·(3·{} + 4·{})", figure(tokens), figure(inner), figure(model.hidden));
  double bytes = tokens * per_token;
  if (run.is_server()) {
    // The sampler sees one row of logits for each sequence, in 32 bit and sorted.
    constexpr double k_sampler_entry = 8;
    bytes += run.max_sequences * model.vocabulary * k_sampler_entry;
    term.formula += " + sequences · V · 8";
    term.filled += fmt::format(" + {} · {} · 8", figure(run.max_sequences), figure(model.vocabulary));
  }
  term.bytes = about(bytes, run.is_server() ? 0.5 : 0.05, run.is_server() ? 1.0 : 0.3);
  return term;
}

Term server_start_term(const RunShape& run) {
  Term term{.id = "server-start",
            .title = "while the server starts: autotuning, graph capture, profile run",
            .formula = "by server",
            .filled = "",
            .source = "memory-model.md §10 (reports from GB10)",
            .bytes = {},
            .zero_because = "no such transient is known for this program"};
  if (run.trains()) return term;
  if (run.framework == "sglang") {
    term.bytes = {k_sglang_start_low, k_sglang_start, k_sglang_start_high};
    term.zero_because.clear();
  } else if (run.framework == "vllm") {
    term.bytes = {k_vllm_start_low, k_vllm_start, k_vllm_start_high};
    term.zero_because.clear();
  }
  term.filled = figure(term.bytes.value) + " B";
  return term;
}

}  // namespace sparkops::verdicts
