#pragma once

#include "base/quantities.h"

namespace sparkops::facts {

/// What a board of this kind can report at all; anything else is a broken answer, not a reading.
template <class Quantity>
struct Plausible;
template <>
struct Plausible<Celsius> {
  static constexpr double k_lowest = -200, k_highest = 200;  ///< margins are temperatures too, and may be negative
};
template <>
struct Plausible<Megahertz> {
  static constexpr double k_lowest = 0, k_highest = 20'000;
};
template <>
struct Plausible<Watts> {
  static constexpr double k_lowest = 0, k_highest = 5'000;
};

}  // namespace sparkops::facts
