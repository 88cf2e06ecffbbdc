#include "verdicts/memory/footprint.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

/// The parts of one run, each already scaled to what one node holds.
struct Parts {
  Term weights, upcast, adapters, optimizer, master, gradients, step, largest_gradient;
  Term stored, layer, prefix, loss, retained, dequantised, parallel;
  Term load_transient, cache, state, prefill, server_start;
  Term context, host;
  bool optimizer_outside = false;
};

Term scaled(Term term, double share) {
  if (share == 1) return term;
  term.bytes = term.bytes * share;
  term.filled += fmt::format(" · {:.3g} (one node's share)", share);
  return term;
}

/// Of a model whose widths are guessed, what grows with tokens may be half of it or a good half more.
void widen(Term& term) {
  constexpr double k_least = 0.5, k_most = 1.6;
  term.bytes.low *= k_least;
  term.bytes.high *= k_most;
}

Parts parts_of(const RunShape& run) {
  const Trainable trainable = count_trainable(run);
  const Shares shares = shares_of(run, trainable);
  const OptimizerTerms optimizer = optimizer_terms(run, trainable);
  Parts parts;
  parts.weights = scaled(weights_term(run), shares.weights);
  if (run.fp8_compute && run.trains()) {
    constexpr double k_fp8_copies = 2;  // each matrix in FP8, as it is and transposed
    parts.weights.bytes += exactly(k_fp8_copies * run.model.matrix_parameters() * shares.weights);
    parts.weights.formula += " + 2 · matrices (FP8 copies)";
  }
  parts.upcast = scaled(upcast_term(run), shares.weights);
  parts.adapters = scaled(adapters_term(run, trainable), shares.trainable);
  parts.optimizer = scaled(optimizer.states, shares.optimizer);
  parts.optimizer_outside = optimizer.states_outside_allocator;
  parts.master = scaled(optimizer.master, shares.optimizer);
  parts.gradients = scaled(optimizer.gradients, shares.gradients);
  parts.step = scaled(optimizer.step, shares.optimizer);
  parts.largest_gradient = optimizer.largest_gradient;
  parts.stored = scaled(stored_activations_term(run), shares.activations);
  parts.layer = layer_term(run);
  parts.prefix = cached_prefix_term(run);
  parts.loss = loss_term(run);
  parts.retained = retained_logits_term(run);
  if (!run.model.widths_known) widen(parts.loss);
  parts.dequantised = dequantise_term(run);
  parts.parallel = shares.extra;
  parts.load_transient = load_transient_term(run, parts.weights);
  parts.cache = scaled(kv_cache_term(run, parts.weights), shares.cache);
  if (!run.model.widths_known && !run.kv_bytes && !run.server_fraction) widen(parts.cache);
  parts.state = recurrent_state_term(run);
  parts.prefill = prefill_term(run);
  parts.server_start = server_start_term(run);
  parts.context = context_term(run);
  parts.host = host_term(run);
  return parts;
}

enum class Moment { optimizer_step, other };

/// Adds up the terms of one moment. `outside`: in the pool, but not in the allocator's figures.
class PhaseBuilder {
 public:
  PhaseBuilder(const RunShape& run, const Parts& parts) : run_(run), parts_(parts) {}

  PhaseBuilder& resident(std::initializer_list<const Term*> terms) {
    for (const Term* term : terms) add(*term, resident_);
    return *this;
  }
  PhaseBuilder& passing(std::initializer_list<const Term*> terms) {
    for (const Term* term : terms) add(*term, passing_);
    return *this;
  }
  PhaseBuilder& outside(std::initializer_list<const Term*> terms) {
    for (const Term* term : terms) add(*term, outside_);
    return *this;
  }

