#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verdicts/memory/budget.h"
#include "verdicts/memory/footprint.h"

namespace sparkops::verdicts {

/// Whether a run fits the pool, first match wins (memory-model.md §0).
enum class FitAnswer {
  does_not_fit,      ///< even the lower bound is above what a flush leaves
  tight,             ///< the upper bound is: start shorter, packing first
  fits_after_flush,  ///< more than is free now, less than a flush gives
  fits,
  unknown,
};

struct FitVerdict {
  FitAnswer answer = FitAnswer::unknown;
  std::string reason;                           ///< one clause with the figures
  Known<Bytes> margin_now, margin_after_flush;  ///< headroom minus the estimate's value; negative: short by so much
};

[[nodiscard]] FitVerdict judge_fit(const Estimate& system, const Budget& budget);

/// The budget of a machine of which only its pool is known: idle, nothing cached.
[[nodiscard]] Budget budget_of_platform(Bytes pool, const std::string& date, Bytes reserve);

[[nodiscard]] std::string_view to_string(FitAnswer answer);

/// Estimates are kept as double; a person and JSON get whole bytes.
[[nodiscard]] Bytes whole_bytes(double bytes);

}  // namespace sparkops::verdicts
