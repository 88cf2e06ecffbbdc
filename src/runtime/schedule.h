#pragma once

#include <chrono>
#include <cstdint>

namespace sparkops::runtime {

/// Deadlines at a fixed distance from the first one: lateness of one sample does not move the next, and what was
/// missed while the machine slept or stood still is skipped, not caught up.
class Schedule {
 public:
  using Clock = std::chrono::steady_clock;

  Schedule(Clock::time_point first, Clock::duration interval) : first_(first), interval_(interval) {}

  /// The first deadline after `now`.
  [[nodiscard]] Clock::time_point next_after(Clock::time_point now) const {
    if (now < first_) return first_;
    return first_ + interval_ * ((now - first_) / interval_ + 1);
  }

 private:
  Clock::time_point first_;
  Clock::duration interval_;
};

}  // namespace sparkops::runtime
