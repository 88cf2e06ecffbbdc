#pragma once

#include <algorithm>
#include <cmath>

namespace sparkops::verdicts {

/// A figure with what it may be at least and at most, in bytes unless said otherwise. Kept as double: sums of products
/// of model widths pass 2^53 nowhere near a real machine, and bounds are no exact numbers anyway.
struct Estimate {
  double low = 0, value = 0, high = 0;

  friend Estimate operator+(const Estimate& a, const Estimate& b) {
    return {a.low + b.low, a.value + b.value, a.high + b.high};
  }
  Estimate& operator+=(const Estimate& other) { return *this = *this + other; }
  /// Product of two non-negative figures.
  friend Estimate operator*(const Estimate& a, const Estimate& b) {
    return {a.low * b.low, a.value * b.value, a.high * b.high};
  }
  friend Estimate operator*(const Estimate& a, double factor) {
    return {a.low * factor, a.value * factor, a.high * factor};
  }
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// Known to the byte.
[[nodiscard]] inline Estimate exactly(double value) {
  return {value, value, value};
}

/// `value`, which may be `below` (a share, 0.05 for 5 %) smaller and `above` larger.
[[nodiscard]] inline Estimate about(double value, double below, double above) {
  return {value * (1 - below), value, value * (1 + above)};
}

/// The larger one in every respect: the peak of two moments.
[[nodiscard]] inline Estimate larger(const Estimate& a, const Estimate& b) {
  return {std::max(a.low, b.low), std::max(a.value, b.value), std::max(a.high, b.high)};
}

[[nodiscard]] inline bool is_usable(const Estimate& estimate) {
  return std::isfinite(estimate.low) && std::isfinite(estimate.value) && std::isfinite(estimate.high) &&
         estimate.low >= 0 && estimate.low <= estimate.value && estimate.value <= estimate.high;
}

}  // namespace sparkops::verdicts
