#include "verdicts/events/run_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantities.h"

namespace sparkops::verdicts {

namespace {

/// As many samples as a clock state is judged by at 1 Hz.
constexpr std::size_t k_window = 10;

Finding event(std::string headline, Status status, std::string reading) {
  Finding finding;
  finding.status = status;
  finding.headline = std::move(headline);
  finding.where = Where::box;
  finding.evidence.push_back({std::move(reading), {Origin::measured, {}}});
  return finding;
}

std::string size(double bytes) {
  return format_size({static_cast<std::int64_t>(bytes)});
}

/// "44 °C, 12 W, 522 MHz, 96 % busy"; what is unknown is left out.
std::string gpu_reading(const facts::GpuSample& gpu) {
  std::string text;
  const auto add = [&](const auto& value, const char* unit) {
    if (value) text += fmt::format("{}{:.0f} {}", text.empty() ? "" : ", ", value->value, unit);
  };
  add(gpu.temperature, "°C");
  add(gpu.power, "W");
  add(gpu.sm_clock, "MHz");
  add(gpu.utilization, "% busy");
  return text;
}

struct ClockEvent {
  const char* kind;
  ClockState state;
  Status status;
  const char* headline;
};

constexpr ClockEvent k_clock_events[] = {
    {"wedged", ClockState::wedged, Status::fail, "power delivery is wedged"},
    {"thermal-hardware", ClockState::thermal_hardware, Status::fail, "the GPU is slowed down by hardware: too hot"},
    {"thermal-software", ClockState::thermal_software, Status::warn, "the GPU is slowed down by heat"},
    {"user-locked", ClockState::user_locked, Status::warn, "the GPU clock is probably locked"},
    {"waiting", ClockState::waiting, Status::warn, "the GPU spins: full clock, hardly any power"},
    {"low-clock", ClockState::unknown, Status::warn, "the GPU clock is low for no visible reason"},
};

/// How much the newest value lies below the highest (or above the lowest) of the window.
template <class Past>
void keep_window(std::deque<Past>& past, double now, double value, double window_s) {
  past.push_back({now, value});
  while (past.front().monotonic_s < now - window_s) past.pop_front();
}

}  // namespace

void RunWatch::update(const std::string& kind, bool holds, double holds_for_s, const WatchReading& reading,
                      Finding finding, std::vector<Finding>& events) {
  Condition& condition = conditions_[kind];
  if (!holds) {
    condition.since.reset();
    if (!condition.told_since) return;
    Finding over =
        event(fmt::format("{} is over after {}", kind, format_duration({reading.monotonic_s - *condition.told_since})),
              Status::info, "the readings are back to normal");
    over.id = kind;
    events.push_back(std::move(over));
    condition.told_since.reset();
    return;
  }
  if (!condition.since) condition.since = reading.monotonic_s;
  if (condition.told_since || reading.monotonic_s - *condition.since < holds_for_s) return;
  condition.told_since = condition.since;
  finding.id = kind;
  events.push_back(std::move(finding));
}

void RunWatch::watch_clock(const WatchReading& reading, std::vector<Finding>& events) {
  if (!reading.gpu) return;  // an unreadable moment neither begins nor ends a state
  if (samples_.size() == k_window) samples_.erase(samples_.begin());
  samples_.push_back(*reading.gpu);
  const ClockAssessment assessment = assess_clock_state(samples_);
  if (assessment.state == ClockState::unknown && !assessment.low_clock) return;
  // What leads to the wedge is not told as a low clock while it is being counted.
  const bool being_counted = assessment.low_clock && assessment.caveat.starts_with("looks like");
  for (const ClockEvent& known : k_clock_events) {
    const bool holds = assessment.state == known.state && !being_counted;
    Finding finding = event(fmt::format("{}: {}", known.headline, gpu_reading(*reading.gpu)), known.status,
                            gpu_reading(*reading.gpu));
    finding.evidence.insert(finding.evidence.end(), assessment.evidence.begin(), assessment.evidence.end());
    // A wedge has been counted over five samples already.
    update(known.kind, holds, known.state == ClockState::wedged ? 0 : k_state_holds_s, reading, std::move(finding),
           events);
  }
}

void RunWatch::watch_memory(const WatchReading& reading, std::vector<Finding>& events) {
  if (reading.available_bytes) {
    const double now = *reading.available_bytes;
    keep_window(available_, reading.monotonic_s, now, k_collapse_window_s);
    const double highest = std::max_element(available_.begin(), available_.end(), [](const Past& a, const Past& b) {
                             return a.value < b.value;
                           })->value;
    update("memory-collapse", highest - now >= k_collapse_bytes && now < k_collapse_end_bytes, 0, reading,
           event(fmt::format("available memory fell from {} to {} within {:.0f} s", size(highest), size(now),
                             k_collapse_window_s),
                 Status::fail, size(now) + " available"),
           events);
  }
  if (reading.pressure_full_percent)
    update("memory-pressure", *reading.pressure_full_percent >= k_pressure_full_percent, 0, reading,
           event(fmt::format("memory pressure: everything stood still for {:.0f} % of the last 10 s",
                             *reading.pressure_full_percent),
                 Status::warn, fmt::format("full avg10 {:.2f}", *reading.pressure_full_percent)),
           events);
  if (reading.swap_used_bytes) {
    const double now = *reading.swap_used_bytes;
    keep_window(swap_, reading.monotonic_s, now, k_swap_window_s);
    const double lowest = std::min_element(swap_.begin(), swap_.end(), [](const Past& a, const Past& b) {
                            return a.value < b.value;
                          })->value;
    update("swap", now - lowest >= k_swap_growth_bytes, 0, reading,
           event(fmt::format("swapping: {} went out within {:.0f} s", size(now - lowest), k_swap_window_s),
                 Status::warn, size(now) + " of swap in use"),
           events);
  }
}

std::vector<Finding> RunWatch::observe(const WatchReading& reading) {
  std::vector<Finding> events;
  watch_clock(reading, events);
  watch_memory(reading, events);
  if (reading.nvml_age_ms) {
    constexpr double k_ms_per_s = 1000;
    update("gpu-unresponsive", *reading.nvml_age_ms >= k_unresponsive_ms, 0, reading,
           event(fmt::format("the GPU's driver has not answered for {:.0f} s", *reading.nvml_age_ms / k_ms_per_s),
                 Status::fail, fmt::format("newest answer {:.0f} ms old", *reading.nvml_age_ms)),
           events);
  }
  if (reading.disk_free_bytes)
    update("disk-nearly-full", *reading.disk_free_bytes < k_disk_low_bytes, 0, reading,
           event("the disk of the run directory is nearly full: " + format_size({*reading.disk_free_bytes}) + " left",
                 Status::warn, format_size({*reading.disk_free_bytes}) + " free"),
           events);
  return events;
}

}  // namespace sparkops::verdicts
