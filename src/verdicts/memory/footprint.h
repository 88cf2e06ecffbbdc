#pragma once

#include <string>
#include <vector>

#include "verdicts/memory/estimate.h"
#include "verdicts/memory/run_shape.h"

namespace sparkops::verdicts {

/// One part of a footprint: how much, by which formula, with which numbers, and who says so.
struct Term {
  std::string id;       ///< "weights"
  std::string title;    ///< a few words
  std::string formula;  ///< in symbols: "2 · h · L · T"
  std::string filled;   ///< the same with this run's numbers
  std::string source;   ///< section of memory-model.md, with the kind of evidence
  Estimate bytes;
  std::string zero_because;  ///< for terms that take nothing here: why
};

enum class PhaseKind { load, prepare, first_step, steady, evaluation, checkpoint_save, serve };

/// A stretch of a run, and what lies in the pool at its worst moment.
struct Phase {
  PhaseKind kind = PhaseKind::load;
  std::string moment;              ///< "end of the forward pass", "backward of one layer", "optimizer step" …
  std::vector<std::string> terms;  ///< ids of what is there
  Estimate allocated;              ///< by the allocator of the framework (torch's max_memory_allocated)
  Estimate reserved;               ///< with the slack of the caching allocator
  Estimate system;                 ///< of the pool: that slack, CUDA context, host side included
};

/// What one run takes of the pool.
struct Footprint {
  std::vector<Term> terms;
  std::vector<Phase> phases;
  std::size_t peak_phase = 0;  ///< index of the phase with the largest system value

  Estimate peak_allocated, peak_reserved, process, system;
  Estimate load;         ///< weights once loaded, as torch.cuda.memory_allocated would say
  Estimate kv_cache;     ///< inference
  Estimate activations;  ///< training: everything that grows with the tokens; inference: the compute buffer

  std::vector<std::string> zero_terms;     ///< what takes nothing, and why
  std::vector<std::string> not_modelled;   ///< what this estimate does not know
  std::vector<std::string> saves_nothing;  ///< what is asked for and saves nothing on one pool
  std::vector<std::string> doubts;         ///< what makes the bounds wider

  [[nodiscard]] const Term* find(std::string_view id) const;
  [[nodiscard]] const Phase& peak() const { return phases[peak_phase]; }
};

/// All of it. Pure arithmetic over the run's shape; every constant stands in footprint_constants.h with its meaning.
[[nodiscard]] Footprint compute_footprint(const RunShape& run);

[[nodiscard]] std::string_view to_string(PhaseKind kind);

}  // namespace sparkops::verdicts
