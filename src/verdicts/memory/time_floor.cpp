#include <fmt/format.h>

#include "verdicts/memory/footprint_parts.h"
#include "verdicts/memory/plan.h"

namespace sparkops::verdicts {

namespace {

/// The fastest that anybody published of a GB10: a kernel that only reads, 231 to 234 GB/s (knowledge/platforms.yaml).
/// A floor may only rest on the best figure: everything real is slower.
constexpr double k_best_bandwidth = 234e9;

/// Bytes of weights that one token needs: of routed experts only the active ones.
double active_weights(const RunShape& run, const Footprint& footprint) {
  const ModelShape& model = run.model;
  const double all = footprint.find("weights")->bytes.value;
  if (model.experts <= 0 || model.parameters <= 0) return all;
  const double idle = model.expert_parameters * (1 - model.active_experts / model.experts);
  return all * (1 - idle / model.parameters);
}

double bytes_of(const Footprint& footprint, const char* term) {
  const Term* found = footprint.find(term);
  return found != nullptr ? found->bytes.value : 0;
}

}  // namespace

TimeFloor time_floor(const RunShape& run, const Footprint& footprint) {
  TimeFloor floor;
  floor.bandwidth = k_best_bandwidth;
  double bytes = 0;
  if (run.trains()) {
    // Every micro-batch reads the weights forward, again when a layer is recomputed, and backward; a batch of many
    // tokens reaches every expert. The step reads and writes what is trained.
    const double passes = run.checkpointing == CheckpointingMode::none ? 2 : 3;
    bytes = run.gradient_accumulation * passes * bytes_of(footprint, "weights");
    bytes += 2 * (bytes_of(footprint, "gradients") + bytes_of(footprint, "optimizer") + bytes_of(footprint, "master"));
    floor.unit = "step";
    floor.how = fmt::format(
        "weights read {:g} times in each of {:g} micro-batches, gradients and optimizer state read and "
        "written once",
        passes, run.gradient_accumulation);
  } else {
    bytes = active_weights(run, footprint);
    if (!run.server_fraction && !run.kv_bytes) bytes += bytes_of(footprint, "kv-cache") / std::max(1.0, run.batch);
    floor.unit = "token";
    floor.how = "the active weights and the cache of one sequence read once";
  }
  if (bytes <= 0) {
    floor.bytes = unknown("nothing is known to be moved");
    floor.seconds = unknown("nothing is known to be moved");
    return floor;
  }
  floor.bytes = as_derived(bytes);
  floor.seconds = as_derived(Seconds{bytes / k_best_bandwidth});
  return floor;
}

}  // namespace sparkops::verdicts
