#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops::store {

/// Everything one sample can hold. The first eighteen, in this order, are the columns of samples.csv.
enum class Reading : std::size_t {
  gpu_temperature,  ///< °C
  gpu_power,        ///< W, GPU rail, 1 s average
  sm_clock,         ///< MHz
  gpu_utilization,  ///< percent
  sw_power_cap,     ///< µs since the driver was loaded, as the four below
  sw_thermal,
  hw_thermal,
  hw_power_brake,
  sync_boost,
  memory_available,  ///< bytes, as the four below
  memory_free,
  memory_cached,
  gpu_process_bytes,  ///< sum over all GPU processes
  swap_used,
  pressure_some,  ///< percent of the last 10 s, memory
  pressure_full,
  nvml_age,            ///< ms since the newest answer of the driver
  sync_lag,            ///< ms the newest durable sample is behind
  power_instant,       ///< W
  graphics_clock,      ///< MHz
  memory_clock,        ///< MHz
  performance_state,   ///< 0 … 15
  event_reasons,       ///< mask
  temperature_margin,  ///< °C to the nearest slowdown
  count_,
};
inline constexpr std::size_t k_reading_count = static_cast<std::size_t>(Reading::count_);

/// One moment. A reading without a value could not be had then: [N/A] in a file, null in JSON, never zero.
struct Sample {
  Timestamp taken;
  std::array<std::optional<double>, k_reading_count> values;

  [[nodiscard]] std::optional<double>& operator[](Reading reading) { return values[static_cast<std::size_t>(reading)]; }
  [[nodiscard]] const std::optional<double>& operator[](Reading reading) const {
    return values[static_cast<std::size_t>(reading)];
  }
};

using Columns = std::vector<Reading>;

/// thermal.csv: temperature and power. A contract (docs/architecture.md).
[[nodiscard]] Columns thermal_columns();
/// samples.csv: every reading up to sync_lag.
[[nodiscard]] Columns samples_columns();

/// The name in a header line: nvidia-smi's where it has one ("clocks.sm"), else ours ("mem.available").
[[nodiscard]] std::string_view column_name(Reading reading);
/// The key in JSON: "sm_clock_mhz".
[[nodiscard]] std::string_view json_key(Reading reading);
/// "clocks.sm,pstate" as columns; nvidia-smi's longer names ("clocks.current.sm") too. Errors: usage, with all names.
[[nodiscard]] Result<Columns> parse_columns(std::string_view list);

/// Whether a reading comes from the GPU's driver.
[[nodiscard]] bool is_gpu_reading(Reading reading);

enum class Units { written, left_out };

/// "timestamp,temperature.gpu,power.draw" and a line end.
[[nodiscard]] std::string csv_header(std::span<const Reading> columns);

/// Appends "2026/04/25 09:17:58.059, 37, 10.62 W" and a line end: local time as nvidia-smi writes it, [N/A] for what
/// could not be read. Allocates only where `text` has to grow.
void append_csv_line(std::string& text, const Sample& sample, std::span<const Reading> columns, Units units);

/// One JSON object (schema "sparkops.record/1") and a line end. `gpu_problem` is the reason of GPU readings that are
/// missing; empty for a reading that the driver does not have.
[[nodiscard]] std::string json_line(const Sample& sample, std::span<const Reading> columns,
                                    std::string_view gpu_problem);

/// The gauges of one sample for node_exporter's textfile collector; what could not be read is left out.
[[nodiscard]] std::string metrics_text(const Sample& sample);

}  // namespace sparkops::store
