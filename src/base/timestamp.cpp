#include "base/timestamp.h"

#include <fmt/format.h>

#include <chrono>

#include "base/text.h"

namespace sparkops {

namespace {

constexpr std::int64_t k_ms_per_day = 86'400'000;

/// The digits at [from, from + length) as a number, if that is what stands there.
std::optional<int> digits(std::string_view text, std::size_t from, std::size_t length) {
  if (text.size() < from + length) return std::nullopt;
  const std::string_view part = text.substr(from, length);
  if (part.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return static_cast<int>(*parse_integer(part));
}

std::optional<std::int64_t> midnight_ms(std::string_view text) {
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * k_ms_per_day;
}

/// The offset from UTC in milliseconds: "", "Z", "+02:00", "-0530".
std::optional<std::int64_t> offset_ms(std::string_view zone) {
  if (zone.empty() || zone == "Z" || zone == "z") return 0;
  if (zone[0] != '+' && zone[0] != '-') return std::nullopt;
  const bool has_colon = zone.size() == 6 && zone[3] == ':';
  if (!has_colon && zone.size() != 5) return std::nullopt;
  const auto hours = digits(zone, 1, 2);
  const auto minutes = digits(zone, has_colon ? 4 : 3, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t offset = (*hours * 60 + *minutes) * std::int64_t{60'000};
  return zone[0] == '-' ? -offset : offset;
}

}  // namespace

Timestamp Timestamp::now() {
  using namespace std::chrono;
  return {duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count()};
}

std::string to_rfc3339(Timestamp time) {
  using namespace std::chrono;
  const sys_time<milliseconds> point{milliseconds(time.unix_ms)};
  const sys_days day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss clock{point - day};
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:03}", clock.subseconds().count());
  return text + "Z";
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  text = trim(text);
  const auto midnight = midnight_ms(text);
  if (!midnight) return std::nullopt;
  if (text.size() == 10) return Timestamp{*midnight};
  if (text.size() < 19 || (text[10] != 'T' && text[10] != 't' && text[10] != ' ') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;

  std::string_view rest = text.substr(19);
  std::int64_t milliseconds = 0;
  if (rest.starts_with('.') || rest.starts_with(',')) {
    rest.remove_prefix(1);
    std::int64_t weight = 100;
    std::size_t count = 0;
    for (; count < rest.size() && rest[count] >= '0' && rest[count] <= '9'; ++count, weight /= 10)
      milliseconds += (rest[count] - '0') * weight;
    if (count == 0) return std::nullopt;
    rest.remove_prefix(count);
  }
  const auto offset = offset_ms(rest);
  if (!offset) return std::nullopt;
  return Timestamp{*midnight + ((*hour * 60 + *minute) * 60 + *second) * std::int64_t{1000} + milliseconds - *offset};
}

}  // namespace sparkops
