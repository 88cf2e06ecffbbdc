#include "base/quantities.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/text.h"

namespace sparkops {

namespace {

struct NumberAndUnit {
  double number;
  std::string unit;  // lower case, without blanks
};

std::optional<NumberAndUnit> split_number(std::string_view text) {
  const std::string_view trimmed = trim(text);
  std::size_t end = 0;
  while (end < trimmed.size() && (std::string_view("0123456789.+-").find(trimmed[end]) != std::string_view::npos))
    ++end;
  const auto number = parse_number(trimmed.substr(0, end));
  if (!number) return std::nullopt;
  return NumberAndUnit{*number, to_lower(trim(trimmed.substr(end)))};
}

std::optional<double> bytes_per_unit(const std::string& unit) {
  if (unit == "b") return 1.0;
  struct Prefix {
    char letter;
    int power;
  };
  constexpr std::array<Prefix, 4> k_prefixes{{{'k', 1}, {'m', 2}, {'g', 3}, {'t', 4}}};
  for (const auto& [letter, power] : k_prefixes) {
    if (unit.empty() || unit[0] != letter) continue;
    const std::string rest = unit.substr(1);
    if (rest.empty() || rest == "i" || rest == "ib") return std::pow(1024.0, power);
    if (rest == "b") return std::pow(1000.0, power);
  }
  return std::nullopt;
}

}  // namespace

std::string format_size(Bytes bytes) {
  const double magnitude = std::fabs(static_cast<double>(bytes.value));
  if (magnitude >= static_cast<double>(k_gib)) return fmt::format("{:.1f} GiB", in_gib(bytes));
  if (magnitude >= static_cast<double>(k_mib)) return fmt::format("{} MiB", bytes.value / k_mib);
  if (magnitude >= static_cast<double>(k_kib)) return fmt::format("{} KiB", bytes.value / k_kib);
  return fmt::format("{} B", bytes.value);
}

Result<Bytes> parse_size(std::string_view text, Bytes bare_unit) {
  const auto wrong = [&] {
    return failure(ErrorKind::usage,
                   fmt::format("'{}' is no size: write e.g. 8GiB, 512MiB or 8GB", printable(text, 64)));
  };
  const auto parts = split_number(text);
  if (!parts) return wrong();
  const auto factor =
      parts->unit.empty() ? std::optional(static_cast<double>(bare_unit.value)) : bytes_per_unit(parts->unit);
  if (!factor) return wrong();
  const double bytes = parts->number * *factor;
  constexpr double k_largest = 9.0e18;  // just below 2^63
  if (std::fabs(bytes) > k_largest) return wrong();
  return Bytes{std::llround(bytes)};
}

Result<Seconds> parse_duration(std::string_view text) {
  const auto wrong = [&] {
    return failure(ErrorKind::usage,
                   fmt::format("'{}' is no duration: write e.g. 30, 30s, 2m, 1.5h or 250ms", printable(text, 64)));
  };
  const auto parts = split_number(text);
  if (!parts || parts->number < 0) return wrong();
  if (parts->unit.empty() || parts->unit == "s") return Seconds{parts->number};
  if (parts->unit == "ms") return Seconds{parts->number / 1000.0};
  if (parts->unit == "m" || parts->unit == "min") return Seconds{parts->number * 60.0};
  if (parts->unit == "h") return Seconds{parts->number * 3600.0};
  if (parts->unit == "d") return Seconds{parts->number * 86400.0};
  return wrong();
}

std::string format_duration(Seconds seconds) {
  const double value = seconds.value;
  constexpr double k_minute = 60;
  constexpr double k_hour = 3600;
  constexpr double k_day = 86400;
  if (value < 10) return fmt::format("{:.1f} s", value);
  if (value < 2 * k_minute) return fmt::format("{:.0f} s", value);
  if (value < 2 * k_hour) return fmt::format("{:.0f} min", std::floor(value / k_minute));
  const double hours = std::floor(value / k_hour);
  if (value < 2 * k_day)
    return fmt::format("{:.0f} h {:.0f} min", hours, std::floor((value - hours * k_hour) / k_minute));
  const double days = std::floor(value / k_day);
  return fmt::format("{:.0f} d {:.0f} h", days, std::floor((value - days * k_day) / k_hour));
}

}  // namespace sparkops
