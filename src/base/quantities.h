#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sparkops {

/// A number that cannot be mistaken for one of another unit.
template <class Tag, class Number>
struct Quantity {
  Number value{};

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Celsius = Quantity<struct CelsiusTag, double>;
using Watts = Quantity<struct WattsTag, double>;
using Megahertz = Quantity<struct MegahertzTag, double>;
using Percent = Quantity<struct PercentTag, double>;
using Seconds = Quantity<struct SecondsTag, double>;

inline constexpr std::int64_t k_kib = 1024;
inline constexpr std::int64_t k_mib = 1024 * k_kib;
inline constexpr std::int64_t k_gib = 1024 * k_mib;

[[nodiscard]] constexpr Bytes kibibytes(std::int64_t count) {
  return {count * k_kib};
}
[[nodiscard]] constexpr Bytes mebibytes(std::int64_t count) {
  return {count * k_mib};
}
[[nodiscard]] constexpr Bytes gibibytes(std::int64_t count) {
  return {count * k_gib};
}
[[nodiscard]] constexpr double in_gib(Bytes bytes) {
  return static_cast<double>(bytes.value) / static_cast<double>(k_gib);
}

/// A size for a person: "41.2 GiB", "512 MiB", "3 KiB", "0 B"; binary units, negative allowed.
[[nodiscard]] std::string format_size(Bytes bytes);

/// Reads "8", "8GiB", "8 GB", "512m", "1.5T" as a person types it: GiB/MiB/KiB/TiB and bare letters are
/// binary, GB/MB/KB/TB decimal, a bare number counts in `bare_unit`. Errors: usage, with the accepted forms.
[[nodiscard]] Result<Bytes> parse_size(std::string_view text, Bytes bare_unit = {k_gib});

/// Reads "30", "2m", "1.5h", "250ms" as seconds; a bare number is seconds. Errors: usage.
[[nodiscard]] Result<Seconds> parse_duration(std::string_view text);

/// Seconds for a person: "0.4 s", "12 s", "3 min", "29 h 51 min", "6 d 4 h".
[[nodiscard]] std::string format_duration(Seconds seconds);

}  // namespace sparkops
