#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "facts/machine/gpu.h"

namespace sparkops::verdicts {

/// What the GPU's clock is doing. The names are a contract (docs/architecture.md).
enum class ClockState {
  idle,
  busy_normal,
  power_limited,  ///< the SW power cap is at work at a normal clock: the platform's usual plateau
  user_locked,    ///< inferred from a plateau; NVML has no way to read a lock back
  thermal_software,
  thermal_hardware,
  wedged,   ///< the power-delivery fault, and nothing else
  waiting,  ///< a kernel spins on a peer or a stalled job: full clock, hardly any power
  starved,  ///< utilisation falls while the job runs: needs a longer window than a preflight has
  unknown,  ///< any other low clock under load, or readings are missing
};

[[nodiscard]] std::string_view to_string(ClockState state);

/// Thresholds of the states, with where each comes from.
inline constexpr double k_busy_utilization = 30;    ///< percent; below it one reading is enough (gotchas, G4)
inline constexpr double k_loaded_utilization = 90;  ///< percent; the wedge test of spark-gpu-throttle-check
inline constexpr double k_normal_clock_floor =
    2000;                                          ///< MHz; 418 published serving runs have no busy sample under 2197
inline constexpr double k_wedge_clock = 1400;      ///< MHz; wedged boxes sit at 480 to 860
inline constexpr double k_wedge_power = 40;        ///< W; wedged boxes draw 4 to 16 at full utilisation
inline constexpr std::size_t k_wedge_samples = 5;  ///< consecutive samples
inline constexpr double k_waiting_power = 16;      ///< W; a spinning kernel draws about 10, a decode 30 and more
inline constexpr double k_lock_ceiling = 2350;     ///< MHz; above it a lock cannot be told from normal boost
inline constexpr double k_lock_spread = 15;        ///< MHz around one ceiling

/// A judgement over a window of samples.
struct ClockAssessment {
  ClockState state = ClockState::unknown;
  /// Why it is `unknown`, or why it cannot be more sure ("3 samples, 5 are needed"); empty otherwise.
  std::string caveat;
  /// True for ClockState::unknown when the readings were there and the clock is low for no visible reason.
  bool low_clock = false;
  std::size_t samples = 0;
  double window_s = 0;
  std::vector<Evidence> evidence;
};

/// Judges the newest samples of one GPU (oldest first, at least one). Counters are judged by their growth between the
/// first and the last sample; the instantaneous mask only where it is set.
[[nodiscard]] ClockAssessment assess_clock_state(std::span<const facts::GpuSample> samples);

}  // namespace sparkops::verdicts
