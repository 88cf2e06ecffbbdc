#pragma once

#include <vector>

#include "facts/workload/workload.h"

namespace sparkops::facts {

/// Parallelism as the settings (options, environment, configuration keys) tell it. Keys are compared by their last
/// dotted part, dashes and underscores alike; whole words only. The largest figure of a kind counts. A value that is no
/// number (a variable set elsewhere) leaves its kind unknown, with that as the reason.
[[nodiscard]] Parallelism read_parallelism(const std::vector<Setting>& settings);

/// The larger figure of each kind, and the evidence of both.
void merge_parallelism(Parallelism& into, const Parallelism& other);

}  // namespace sparkops::facts
