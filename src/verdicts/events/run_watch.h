#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/machine/gpu.h"
#include "verdicts/clocks/clock_state.h"

namespace sparkops::verdicts {

/// Thresholds of the events, with where each comes from.
inline constexpr double k_collapse_bytes = 5e9;  ///< falls by this within k_collapse_window_s: telemetry cases, README
inline constexpr double k_collapse_window_s = 10;    ///< as above
inline constexpr double k_collapse_end_bytes = 8e9;  ///< … and ends below this
inline constexpr double k_pressure_full_percent =
    5;  ///< nobody could run for half a second of the last ten: our choice
inline constexpr double k_swap_growth_bytes = 256.0 * 1024 * 1024;  ///< within k_swap_window_s: our choice
inline constexpr double k_swap_window_s = 60;
inline constexpr double k_unresponsive_ms = 5000;  ///< NVML's own calls take milliseconds; our choice
inline constexpr double k_state_holds_s = 5;       ///< a clock state is an event after this long (wedge: 5 samples)
inline constexpr std::int64_t k_disk_low_bytes = std::int64_t{2} << 30;  ///< a checkpoint shard is larger; our choice

/// One moment of a run. What is absent could not be read then.
struct WatchReading {
  double monotonic_s = 0;
  std::optional<facts::GpuSample> gpu;
  std::optional<double> available_bytes, swap_used_bytes, pressure_full_percent;
  std::optional<double> nvml_age_ms;
  std::optional<std::int64_t> disk_free_bytes;  ///< where the run is recorded
};

/// Looks at a run moment by moment and tells what a person must be told, once when it begins and, with status info,
/// when it is over. Knows no clock: time is what the readings say.
class RunWatch {
 public:
  /// The events of this moment; `id` is the event kind (docs/architecture.md).
  [[nodiscard]] std::vector<Finding> observe(const WatchReading& reading);

 private:
  struct Condition {
    std::optional<double> since;       ///< holds without a break since
    std::optional<double> told_since;  ///< an event was told; when it began
  };
  void update(const std::string& kind, bool holds, double holds_for_s, const WatchReading& reading, Finding finding,
              std::vector<Finding>& events);
  void watch_clock(const WatchReading& reading, std::vector<Finding>& events);
  void watch_memory(const WatchReading& reading, std::vector<Finding>& events);

  std::map<std::string, Condition> conditions_;
  std::vector<facts::GpuSample> samples_;  ///< newest last
  struct Past {
    double monotonic_s, value;
  };
  std::deque<Past> available_, swap_;
};

}  // namespace sparkops::verdicts
