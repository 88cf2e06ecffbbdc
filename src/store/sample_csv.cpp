#include "store/sample_csv.h"

#include <fmt/format.h>

#include <ctime>
#include <iterator>

#include "base/text.h"

namespace sparkops::store {

namespace {

/// How a value is written: as a number, as "P0", or as nvidia-smi's 16-digit mask.
enum class Form { number, performance_state, mask };

struct Column {
  std::string_view name;
  std::string_view key;         ///< in JSON
  std::string_view other_name;  ///< nvidia-smi's longer one; empty: none
  std::string_view unit;        ///< with its blank
  int digits;
  Form form;
  std::string_view metric;  ///< of the textfile; empty: none
  double metric_factor;
};

// In the order of Reading. Counters: nvidia-smi prints microseconds where NVML gives nanoseconds.
constexpr std::array<Column, k_reading_count> k_columns{{
    {"temperature.gpu", "temperature_c", "", "", 0, Form::number, "sparkops_gpu_temperature_celsius", 1},
    {"power.draw", "power_w", "power.draw.average", " W", 2, Form::number, "sparkops_gpu_power_watts", 1},
    {"clocks.sm", "sm_clock_mhz", "clocks.current.sm", " MHz", 0, Form::number, "sparkops_gpu_sm_clock_hertz", 1e6},
    {"utilization.gpu", "utilization_percent", "", " %", 0, Form::number, "sparkops_gpu_utilization_ratio", 0.01},
    {"clocks_event_reasons_counters.sw_power_cap", "sw_power_cap_us", "", " us", 0, Form::number, "", 1},
    {"clocks_event_reasons_counters.sw_thermal_slowdown", "sw_thermal_slowdown_us", "", " us", 0, Form::number, "", 1},
    {"clocks_event_reasons_counters.hw_thermal_slowdown", "hw_thermal_slowdown_us", "", " us", 0, Form::number, "", 1},
    {"clocks_event_reasons_counters.hw_power_brake", "hw_power_brake_us",
     "clocks_event_reasons_counters.hw_power_brake_slowdown", " us", 0, Form::number, "", 1},
    {"clocks_event_reasons_counters.sync_boost", "sync_boost_us", "", " us", 0, Form::number, "", 1},
    {"mem.available", "memory_available_bytes", "", "", 0, Form::number, "sparkops_memory_available_bytes", 1},
    {"mem.free", "memory_free_bytes", "", "", 0, Form::number, "sparkops_memory_free_bytes", 1},
    {"mem.cached", "memory_cached_bytes", "", "", 0, Form::number, "sparkops_memory_cached_bytes", 1},
    {"gpu.process_bytes", "gpu_process_bytes", "", "", 0, Form::number, "sparkops_gpu_process_bytes", 1},
    {"swap.used", "swap_used_bytes", "", "", 0, Form::number, "sparkops_swap_used_bytes", 1},
    {"psi.memory.some.avg10", "memory_pressure_some_percent", "", "", 2, Form::number,
     "sparkops_memory_pressure_some_ratio", 0.01},
    {"psi.memory.full.avg10", "memory_pressure_full_percent", "", "", 2, Form::number,
     "sparkops_memory_pressure_full_ratio", 0.01},
    {"nvml.age_ms", "nvml_age_ms", "", "", 0, Form::number, "", 1},
    {"sync_lag_ms", "sync_lag_ms", "", "", 0, Form::number, "", 1},
    {"power.draw.instant", "power_instant_w", "", " W", 2, Form::number, "", 1},
    {"clocks.gr", "graphics_clock_mhz", "clocks.current.graphics", " MHz", 0, Form::number, "", 1},
    {"clocks.mem", "memory_clock_mhz", "clocks.current.memory", " MHz", 0, Form::number, "", 1},
    {"pstate", "performance_state", "", "", 0, Form::performance_state, "", 1},
    {"clocks_event_reasons.active", "event_reasons", "clocks_throttle_reasons.active", "", 0, Form::mask, "", 1},
    {"temperature.gpu.tlimit", "temperature_margin_c", "", "", 0, Form::number, "", 1},
}};

const Column& column_of(Reading reading) {
  return k_columns[static_cast<std::size_t>(reading)];
}

constexpr std::int64_t k_ms_per_s = 1000;

/// "2026/04/25 09:17:58.059" in local time.
void append_time(std::string& text, Timestamp time) {
  // Rounded down, so that times before 1970 (a clock that was never set) have their milliseconds too.
  const std::int64_t milliseconds = ((time.unix_ms % k_ms_per_s) + k_ms_per_s) % k_ms_per_s;
  const auto seconds = static_cast<std::time_t>((time.unix_ms - milliseconds) / k_ms_per_s);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  constexpr int k_year_zero = 1900;
  fmt::format_to(std::back_inserter(text), "{:04}/{:02}/{:02} {:02}:{:02}:{:02}.{:03}", local.tm_year + k_year_zero,
                 local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, milliseconds);
}

void append_value(std::string& text, const Column& column, const std::optional<double>& value, Units units) {
  const auto out = std::back_inserter(text);
  if (!value) {
    text += "[N/A]";
  } else if (column.form == Form::performance_state) {
    fmt::format_to(out, "P{:.0f}", *value);
  } else if (column.form == Form::mask) {
    fmt::format_to(out, "0x{:016X}", static_cast<std::uint64_t>(*value));
  } else {
    fmt::format_to(out, "{:.{}f}", *value, column.digits);
    if (units == Units::written) text += column.unit;
  }
}

std::string all_names() {
  std::string names;
  for (const Column& column : k_columns) names += (names.empty() ? "" : ", ") + std::string(column.name);
  return names;
}

}  // namespace

Columns thermal_columns() {
  return {Reading::gpu_temperature, Reading::gpu_power};
}

Columns samples_columns() {
  Columns columns;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Reading::sync_lag); ++i)
    columns.push_back(static_cast<Reading>(i));
  return columns;
}

