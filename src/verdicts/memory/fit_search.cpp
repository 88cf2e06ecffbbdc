#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "verdicts/memory/plan.h"

namespace sparkops::verdicts {

namespace {

/// Nobody trains packs longer than this on one box; keeps the search short.
constexpr double k_longest_packing = 1'048'576, k_shortest_packing = 128;
constexpr double k_largest_batch = 1024, k_largest_rank = 1024;
constexpr std::array<double, 7> k_packings{512, 1024, 2048, 4096, 8192, 16384, 32768};
constexpr std::array<double, 4> k_batches{1, 2, 4, 8};

bool fits_safely(const RunShape& run, const Budget& budget) {
  const FitAnswer answer = judge_fit(compute_footprint(run).system, budget).answer;
  return answer == FitAnswer::fits || answer == FitAnswer::fits_after_flush;
}

/// The largest of `least`, 2·`least`, 4·`least` … that fits, refined to a quarter of a step. Memory grows with each.
std::optional<double> largest(double least, double most, const std::function<bool(double)>& fits) {
  if (!fits(least)) return std::nullopt;
  double good = least;
  while (good * 2 <= most && fits(good * 2)) good *= 2;
  for (const double part : {0.5, 0.25}) {
    const double next = std::floor(good * (1 + part));
    if (next <= most && next > good && fits(next)) return next;
  }
  return good;
}

RunShape with_packing(RunShape run, double packing) {
  run.sequence = exactly(packing);
  return run;
}
RunShape with_batch(RunShape run, double batch) {
  run.batch = run.is_server() ? run.batch : batch;
  if (run.is_server()) run.max_sequences = batch;
  return run;
}

}  // namespace

FitSearch search_fit(const RunShape& run, const Budget& budget) {
  FitSearch search;
  if (!budget.headroom_after_flush) return search;
  search.packing = largest(k_shortest_packing, k_longest_packing,
                           [&](double packing) { return fits_safely(with_packing(run, packing), budget); });
  search.batch = largest(1, k_largest_batch, [&](double count) { return fits_safely(with_batch(run, count), budget); });
  if (run.trains_adapters() && !run.trainable_parameters)
    search.rank = largest(1, k_largest_rank, [&](double rank) {
      RunShape other = run;
      other.lora_rank = rank;
      return fits_safely(other, budget);
    });
  for (const double packing : k_packings) {
    for (const double count : k_batches) {
      FitCell cell{.packing = packing, .batch = count, .system = {}, .answer = {}};
      cell.system = compute_footprint(with_batch(with_packing(run, packing), count)).system;
      cell.answer = judge_fit(cell.system, budget).answer;
      search.table.push_back(cell);
    }
  }
  return search;
}

std::vector<MethodRow> compare_methods(const RunShape& run, const Budget& budget) {
  struct Candidate {
    const char* name;
    RunMethod method;
    WeightFormat weights;
  };
  constexpr std::array<Candidate, 4> k_candidates{
      {{"full fine-tune, bf16", RunMethod::full, WeightFormat::bf16},
       {"LoRA, bf16", RunMethod::lora, WeightFormat::bf16},
       {"QLoRA, nf4", RunMethod::qlora, WeightFormat::nf4},
       {"LoRA over NVFP4 weights", RunMethod::nvfp4_lora, WeightFormat::nvfp4}}};
  std::vector<MethodRow> rows;
  for (const Candidate& candidate : k_candidates) {
    RunShape other = run;
    other.method = candidate.method;
    if (other.method != run.method || other.weights != run.weights) {
      other.checkpoint_bytes.reset();
      other.source_bytes.reset();
      other.trainable_parameters.reset();
      other.residual_fp32 = candidate.method == RunMethod::qlora && run.framework == "hf";
    }
    other.weights = candidate.weights;
    if (other.lora_targets.empty()) other.lora_targets = {"all-linear"};
    const Footprint footprint = compute_footprint(other);
    rows.push_back({.name = candidate.name,
                    .system = footprint.system,
                    .peak_phase = std::string(to_string(footprint.peak().kind)),
                    .verdict = judge_fit(footprint.system, budget),
                    .floor = time_floor(other, footprint).seconds});
  }
  return rows;
}

namespace {

/// A rung that changes the run: what it gives, and whether that suffices.
RungGain rung(std::string id, std::string change, const RunShape& changed, const Footprint& before,
              const Budget& budget) {
  const Footprint after = compute_footprint(changed);
  const double gain = before.system.value - after.system.value;
  RungGain result{.id = std::move(id),
                  .change = std::move(change),
                  .gives = as_derived(whole_bytes(gain)),
                  .suffices = fits_safely(changed, budget),
                  .skipped_because = ""};
  if (gain <= 0)
    result.skipped_because = "it gives nothing: the peak lies in " + std::string(to_string(after.peak().kind));
  return result;
}

RungGain method_rung(const RunShape& run, const Footprint& footprint, const Budget& budget) {
  RunShape next = run;
  next.checkpoint_bytes.reset();
  next.trainable_parameters.reset();
  if (next.lora_targets.empty()) next.lora_targets = {"all-linear"};
  if (run.method == RunMethod::full) {
    next.method = RunMethod::lora;
    return rung("method", "full fine-tune → bf16 LoRA", next, footprint, budget);
  }
  if (run.method == RunMethod::lora) {
    next.method = RunMethod::qlora;
    next.weights = WeightFormat::nf4;
    next.residual_fp32 = run.framework == "hf";
    return rung("method", "bf16 LoRA → QLoRA", next, footprint, budget);
  }
  RungGain gain{
      .id = "method", .change = "", .gives = unknown("no lighter method"), .suffices = false, .skipped_because = ""};
  if (run.method == RunMethod::qlora) {
    next.method = RunMethod::lora;
    next.weights = WeightFormat::bf16;
    next.residual_fp32 = false;
    gain.change = "QLoRA → bf16 LoRA (a QLoRA out-of-memory is no proof that the model does not fit)";
    gain.suffices = fits_safely(next, budget);
    const double difference = footprint.system.value - compute_footprint(next).system.value;
    gain.gives = as_derived(whole_bytes(difference));
    if (!gain.suffices)
      gain.skipped_because =
          fmt::format("bf16 LoRA needs {} of weights alone", format_size(whole_bytes(next.model.parameters * 2)));
    return gain;
  }
  gain.change = "no lighter method";
  gain.skipped_because = "the weights are in 4 bit already";
  return gain;
}

}  // namespace

std::vector<RungGain> ladder_gains(const RunShape& run, const Footprint& footprint, const Budget& budget) {
  std::vector<RungGain> rungs;
  RungGain flush{.id = "flush",
                 .change = "give back the page cache (sparkops flush)",
                 .gives = {},
                 .suffices = false,
                 .skipped_because = ""};
  if (budget.headroom_now && budget.headroom_after_flush) {
    flush.gives = as_derived(*budget.headroom_after_flush - *budget.headroom_now);
    flush.suffices = judge_fit(footprint.system, budget).answer == FitAnswer::fits_after_flush ||
                     judge_fit(footprint.system, budget).answer == FitAnswer::fits;
    if (flush.gives->value <= 0) flush.skipped_because = "there is no page cache to give back";
  } else {
    flush.gives = unknown(budget.headroom_now ? budget.headroom_after_flush.reason() : budget.headroom_now.reason());
  }
  rungs.push_back(std::move(flush));
  const double packing = run.sequence.high;
  const double half = std::floor(packing / 2);
  rungs.push_back(rung("packing", fmt::format("{} {:g} → {:g}", run.trains() ? "packing" : "context", packing, half),
                       with_packing(run, std::max(1.0, half)), footprint, budget));
  const double batch = run.is_server() ? run.max_sequences : run.batch;
  if (batch > 1) {
    rungs.push_back(rung("batch", fmt::format("batch {:g} → {:g}", batch, std::floor(batch / 2)),
                         with_batch(run, std::floor(batch / 2)), footprint, budget));
  } else {
    rungs.push_back({.id = "batch",
                     .change = "smaller batch",
                     .gives = as_derived(Bytes{0}),
                     .suffices = false,
                     .skipped_because = "the batch is 1 already"});
  }
  if (run.trains()) rungs.push_back(method_rung(run, footprint, budget));
  RunShape two = run;
  two.nodes = 2;
  two.parallel = run.trains() ? ParallelMode::fsdp : ParallelMode::tensor;
  if (run.nodes <= 1)
    rungs.push_back(
        rung("two-boxes", run.trains() ? "two Sparks, FSDP" : "two Sparks, tensor parallel", two, footprint, budget));
  return rungs;
}

}  // namespace sparkops::verdicts
