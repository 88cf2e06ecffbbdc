#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "knowledge/tables.h"
#include "verdicts/memory/contention.h"
#include "verdicts/memory/fit.h"
#include "verdicts/memory/footprint.h"
#include "verdicts/memory/run_shape.h"

namespace sparkops::verdicts {

/// A published measurement near a plan.
struct NearAnchor {
  std::string id, what, quantity, source, date;
  bool is_ceiling = false;  ///< the largest that was seen to work, no measurement of a footprint
  double measured = 0;      ///< bytes; for a ceiling its packing in tokens
  double estimate = 0;      ///< what the formulas give for the plan, in the same quantity
  std::string difference;   ///< in what the anchor's run differs from the plan: "packing 4096 instead of 2048"
  bool far = false;         ///< same setting, and the estimate is more than a fifth off
};

/// One cell of the table of packings and batches.
struct FitCell {
  double packing = 0, batch = 0;
  Estimate system;
  FitAnswer answer = FitAnswer::unknown;
};

/// What would still fit, everything else as planned.
struct FitSearch {
  std::optional<double> packing, batch,
      rank;  ///< the largest whose upper bound fits after a flush; none: not even the smallest
  std::vector<FitCell> table;
};

/// The same model and data with another method.
struct MethodRow {
  std::string name;  ///< "QLoRA"
  Estimate system;
  std::string peak_phase;
  FitVerdict verdict;
  Known<Seconds> floor;  ///< of one step
};

/// What one rung of the OOM ladder gives on this run.
struct RungGain {
  std::string id, change;  ///< "packing", "packing 4096 → 2048"
  Known<Bytes> gives;
  bool suffices = false;
  std::string skipped_because;
};

/// The least time the memory's bandwidth allows.
struct TimeFloor {
  Known<double> bytes;     ///< moved for one step, or for one token
  Known<Seconds> seconds;  ///< at the highest bandwidth ever measured
  double bandwidth = 0;    ///< bytes per second
  std::string unit;        ///< "step" or "token"
  std::string how;
};

/// The room that is left for somebody else.
struct BesidePlan {
  std::string tenant;  ///< "vLLM (pid 4242)"
  Known<Bytes> room;   ///< for everything it holds, its start included
  Known<Bytes> start_transient;
  std::string setting;  ///< "--gpu-memory-utilization 0.31", ready to paste; empty: it has no such option
  std::string reason;
};

struct Plan {
  RunShape run;
  Footprint footprint;
  Budget budget;
  std::string budget_of;  ///< "this machine", "NVIDIA DGX Spark (GB10), idle"
  FitVerdict verdict;
  std::vector<NearAnchor> anchors;
  std::optional<FitSearch> search;
  std::vector<MethodRow> methods;
  std::vector<RungGain> ladder;
  TimeFloor floor;
  std::optional<BesidePlan> beside;
  std::vector<std::string> dataset;  ///< what was counted in it
  std::vector<std::string> unread;   ///< settings of the workload that nobody here understands
  std::string next_step;
};

/// The largest packing, batch and rank that fit for sure (upper bound, after a flush), and the table around them.
[[nodiscard]] FitSearch search_fit(const RunShape& run, const Budget& budget);

/// Full fine-tune, bf16 LoRA, QLoRA and LoRA over NVFP4 weights with the same model and lengths.
[[nodiscard]] std::vector<MethodRow> compare_methods(const RunShape& run, const Budget& budget);

/// The rungs of the OOM ladder in their order, none left out: what each gives, and why one is passed over.
[[nodiscard]] std::vector<RungGain> ladder_gains(const RunShape& run, const Footprint& footprint, const Budget& budget);

[[nodiscard]] TimeFloor time_floor(const RunShape& run, const Footprint& footprint);

/// Up to `most` measurements with the same method and a model of similar size, nearest first, and the ceilings that the
/// plan goes beyond.
[[nodiscard]] std::vector<NearAnchor> nearest_anchors(const RunShape& run,
                                                      const std::vector<knowledge::AnchorEntry>& anchors,
                                                      std::size_t most);

/// The room that this run leaves to a tenant, in the tenant's own option.
[[nodiscard]] BesidePlan room_beside(const Footprint& footprint, const Budget& budget, const Tenant& tenant);

/// What to do next, in one sentence.
[[nodiscard]] std::string next_step(const Plan& plan);

}  // namespace sparkops::verdicts
