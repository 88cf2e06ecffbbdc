#include "facts/machine/nvml_calls.h"

#include <algorithm>

#include "base/text.h"

namespace sparkops::facts {
namespace {

using DriverVersion = std::array<std::int64_t, 3>;

std::optional<DriverVersion> parse_driver_version(std::string_view text) {
  const std::vector<std::string_view> parts = split(trim(text), '.');
  DriverVersion version = {};
  if (parts.size() < 2 || parts.size() > version.size()) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<std::int64_t> number = parse_integer(parts[i]);
    if (!number || *number < 0) return std::nullopt;
    version[i] = *number;
  }
  return version;
}

}  // namespace

std::optional<SlowdownCounterFields> slowdown_counter_fields(std::string_view driver_version) {
  constexpr DriverVersion k_first_with_counters = {575, 51, 0};
  constexpr DriverVersion k_renumbered = {580, 82, 7};
  const std::optional<DriverVersion> version = parse_driver_version(driver_version);
  if (!version || *version < k_first_with_counters) return std::nullopt;
  if (*version < k_renumbered) return SlowdownCounterFields{251, 252, 253};
  return SlowdownCounterFields{269, 270, 271};
}

}  // namespace sparkops::facts
