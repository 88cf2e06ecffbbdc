#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sparkops {

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
struct Timestamp {
  std::int64_t unix_ms = 0;

  [[nodiscard]] static Timestamp now();
  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

/// RFC 3339 in UTC, e.g. "2026-11-30T09:17:58.059Z" (milliseconds only when they are not zero).
[[nodiscard]] std::string to_rfc3339(Timestamp time);

/// Reads RFC 3339, also with an offset or a blank in place of the T; a bare date is its midnight in UTC.
[[nodiscard]] std::optional<Timestamp> parse_rfc3339(std::string_view text);

}  // namespace sparkops
