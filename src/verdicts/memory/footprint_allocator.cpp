#include <fmt/format.h>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

using namespace constants;

/// Slack with the default allocator, of what comes and goes.
Estimate default_slack(const RunShape& run) {
  if (!run.trains()) return {k_slack_inference_low, k_slack_inference, k_slack_inference_high};
  if (run.fp8_compute) return {k_slack_fp8_low, k_slack_fp8, k_slack_fp8_high};
  if (run.checkpointing == CheckpointingMode::none) return {k_slack_stored_low, k_slack_stored, k_slack_stored_high};
  if (has_full_logits(run)) return {k_slack_logits_low, k_slack_logits, k_slack_logits_high};
  return {k_slack_fused_low, k_slack_fused, k_slack_fused_high};
}

}  // namespace

Estimate reserved_of(const RunShape& run, const Estimate& allocated, const Estimate& dynamic) {
  if (run.expandable_segments && run.trains()) {
    const bool logits = has_full_logits(run);
    return allocated * Estimate{k_slack_expandable_low, logits ? k_slack_expandable_logits : k_slack_expandable,
                                logits ? k_slack_expandable_logits_high : k_slack_expandable_high};
  }
  const Estimate slack = default_slack(run);
  return allocated + dynamic * Estimate{slack.low - 1, slack.value - 1, slack.high - 1};
}

Estimate reserved_in_step(const RunShape& run, const Estimate& allocated, const Estimate& dynamic) {
  if (run.expandable_segments) return reserved_of(run, allocated, dynamic);
  return allocated + dynamic * Estimate{0, k_slack_fused - 1, k_slack_logits_high - 1};
}

Term context_term(const RunShape& run) {
  return {.id = "cuda-context",
          .title = "CUDA context",
          .formula = "one for each process",
          .filled = figure(run.context_bytes) + " B",
          .source = "memory-model.md §8 (measured on GB10; --context-bytes for other GPUs)",
          .bytes = about(run.context_bytes, 0.05, 0.5),
          .zero_because = ""};
}

Term host_term(const RunShape& run) {
  const bool plain = run.framework == "llama.cpp";
  return {.id = "host",
          .title = "host side of the process: interpreter, libraries, data loaders",
          .formula = "1 to 4 GB",
          .filled = plain ? "0.3 GB" : "2 GB",
          .source = "docs/memory-model.md (no published figure)",
          .bytes = plain ? Estimate{0.1e9, 0.3e9, 0.5e9} : Estimate{k_host_low, k_host, k_host_high},
          .zero_because = ""};
}

}  // namespace sparkops::verdicts