  Phase finish(PhaseKind kind, std::string moment, Moment what = Moment::other) {
    Phase phase;
    phase.kind = kind;
    phase.moment = std::move(moment);
    phase.allocated = resident_ + passing_;
    phase.reserved = what == Moment::optimizer_step ? reserved_in_step(run_, phase.allocated, passing_)
                                                    : reserved_of(run_, phase.allocated, passing_);
    phase.system = phase.reserved + outside_ + parts_.context.bytes + parts_.host.bytes;
    phase.terms = std::move(ids_);
    phase.terms.insert(phase.terms.end(), {parts_.context.id, parts_.host.id});
    *this = PhaseBuilder(run_, parts_);
    return phase;
  }
  PhaseBuilder(const PhaseBuilder&) = delete;
  PhaseBuilder& operator=(const PhaseBuilder&) = delete;
  PhaseBuilder& operator=(PhaseBuilder&& other) noexcept {
    resident_ = other.resident_;
    passing_ = other.passing_;
    outside_ = other.outside_;
    ids_ = std::move(other.ids_);
    return *this;
  }
  PhaseBuilder(PhaseBuilder&&) = delete;

 private:
  void add(const Term& term, Estimate& sum) {
    if (term.bytes.high <= 0) return;
    sum += term.bytes;
    ids_.push_back(term.id);
  }

  const RunShape& run_;
  const Parts& parts_;
  Estimate resident_, passing_, outside_;
  std::vector<std::string> ids_;
};

/// Activations that were moved to the CPU side leave the allocator's figures, not the pool.
bool offloads(const RunShape& run) {
  return run.checkpointing == CheckpointingMode::unsloth || run.activation_offload;
}

/// What every moment of a training step holds. The optimizer's state exists from the first step on.
void add_training_residents(PhaseBuilder& builder, const Parts& parts, bool with_state) {
  builder.resident({&parts.weights, &parts.upcast, &parts.adapters, &parts.master, &parts.parallel});
  if (!with_state) return;
  if (parts.optimizer_outside)
    builder.outside({&parts.optimizer});
  else
    builder.resident({&parts.optimizer});
}

void add_step_phases(const RunShape& run, const Parts& parts, bool first, std::vector<Phase>& phases) {
  const PhaseKind kind = first ? PhaseKind::first_step : PhaseKind::steady;
  const bool state = !first;
  PhaseBuilder builder(run, parts);
  const bool accumulated = run.gradient_accumulation > 1;

  add_training_residents(builder, parts, state);
  if (offloads(run))
    builder.outside({&parts.stored});
  else
    builder.passing({&parts.stored});
  if (accumulated) builder.resident({&parts.gradients});
  builder.passing({&parts.loss, &parts.prefix, &parts.largest_gradient});
  phases.push_back(builder.finish(kind, "end of the forward pass, logits and loss"));

  add_training_residents(builder, parts, state);
  if (offloads(run))
    builder.outside({&parts.stored});
  else
    builder.passing({&parts.stored});
  if (accumulated) builder.resident({&parts.gradients});
  builder.passing({&parts.layer, &parts.dequantised, &parts.prefix});
  phases.push_back(builder.finish(kind, "backward pass of the last layer"));

  add_training_residents(builder, parts, state);
  builder.resident({&parts.gradients});
  builder.passing({&parts.layer, &parts.dequantised, &parts.prefix, &parts.largest_gradient});
  phases.push_back(builder.finish(kind, "backward pass of the first layer"));

  add_training_residents(builder, parts, true);
  builder.resident({&parts.gradients});
  builder.passing({&parts.step, &parts.retained});
  phases.push_back(builder.finish(kind, "optimizer step", Moment::optimizer_step));
}

void add_training_phases(const RunShape& run, const Parts& parts, std::vector<Phase>& phases) {
  PhaseBuilder builder(run, parts);
  builder.resident({&parts.weights}).outside({&parts.load_transient});
  phases.push_back(builder.finish(PhaseKind::load, "weights are read"));
  builder.resident({&parts.weights, &parts.upcast, &parts.adapters, &parts.master}).passing({&parts.dequantised});
  phases.push_back(builder.finish(PhaseKind::prepare, "adapters are attached"));
  add_step_phases(run, parts, true, phases);
  if (run.steps == 0 || run.steps > 1) add_step_phases(run, parts, false, phases);

  add_training_residents(builder, parts, true);
  builder.passing({&parts.loss});
  phases.push_back(builder.finish(PhaseKind::evaluation, "logits of one batch"));

  // Saving writes what is trained from a copy on the host side.
  Term copy = run.trains_adapters() ? parts.adapters : parts.weights;
  copy.id = "save-copy";
  add_training_residents(builder, parts, true);
  builder.outside({&copy});
  phases.push_back(builder.finish(PhaseKind::checkpoint_save, "a copy is written"));
}

