#include "verdicts/clocks/clock_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace sparkops::verdicts {

namespace {

using facts::GpuSample;
using Samples = std::span<const GpuSample>;

/// The bits that say the hardware or driver holds the clock back.
constexpr std::uint64_t k_limiting_reasons =
    static_cast<std::uint64_t>(facts::ClocksEventReason::sw_power_cap) |
    static_cast<std::uint64_t>(facts::ClocksEventReason::hw_slowdown) |
    static_cast<std::uint64_t>(facts::ClocksEventReason::sw_thermal_slowdown) |
    static_cast<std::uint64_t>(facts::ClocksEventReason::hw_thermal_slowdown) |
    static_cast<std::uint64_t>(facts::ClocksEventReason::hw_power_brake_slowdown);

/// Growth of one counter over the window in nanoseconds; unknown with one sample or where a reading is missing. A
/// counter that went back (driver reload) says nothing either.
Known<std::int64_t> growth(Samples samples, Known<std::int64_t> facts::ClocksEventCounters::* counter) {
  if (samples.size() < 2) return unknown("one sample; a counter needs two");
  const auto& first = samples.front().counters.*counter;
  const auto& last = samples.back().counters.*counter;
  if (!first) return first.as_unknown();
  if (!last) return last.as_unknown();
  if (*last < *first) return unknown("the counter went back (driver reloaded)");
  return as_measured(*last - *first);
}

bool grows(const Known<std::int64_t>& counter) {
  return counter.value_or(0) > 0;
}

bool reason_set(const GpuSample& sample, facts::ClocksEventReason reason) {
  return (sample.event_reasons.value_or(0) & static_cast<std::uint64_t>(reason)) != 0;
}

bool loaded(const GpuSample& sample) {
  return sample.utilization && sample.utilization->value >= k_loaded_utilization;
}

bool looks_wedged(const GpuSample& sample) {
  return loaded(sample) && sample.sm_clock && sample.sm_clock->value < k_wedge_clock && sample.power &&
         sample.power->value < k_wedge_power && (sample.event_reasons.value_or(0) & k_limiting_reasons) == 0;
}

bool looks_waiting(const GpuSample& sample) {
  return loaded(sample) && sample.sm_clock && sample.sm_clock->value >= k_normal_clock_floor && sample.power &&
         sample.power->value < k_waiting_power;
}

/// A plateau: enough busy samples, all within the spread of their highest clock, below the ceiling that normal boost
/// reaches, and the power cap known not to be at work.
bool looks_locked(Samples samples, const Known<std::int64_t>& power_cap) {
  if (samples.size() < k_wedge_samples || !power_cap || *power_cap > 0) return false;
  double lowest = k_lock_ceiling;
  double highest = 0;
  for (const GpuSample& sample : samples) {
    if (!sample.sm_clock || !sample.utilization || sample.utilization->value < k_busy_utilization) return false;
    lowest = std::min(lowest, sample.sm_clock->value);
    highest = std::max(highest, sample.sm_clock->value);
  }
  return highest - lowest <= 2 * k_lock_spread && highest <= k_lock_ceiling && lowest >= k_wedge_clock;
}

void add_counter(ClockAssessment& assessment, const char* name, const Known<std::int64_t>& counter) {
  if (!counter) return;
  constexpr double k_ns_per_ms = 1e6;
  assessment.evidence.push_back({fmt::format("{} counter grew {:.0f} ms in {:.1f} s", name,
                                             static_cast<double>(*counter) / k_ns_per_ms, assessment.window_s),
                                 {Origin::measured, {}}});
}

ClockAssessment unknown_state(ClockAssessment assessment, std::string why) {
  assessment.state = ClockState::unknown;
  assessment.caveat = std::move(why);
  return assessment;
}

}  // namespace

std::string_view to_string(ClockState state) {
  switch (state) {
    case ClockState::idle: return "idle";
    case ClockState::busy_normal: return "busy-normal";
    case ClockState::power_limited: return "power-limited";
    case ClockState::user_locked: return "user-locked";
    case ClockState::thermal_software: return "thermal-software";
    case ClockState::thermal_hardware: return "thermal-hardware";
    case ClockState::wedged: return "wedged";
    case ClockState::waiting: return "waiting";
    case ClockState::starved: return "starved";
    case ClockState::unknown: return "unknown";
  }
  return "unknown";
}

ClockAssessment assess_clock_state(Samples samples) {
  ClockAssessment assessment;
  assessment.samples = samples.size();
  if (samples.empty()) return unknown_state(assessment, "no sample");
  assessment.window_s = samples.back().monotonic_s - samples.front().monotonic_s;
  const GpuSample& latest = samples.back();

  const auto hw_thermal = growth(samples, &facts::ClocksEventCounters::hw_thermal_slowdown_ns);
  const auto sw_thermal = growth(samples, &facts::ClocksEventCounters::sw_thermal_slowdown_ns);
  const auto power_cap = growth(samples, &facts::ClocksEventCounters::sw_power_cap_ns);
  add_counter(assessment, "hardware thermal slowdown", hw_thermal);
  add_counter(assessment, "software thermal slowdown", sw_thermal);
  add_counter(assessment, "SW power cap", power_cap);

  if (grows(hw_thermal) || reason_set(latest, facts::ClocksEventReason::hw_thermal_slowdown)) {
    assessment.state = ClockState::thermal_hardware;
    return assessment;
  }
  if (grows(sw_thermal) || reason_set(latest, facts::ClocksEventReason::sw_thermal_slowdown)) {
    assessment.state = ClockState::thermal_software;
    return assessment;
  }
  if (!latest.utilization) return unknown_state(assessment, "utilisation: " + latest.utilization.reason());
  if (latest.utilization->value < k_busy_utilization) {
    assessment.state = ClockState::idle;
    return assessment;
  }
  if (!latest.sm_clock) return unknown_state(assessment, "SM clock: " + latest.sm_clock.reason());

  const auto wedged_samples =
      static_cast<std::size_t>(std::find_if_not(samples.rbegin(), samples.rend(), looks_wedged) - samples.rbegin());
  if (wedged_samples >= k_wedge_samples) {
    assessment.state = ClockState::wedged;
    return assessment;
  }
  if (wedged_samples > 0) {
    assessment.low_clock = true;
    return unknown_state(assessment, fmt::format("looks like the power-delivery wedge in {} of the {} samples it takes",
                                                 wedged_samples, k_wedge_samples));
  }
  if (latest.sm_clock->value < k_normal_clock_floor && !looks_locked(samples, power_cap)) {
    assessment.low_clock = true;
    return unknown_state(assessment, "no thermal or power reason is set");
  }
  if (looks_waiting(latest)) {
    assessment.state = ClockState::waiting;
  } else if (grows(power_cap) || reason_set(latest, facts::ClocksEventReason::sw_power_cap)) {
    assessment.state = ClockState::power_limited;
  } else if (looks_locked(samples, power_cap)) {
    assessment.state = ClockState::user_locked;
    assessment.caveat = "probably: a lock cannot be read back, only its plateau shows";
  } else {
    assessment.state = ClockState::busy_normal;
  }
  return assessment;
}

}  // namespace sparkops::verdicts
