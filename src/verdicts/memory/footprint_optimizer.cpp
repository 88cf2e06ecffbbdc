#include <fmt/format.h>

#include <array>
#include <string_view>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

/// What lives during the step alone.
enum class Step {
  nothing,         ///< fused, 8-bit and 4-bit kernels
  one_copy,        ///< "foreach": one temporary of every trained parameter, in its type
  fp32_parameter,  ///< the largest parameter once in fp32
  newton_schulz,   ///< Muon: three 16-bit copies of the largest matrix (derived, unmeasured)
};

enum class Where { gpu, paged, cpu };

/// State per trained parameter: `copies` in the parameter's own type, plus `bytes` of a fixed type (memory-model.md
/// §5).
struct Optimizer {
  std::string_view name;
  double copies = 0, bytes = 0;
  Step step = Step::nothing;
  Where where = Where::gpu;
  bool fp32_for_embedding = false;  ///< transformers' Trainer tells bitsandbytes to keep embeddings in 32 bit
};

constexpr double k_8bit = 2 + 2 * 4.0 / 256;  ///< two 8-bit states, an fp32 scale for each block of 256
constexpr double k_8bit_one = 1 + 4.0 / 256;
constexpr double k_4bit = 1 + 2 * 4.0 / 128;  ///< two 4-bit states, an fp32 scale for each block of 128
constexpr double k_low_rank = 0.6;            ///< GaLore with rank h/4 and 8-bit states, projector included (derived)

constexpr std::array<Optimizer, 34> k_optimizers{{
    {.name = "adamw", .copies = 2, .step = Step::one_copy},
    {.name = "adamw-torch", .copies = 2, .step = Step::one_copy},
    {.name = "adam", .copies = 2, .step = Step::one_copy},
    {.name = "adamw-fused", .copies = 2},
    {.name = "adamw-torch-fused", .copies = 2},
    {.name = "adamw-fp32", .bytes = 8, .step = Step::one_copy},
    {.name = "adamw-8bit", .bytes = k_8bit, .fp32_for_embedding = true},
    {.name = "adamw-bnb-8bit", .bytes = k_8bit, .fp32_for_embedding = true},
    {.name = "adamw-8bit-plain", .bytes = k_8bit},
    {.name = "adamw-torch-8bit", .bytes = k_8bit},
    {.name = "adamw-torch-4bit", .bytes = k_4bit},
    {.name = "adamw-4bit", .bytes = k_4bit},
    {.name = "adamw-fp8", .bytes = k_8bit},
    {.name = "paged-adamw", .bytes = 8, .where = Where::paged},
    {.name = "paged-adamw-32bit", .bytes = 8, .where = Where::paged},
    {.name = "paged-adamw-8bit", .bytes = k_8bit, .where = Where::paged, .fp32_for_embedding = true},
    {.name = "adamw-offload", .bytes = 8, .where = Where::cpu},
    {.name = "cpu-adam", .bytes = 8, .where = Where::cpu},
    {.name = "sgd"},
    {.name = "sgd-momentum", .copies = 1},
    {.name = "rmsprop", .copies = 1, .step = Step::one_copy},
    {.name = "lion", .copies = 1},
    {.name = "lion-8bit", .bytes = k_8bit_one},
    {.name = "paged-lion-8bit", .bytes = k_8bit_one, .where = Where::paged},
    {.name = "signum", .copies = 1},
    {.name = "adafactor", .step = Step::fp32_parameter},
    {.name = "muon", .copies = 1, .step = Step::newton_schulz},
    {.name = "galore", .bytes = 2 * k_low_rank, .step = Step::fp32_parameter},
    {.name = "galore-adamw", .bytes = 2 * k_low_rank, .step = Step::fp32_parameter},
    {.name = "galore-8bit", .bytes = k_low_rank, .step = Step::fp32_parameter},
    {.name = "galore-adamw-8bit", .bytes = k_low_rank, .step = Step::fp32_parameter},
    {.name = "apollo", .bytes = 0.5, .step = Step::fp32_parameter},
    {.name = "lomo"},
    {.name = "stable-adamw", .copies = 2, .step = Step::one_copy},
}};

const Optimizer* find_optimizer(std::string_view name) {
  std::string word(name);
  for (char& character : word)
    if (character == '_') character = '-';
  for (const Optimizer& optimizer : k_optimizers)
    if (optimizer.name == word) return &optimizer;
  return nullptr;
}

Term empty_term(std::string id, std::string title, std::string formula, std::string source) {
  return {.id = std::move(id),
          .title = std::move(title),
          .formula = std::move(formula),
          .filled = "",
          .source = std::move(source),
          .bytes = {},
          .zero_because = ""};
}

