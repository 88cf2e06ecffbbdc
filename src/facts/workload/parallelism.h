#pragma once

#include <vector>

#include "facts/workload/workload.h"

namespace sparkops::facts {

/// Parallelism as the settings (options, environment, configuration keys) tell it. Keys are compared by their last
/// dotted part, dashes and underscores alike; whole words only. The largest figure of a kind counts. A value that is no
/// positive number ("2x", "two", 0, a variable set elsewhere) leaves its kind unknown, with that as the reason, unless
/// a figure above 1 is given too; its text stays in the evidence.
[[nodiscard]] Parallelism read_parallelism(const std::vector<Setting>& settings);

/// Whether a size is given and its value cannot be read.
[[nodiscard]] bool is_unreadable(const Known<int>& size);

/// The larger figure of each kind, and the evidence of both.
void merge_parallelism(Parallelism& into, const Parallelism& other);

}  // namespace sparkops::facts
