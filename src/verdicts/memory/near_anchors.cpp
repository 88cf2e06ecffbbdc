#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "verdicts/memory/plan.h"

namespace sparkops::verdicts {

namespace {

/// A model of more than twice or less than half the size is no neighbour.
constexpr double k_farthest_size = 2;
/// An estimate this far from the anchor of its own model deserves a look.
constexpr double k_far = 0.20;
/// A ceiling speaks for models of at least this share of its own.
constexpr double k_ceiling_size = 0.8;

double size_ratio(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  if (run.model.parameters <= 0 || anchor.parameters <= 0) return k_farthest_size * 10;
  const double ratio = run.model.parameters / static_cast<double>(anchor.parameters);
  return std::max(ratio, 1 / ratio);
}

bool is_same_model(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  constexpr double k_same_size = 1.01;
  return size_ratio(run, anchor) < k_same_size;
}

double distance(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  const double tokens = run.batch * run.sequence.value;
  const double theirs = static_cast<double>(std::max<std::int64_t>(1, anchor.batch * anchor.packing));
  const double by_tokens = run.trains() ? std::abs(std::log(std::max(1.0, tokens) / theirs)) : 0;
  const double by_weights = anchor.weights == to_string(run.weights) ? 0 : 1;
  return 4 * std::log(size_ratio(run, anchor)) + 0.5 * by_tokens + by_weights;
}

std::string difference_of(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  std::vector<std::string> differences;
  if (!is_same_model(run, anchor)) differences.push_back(fmt::format("another model ({})", anchor.model));
  if (run.trains() && anchor.packing > 0 &&
      run.batch * run.sequence.value != static_cast<double>(anchor.batch * anchor.packing))
    differences.push_back(fmt::format("{} x {} tokens", anchor.batch, anchor.packing));
  if (anchor.weights != to_string(run.weights)) differences.push_back(anchor.weights + " weights");
  return differences.empty()
             ? (anchor.length == "at-most" ? "its samples were shorter" : "same model, method and length")
             : join(differences, ", ");
}

/// What the formulas say of the anchor's own length, for this plan's model; for a load, of the weights.
double estimate_at(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  RunShape there = run;
  if (const auto format = parse_weight_format(anchor.weights); format && *format != run.weights) {
    there.weights = *format;
    there.checkpoint_bytes.reset();
  }
  if (anchor.packing > 0) {
    there.batch = static_cast<double>(anchor.batch);
    there.sequence = exactly(static_cast<double>(anchor.packing));
  }
  const Footprint footprint = compute_footprint(there);
  return anchor.quantity == "load" ? footprint.load.value : footprint.peak_allocated.value;
}

NearAnchor as_near(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  NearAnchor near;
  near.id = anchor.id;
  near.what = anchor.model + ": " + anchor.what;
  near.quantity = anchor.quantity;
  near.source = anchor.sources.empty() ? "" : anchor.sources.front().title;
  near.date = anchor.last_verified;
  near.is_ceiling = anchor.kind == "ceiling";
  if (near.is_ceiling) {
    near.measured = static_cast<double>(anchor.packing);
    near.difference = "the longest that was seen to work";
    return near;
  }
  near.measured = static_cast<double>(anchor.bytes.value_or(0));
  near.estimate = estimate_at(run, anchor);
  near.difference = difference_of(run, anchor);
  // A run whose samples were shorter is no measure of what full ones take.
  near.far = anchor.length != "at-most" && is_same_model(run, anchor) && near.measured > 0 &&
             std::abs(near.estimate / near.measured - 1) > k_far;
  return near;
}

bool has_objective_of(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  return !run.trains() || to_string(run.objective) == (anchor.objective.empty() ? "sft" : anchor.objective);
}

bool is_ceiling_of(const RunShape& run, const knowledge::AnchorEntry& anchor) {
  return anchor.kind == "ceiling" && anchor.method == to_string(run.method) &&
         run.model.parameters >= k_ceiling_size * static_cast<double>(anchor.parameters);
}

}  // namespace

std::vector<NearAnchor> nearest_anchors(const RunShape& run, const std::vector<knowledge::AnchorEntry>& anchors,
                                        std::size_t most) {
  std::vector<const knowledge::AnchorEntry*> near;
  std::vector<NearAnchor> result;
  for (const knowledge::AnchorEntry& anchor : anchors) {
    if (is_ceiling_of(run, anchor)) result.push_back(as_near(run, anchor));
    if (anchor.kind == "measured" && anchor.method == to_string(run.method) && has_objective_of(run, anchor) &&
        size_ratio(run, anchor) <= k_farthest_size)
      near.push_back(&anchor);
  }
  std::stable_sort(near.begin(), near.end(),
                   [&](const auto* a, const auto* b) { return distance(run, *a) < distance(run, *b); });
  if (near.size() > most) near.resize(most);
  for (const knowledge::AnchorEntry* anchor : near) result.push_back(as_near(run, *anchor));
  return result;
}

}  // namespace sparkops::verdicts