/// Trained parameters by the width of their type.
double trained_bytes(const RunShape& run, const Trainable& trainable) {
  constexpr double k_16bit = 2;
  const double full = run.weights == WeightFormat::fp32 ? 4 : k_16bit;
  return trainable.full * full + trainable.adapters * run.adapter_bytes + trainable.saved_modules * k_16bit;
}

double state_bytes(const RunShape& run, const Trainable& trainable, const Optimizer& optimizer) {
  constexpr double k_fp32_states = 8;
  double bytes = optimizer.copies * trained_bytes(run, trainable) + optimizer.bytes * trainable.total();
  if (run.fp32_master) bytes = (optimizer.copies * 4 + optimizer.bytes) * trainable.total();
  if (optimizer.fp32_for_embedding && run.framework != "torchtune" && run.method == RunMethod::full)
    bytes += run.model.embedding_parameters * (k_fp32_states - optimizer.bytes);
  if (optimizer.name == "muon" && run.method == RunMethod::full)  // embedding, head and norms get AdamW
    bytes += (run.model.embedding_parameters + run.model.head_parameters + run.model.small_parameters) * 2;
  return bytes;
}

double step_bytes(const RunShape& run, const Trainable& trainable, const Optimizer& optimizer) {
  constexpr double k_fp32 = 4, k_muon_copies = 3 * 2;
  const double largest = run.method == RunMethod::full
                             ? std::max(run.model.largest_matrix, run.model.embedding_parameters)
                             : run.lora_rank * std::max(run.model.hidden, run.model.intermediate);
  // Mixed precision: gradients in fp32 for the step, and Adam's temporary likewise.
  if (run.fp32_master) return 2 * k_fp32 * trainable.total();
  switch (optimizer.step) {
    case Step::nothing: return 0;
    case Step::one_copy: return trained_bytes(run, trainable);
    case Step::fp32_parameter: return k_fp32 * largest;
    case Step::newton_schulz: return k_muon_copies * run.model.largest_matrix;
  }
  return 0;
}

}  // namespace

bool is_known_optimizer(std::string_view name) {
  return find_optimizer(name) != nullptr;
}

OptimizerTerms optimizer_terms(const RunShape& run, const Trainable& trainable) {
  OptimizerTerms terms;
  const Optimizer* found = find_optimizer(run.optimizer);
  terms.known = found != nullptr;
  const Optimizer& optimizer = found != nullptr ? *found : k_optimizers.front();
  const bool in_backward = run.optimizer_in_backward || optimizer.name == "lomo";
  terms.states_outside_allocator = optimizer.where != Where::gpu;
  constexpr const char* k_source = "memory-model.md §5 (published ladders, exact)";

  terms.states =
      empty_term("optimizer", "optimizer state (" + run.optimizer + ")", "trained · bytes of state", k_source);
  const double states = state_bytes(run, trainable, optimizer);
  terms.states.filled =
      fmt::format("{} · {:.3g}", figure(trainable.total()), trainable.total() > 0 ? states / trainable.total() : 0);
  terms.states.bytes = terms.known ? exactly(states) : Estimate{0, states, states};

  terms.master = empty_term("master", "fp32 master copy of what is trained", "4 · trained", k_source);
  if (run.fp32_master) {
    terms.master.filled = "4 · " + figure(trainable.total());
    terms.master.bytes = exactly(4 * trainable.total());
  } else {
    terms.master.zero_because = "weights are trained in their own type";
  }

  terms.gradients = empty_term("gradients", "gradients", "trained · bytes of their type", k_source);
  terms.largest_gradient =
      empty_term("gradient-in-backward", "the largest gradient", "2 · largest parameter", k_source);
  const double gradients = trained_bytes(run, trainable);
  if (in_backward) {
    terms.gradients.zero_because = "the optimizer runs inside the backward pass";
    const double largest =
        run.method == RunMethod::full ? 2 * std::max(run.model.largest_matrix, run.model.embedding_parameters) : 0;
    terms.largest_gradient.filled = figure(largest) + " B";
    terms.largest_gradient.bytes = {0, largest, largest};
  } else {
    terms.gradients.filled = fmt::format("{} · {:.3g}", figure(trainable.total()),
                                         trainable.total() > 0 ? gradients / trainable.total() : 0);
    terms.gradients.bytes = exactly(gradients);
    terms.largest_gradient.zero_because = "gradients are kept until the step";
  }

  terms.step = empty_term("step", "what the optimizer step needs besides", "by optimizer", k_source);
  const double step = in_backward ? 0 : step_bytes(run, trainable, optimizer);
  terms.step.filled = figure(step) + " B";
  terms.step.bytes = {0, step, step};
  if (step == 0) terms.step.zero_because = "fused or blockwise kernels work in place";
  return terms;
}

}  // namespace sparkops::verdicts
