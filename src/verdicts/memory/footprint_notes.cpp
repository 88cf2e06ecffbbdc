#include <fmt/format.h>

#include "base/quantities.h"
#include "base/text.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

void add_zero_terms(Footprint& footprint) {
  for (const Term& term : footprint.terms)
    if (!term.zero_because.empty())
      footprint.zero_terms.push_back(fmt::format("{}: {}", term.title, term.zero_because));
}

void add_savings(const RunShape& run, Footprint& footprint) {
  const Term* stored = footprint.find("stored-activations");
  const Term* optimizer = footprint.find("optimizer");
  const auto size = [](const Term* term) {
    return term != nullptr ? format_size({static_cast<std::int64_t>(term->bytes.value)}) : std::string("0 B");
  };
  if (run.trains() && run.checkpointing == CheckpointingMode::unsloth)
    footprint.saves_nothing.push_back(
        fmt::format("Unsloth's checkpointing moves {} of activations to the CPU side: the same pool here, it saves 0 B "
                    "(measured on GB10: slower, same peak)",
                    size(stored)));
  else if (run.activation_offload)
    footprint.saves_nothing.push_back(
        fmt::format("activation offload moves {} inside one pool: it saves 0 B here", size(stored)));
  if (run.trains() && contains(run.optimizer, "paged"))
    footprint.saves_nothing.push_back(fmt::format(
        "a paged optimizer keeps its {} in managed memory: the same pool here, it saves 0 B", size(optimizer)));
  if (run.trains() && (contains(run.optimizer, "offload") || contains(run.optimizer, "cpu")))
    footprint.saves_nothing.push_back(
        fmt::format("an optimizer on the CPU keeps its {} in the same pool: it saves 0 B here", size(optimizer)));
  if (footprint.saves_nothing.empty())
    footprint.saves_nothing.push_back(
        "paged optimizers, CPU offload and activation offload: one pool, they save 0 B here");
}

void add_missing(const RunShape& run, Footprint& footprint) {
  auto& missing = footprint.not_modelled;
  if (run.objective == RunObjective::grpo)
    missing.push_back("generation of GRPO: the inference engine or generate() beside the trainer, and its cache");
  if (run.model.tower_parameters > 0 && run.trains())
    missing.push_back(
        "activations of the vision or audio tower; tokens of images count as tokens only if you add them");
  if (run.trains())
    missing.push_back("growth of the page cache and of other processes during the run (the reserve covers it)");
  if (run.trains() && run.model.recurrent_layers > 0)
    missing.push_back("recurrent layers without their CUDA kernels (a torch fallback can need many times more)");
  if (run.model.fused_experts && run.trains_adapters())
    missing.push_back("adapters on fused expert tensors: not counted, PEFT passes them over unless told");
  if (run.is_server())
    missing.push_back("CUDA graphs: estimates and real use on GB10 differ by up to 2.4 GiB both ways");
  if (run.model.fused_experts && run.method == RunMethod::qlora)
    missing.push_back(
        "whether the framework quantises fused experts (bitsandbytes alone does not): the upper bound holds "
        "them in 16 bit");
}

void add_doubts(const RunShape& run, Footprint& footprint) {
  auto& doubts = footprint.doubts;
  if (!run.model.widths_known)
    doubts.push_back("only a parameter count was given: widths are guessed, bounds of what grows with tokens are wide");
  if (!run.model.family_known)
    doubts.push_back(fmt::format("architecture '{}' is not known: counted as a Llama-like decoder", run.model.family));
  for (const std::string& doubt : run.model.doubts) doubts.push_back(doubt);
  if (run.trains() && !is_known_optimizer(run.optimizer))
    doubts.push_back(fmt::format("optimizer '{}' is not known: counted as AdamW at most, as nothing at least",
                                 printable(run.optimizer, 40)));
  if (run.trains() && run.model.expert_layers > 0 && !run.experts_known)
    doubts.push_back(
        "how the experts run is not known (--experts grouped|loop|dense); code that computes every expert "
        "for every token can need several times more than the upper bound");
  if (run.loader == LoaderMode::unknown)
    doubts.push_back("the loader is not known (--loader): the load may take the file twice");
}

}  // namespace

void add_notes(const RunShape& run, Footprint& footprint) {
  add_zero_terms(footprint);
  add_savings(run, footprint);
  add_missing(run, footprint);
  add_doubts(run, footprint);
}

}  // namespace sparkops::verdicts
