#pragma once

#include <string>

#include "verdicts/memory/footprint.h"

// The parts that compute_footprint puts together; each file of this name holds one of them.
namespace sparkops::verdicts {

/// A count or a size for a formula line: "32", "4,096", "7.24e9" beyond a billion.
[[nodiscard]] std::string figure(double value);

// footprint_weights.cpp
[[nodiscard]] Term weights_term(const RunShape& run);
[[nodiscard]] Term upcast_term(const RunShape& run);      ///< embedding, head and norms in fp32
[[nodiscard]] Term dequantise_term(const RunShape& run);  ///< one matrix in 16 bit, while it is used
/// Bytes of a source checkpoint when it is not what ends up in memory (QLoRA from bf16).
[[nodiscard]] double source_bytes(const RunShape& run);
/// Bits of one quantised weight, scales included (memory-model.md §4).
[[nodiscard]] double bits_per_weight(const RunShape& run);

// footprint_adapters.cpp
/// Trainable parameters: those of the adapters and of modules_to_save, or everything.
struct Trainable {
  double adapters = 0;
  double saved_modules = 0;
  double full = 0;
  bool given = false;  ///< the trainer printed it
  std::string detail;  ///< how it was counted
  [[nodiscard]] double total() const { return adapters + saved_modules + full; }
};
[[nodiscard]] Trainable count_trainable(const RunShape& run);
[[nodiscard]] Term adapters_term(const RunShape& run, const Trainable& trainable);

// footprint_optimizer.cpp
struct OptimizerTerms {
  Term states, master, gradients, step;   ///< step: what lives during the optimizer step alone
  Term largest_gradient;                  ///< with the optimizer in the backward pass
  bool states_outside_allocator = false;  ///< paged or offloaded: not in torch's figures, in the pool all the same
  bool known = true;                      ///< false: the name is not known, AdamW was taken
};
[[nodiscard]] OptimizerTerms optimizer_terms(const RunShape& run, const Trainable& trainable);
[[nodiscard]] bool is_known_optimizer(std::string_view name);

// footprint_activations.cpp
[[nodiscard]] Estimate tokens_of(const RunShape& run);            ///< T: of one micro-batch
[[nodiscard]] Term stored_activations_term(const RunShape& run);  ///< T · C
[[nodiscard]] Term layer_term(const RunShape& run);  ///< T · X: one layer computed again, and its gradients
[[nodiscard]] Term cached_prefix_term(const RunShape& run);

// footprint_loss.cpp
[[nodiscard]] Term loss_term(const RunShape& run);  ///< T · (λ·V + κ·h), or the chunk of a fused loss
[[nodiscard]] Term retained_logits_term(const RunShape& run);
[[nodiscard]] bool has_full_logits(const RunShape& run);

// footprint_load.cpp
[[nodiscard]] Term load_transient_term(const RunShape& run, const Term& weights);

// footprint_kv_cache.cpp
[[nodiscard]] Term kv_cache_term(const RunShape& run, const Term& weights);
[[nodiscard]] Term recurrent_state_term(const RunShape& run);
[[nodiscard]] Term prefill_term(const RunShape& run);  ///< inference: the largest forward pass
[[nodiscard]] Term server_start_term(const RunShape& run);
[[nodiscard]] double cache_values_per_token(const ModelShape& model);

// footprint_allocator.cpp
/// Allocated plus the slack of the caching allocator. `dynamic`: what of it comes and goes.
[[nodiscard]] Estimate reserved_of(const RunShape& run, const Estimate& allocated, const Estimate& dynamic);
/// The same for the optimizer step, whose temporaries have the sizes of the parameters and fit into freed blocks.
[[nodiscard]] Estimate reserved_in_step(const RunShape& run, const Estimate& allocated, const Estimate& dynamic);
[[nodiscard]] Term context_term(const RunShape& run);
[[nodiscard]] Term host_term(const RunShape& run);

// footprint_notes.cpp
void add_notes(const RunShape& run, Footprint& footprint);

// sharding.cpp
/// What of each part one node holds.
struct Shares {
  double weights = 1, trainable = 1, optimizer = 1, gradients = 1, activations = 1, cache = 1;
  Term extra;  ///< buckets, gathered layers
};
[[nodiscard]] Shares shares_of(const RunShape& run, const Trainable& trainable);

}  // namespace sparkops::verdicts
