#include "verdicts/memory/fit.h"

#include <fmt/format.h>

#include <cmath>

namespace sparkops::verdicts {

namespace {

/// What an idle box has used by itself: 8.63 GiB in one report, 5.8 GiB (115.85 of 121.69 available) in another
/// (memory-model.md §10).
constexpr Bytes k_idle_use = mebibytes(5980);

Known<Bytes> minus(const Known<Bytes>& headroom, double value) {
  return headroom.derive([&](Bytes bytes) { return bytes - whole_bytes(value); });
}

}  // namespace

Bytes whole_bytes(double bytes) {
  constexpr double k_most = 9e18;
  if (!std::isfinite(bytes)) return {static_cast<std::int64_t>(k_most)};
  return {static_cast<std::int64_t>(std::clamp(bytes, -k_most, k_most))};
}

FitVerdict judge_fit(const Estimate& system, const Budget& budget) {
  FitVerdict verdict;
  verdict.margin_now = minus(budget.headroom_now, system.value);
  verdict.margin_after_flush = minus(budget.headroom_after_flush, system.value);
  if (!is_usable(system)) {
    verdict.reason = "the estimate is no usable figure";
    return verdict;
  }
  if (!budget.headroom_after_flush) {
    verdict.reason = "available memory: " + budget.headroom_after_flush.reason();
    return verdict;
  }
  const double after = static_cast<double>(budget.headroom_after_flush->value);
  const std::string most = format_size(*budget.headroom_after_flush);
  if (system.low > after) {
    verdict.answer = FitAnswer::does_not_fit;
    verdict.reason = fmt::format("needs at least {}, a flush leaves {}", format_size(whole_bytes(system.low)), most);
  } else if (system.high > after) {
    verdict.answer = FitAnswer::tight;
    verdict.reason = fmt::format("may need up to {}, a flush leaves {}", format_size(whole_bytes(system.high)), most);
  } else if (!budget.headroom_now) {
    verdict.reason = "free memory: " + budget.headroom_now.reason();
  } else if (system.value > static_cast<double>(budget.headroom_now->value)) {
    verdict.answer = FitAnswer::fits_after_flush;
    verdict.reason = fmt::format("needs {}, {} are free now, {} after a flush", format_size(whole_bytes(system.value)),
                                 format_size(*budget.headroom_now), most);
  } else {
    verdict.answer = FitAnswer::fits;
    verdict.reason = fmt::format("needs {}, {} are free now", format_size(whole_bytes(system.value)),
                                 format_size(*budget.headroom_now));
  }
  return verdict;
}

Budget budget_of_platform(Bytes pool, const std::string& date, Bytes reserve) {
  Budget budget;
  budget.reserve = reserve;
  budget.total = as_knowledge(Bytes(pool), date);
  budget.free = as_knowledge(pool - k_idle_use, date);
  budget.available = budget.free;
  budget.headroom_now = as_knowledge(*budget.free - reserve, date);
  budget.headroom_after_flush = budget.headroom_now;
  return budget;
}

std::string_view to_string(FitAnswer answer) {
  switch (answer) {
    case FitAnswer::does_not_fit: return "does-not-fit";
    case FitAnswer::tight: return "tight";
    case FitAnswer::fits_after_flush: return "fits-after-flush";
    case FitAnswer::fits: return "fits";
    case FitAnswer::unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace sparkops::verdicts