std::string_view column_name(Reading reading) {
  return column_of(reading).name;
}

std::string_view json_key(Reading reading) {
  return column_of(reading).key;
}

bool is_gpu_reading(Reading reading) {
  return reading <= Reading::sync_boost || reading == Reading::gpu_process_bytes || reading >= Reading::power_instant;
}

Result<Columns> parse_columns(std::string_view list) {
  Columns columns;
  for (const std::string_view piece : split(list, ',')) {
    const std::string_view name = trim(piece);
    std::size_t found = 0;
    while (found < k_columns.size() && k_columns[found].name != name &&
           (k_columns[found].other_name.empty() || k_columns[found].other_name != name))
      ++found;
    if (found == k_columns.size())
      return failure(ErrorKind::usage, "--columns: no column '" + printable(name, 64) + "'; there are " + all_names());
    columns.push_back(static_cast<Reading>(found));
  }
  return columns;
}

std::string csv_header(std::span<const Reading> columns) {
  std::string text = "timestamp";
  for (const Reading reading : columns) text.append(",").append(column_name(reading));
  return text + "\n";
}

void append_csv_line(std::string& text, const Sample& sample, std::span<const Reading> columns, Units units) {
  append_time(text, sample.taken);
  for (const Reading reading : columns) {
    text += ", ";
    append_value(text, column_of(reading), sample[reading], units);
  }
  text += '\n';
}

std::string metrics_text(const Sample& sample) {
  std::string text;
  for (std::size_t i = 0; i < k_reading_count; ++i) {
    const Column& column = k_columns[i];
    const auto& value = sample.values[i];
    if (column.metric.empty() || !value) continue;
    fmt::format_to(std::back_inserter(text), "# TYPE {0} gauge\n{0} {1}\n", column.metric,
                   *value * column.metric_factor);
  }
  fmt::format_to(std::back_inserter(text),
                 "# TYPE sparkops_sample_timestamp_seconds gauge\nsparkops_sample_timestamp_seconds {:.3f}\n",
                 static_cast<double>(sample.taken.unix_ms) / static_cast<double>(k_ms_per_s));
  return text;
}

}  // namespace sparkops::store