void add_inference_phases(const RunShape& run, const Parts& parts, std::vector<Phase>& phases) {
  PhaseBuilder builder(run, parts);
  builder.resident({&parts.weights, &parts.parallel}).outside({&parts.load_transient});
  phases.push_back(builder.finish(PhaseKind::load, "weights are read"));
  if (parts.server_start.bytes.high > 0) {
    builder.resident({&parts.weights, &parts.cache, &parts.state, &parts.parallel})
        .passing({&parts.prefill})
        .outside({&parts.server_start});
    phases.push_back(builder.finish(PhaseKind::prepare, "the server starts"));
  }
  builder.resident({&parts.weights, &parts.cache, &parts.state, &parts.parallel})
      .passing({&parts.prefill, &parts.dequantised});
  phases.push_back(builder.finish(PhaseKind::serve, "the largest request"));
}

/// The figures of the whole run, by what each counter sees.
void sum_up(const RunShape& run, const Parts& parts, Footprint& footprint) {
  const std::vector<Phase>& phases = footprint.phases;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    footprint.peak_allocated = larger(footprint.peak_allocated, phases[i].allocated);
    footprint.peak_reserved = larger(footprint.peak_reserved, phases[i].reserved);
    footprint.system = larger(footprint.system, phases[i].system);
    if (phases[i].system.value > phases[footprint.peak_phase].system.value) footprint.peak_phase = i;
  }
  footprint.process = footprint.peak_reserved + parts.context.bytes;
  footprint.load = parts.weights.bytes;
  if (run.framework == "llama.cpp" && run.model.parameters > 0) {
    // The token table stays mapped on the CPU side.
    const double share = 1 - run.model.embedding_parameters / run.model.parameters;
    footprint.load = footprint.load * std::max(0.0, share);
  }
  if (run.trains_adapters()) footprint.load += parts.adapters.bytes;
  footprint.kv_cache = parts.cache.bytes;
  footprint.activations = run.trains()
                              ? larger(parts.stored.bytes + parts.loss.bytes, parts.stored.bytes + parts.layer.bytes)
                              : parts.prefill.bytes;
}

}  // namespace

std::string figure(double value) {
  constexpr double k_billion = 1e9;
  if (!std::isfinite(value)) return "?";
  if (std::abs(value) >= 10 * k_billion) return fmt::format("{:.2f}e9", value / k_billion);
  if (std::abs(value) >= k_billion) return fmt::format("{:.3f}e9", value / k_billion);
  if (value != std::floor(value)) return fmt::format("{:.4g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t place = digits.size(); place > 3 + (value < 0 ? 1U : 0U); place -= 3) digits.insert(place - 3, ",");
  return digits;
}

const Term* Footprint::find(std::string_view id) const {
  for (const Term& term : terms)
    if (term.id == id) return &term;
  return nullptr;
}

Footprint compute_footprint(const RunShape& run) {
  const Parts parts = parts_of(run);
  Footprint footprint;
  if (run.trains())
    footprint.terms = {parts.weights,   parts.upcast, parts.adapters,    parts.optimizer, parts.master,
                       parts.gradients, parts.step,   parts.stored,      parts.layer,     parts.loss,
                       parts.retained,  parts.prefix, parts.dequantised, parts.parallel,  parts.load_transient,
                       parts.context,   parts.host};
  else
    footprint.terms = {parts.weights,  parts.cache,          parts.state,        parts.prefill, parts.dequantised,
                       parts.parallel, parts.load_transient, parts.server_start, parts.context, parts.host};
  if (run.trains())
    add_training_phases(run, parts, footprint.phases);
  else
    add_inference_phases(run, parts, footprint.phases);
  sum_up(run, parts, footprint);
  add_notes(run, footprint);
  return footprint;
}

std::string_view to_string(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::load: return "load";
    case PhaseKind::prepare: return "prepare";
    case PhaseKind::first_step: return "first-step";
    case PhaseKind::steady: return "steady";
    case PhaseKind::evaluation: return "eval";
    case PhaseKind::checkpoint_save: return "checkpoint-save";
    case PhaseKind::serve: return "serve";
  }
  return "?";
}

}  // namespace sparkops::verdicts
