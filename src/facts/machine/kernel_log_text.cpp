#include "facts/machine/kernel_log_text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "facts/machine/kernel_log_lines.h"

namespace sparkops::facts {

namespace {

constexpr std::int64_t k_day_ms = std::int64_t{24} * 3600 * 1000;

/// A record is written some time after what it reports, and the clock may be set in between.
constexpr std::int64_t k_tolerance_ms = std::int64_t{10} * 60 * 1000;

/// "Nov 30 21:43:12" without its year.
std::optional<std::tm> parse_classic_time(std::string_view text) {
  constexpr std::array<std::string_view, 12> k_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::size_t k_length = 15;
  if (text.size() < k_length || text[3] != ' ' || text[6] != ' ' || text[9] != ':' || text[12] != ':')
    return std::nullopt;
  const auto month = std::find(k_months.begin(), k_months.end(), text.substr(0, 3));
  const auto day = parse_integer(trim(text.substr(4, 2)));
  const auto hour = parse_integer(text.substr(7, 2));
  const auto minute = parse_integer(text.substr(10, 2));
  const auto second = parse_integer(text.substr(13, 2));
  if (month == k_months.end() || !day || !hour || !minute || !second) return std::nullopt;
  if (*day < 1 || *day > 31 || *hour < 0 || *hour > 23 || *minute < 0 || *minute > 59 || *second < 0 || *second > 60)
    return std::nullopt;
  std::tm time{};
  time.tm_mon = static_cast<int>(month - k_months.begin());
  time.tm_mday = static_cast<int>(*day);
  time.tm_hour = static_cast<int>(*hour);
  time.tm_min = static_cast<int>(*minute);
  time.tm_sec = static_cast<int>(*second);
  time.tm_isdst = -1;
  return time;
}

Timestamp in_year(std::tm time, int year, LogTimeZone zone) {
  time.tm_year = year;
  const std::time_t seconds = zone == LogTimeZone::local ? std::mktime(&time) : ::timegm(&time);
  return Timestamp{std::int64_t{seconds} * 1000};
}

Known<Timestamp> with_guessed_year(const std::tm& time, Timestamp file_modified, LogTimeZone zone) {
  if (zone == LogTimeZone::not_known)
    return unknown("the log states local times and the time zone of the machine is not known");
  const std::time_t modified_seconds = file_modified.unix_ms / 1000;
  std::tm modified{};
  if (::gmtime_r(&modified_seconds, &modified) == nullptr) return unknown("the log states no year");
  const Timestamp this_year = in_year(time, modified.tm_year, zone);
  const bool lies_ahead = this_year.unix_ms > file_modified.unix_ms + k_day_ms;
  return as_derived(lies_ahead ? in_year(time, modified.tm_year - 1, zone) : this_year);
}

/// Sorts the lines of a log into boots.
class BootSplitter {
 public:
  void add(const LogLine& line, bool is_start_of_log) {
    const std::string_view message = message_of(line.message).text;
    if (starts_a_boot(message) && !continues_a_start(message)) {
      has_previous_ = has_previous_ || !is_start_of_log;
      previous_ = std::exchange(current_, KernelEventCollector());
    }
    last_message_was_booting_ = message.starts_with("Booting Linux ");
    current_.add(line.message, line.time);
  }

  std::vector<KernelEvent> take_current() { return current_.take(); }
  Known<std::vector<KernelEvent>> take_previous() {
    if (!has_previous_) return unknown("the log does not reach back to the boot before");
    return as_read(previous_.take());
  }

 private:
  /// arm64 kernels print "Booting Linux on …" and, a few ordinary lines on, "Linux version …".
  [[nodiscard]] bool continues_a_start(std::string_view message) const {
    return last_message_was_booting_ && message.starts_with("Linux version ");
  }

  KernelEventCollector current_, previous_;
  bool has_previous_ = false;
  bool last_message_was_booting_ = false;
};

/// The last line of the kernel in a log; the lines behind it are other programs'.
std::optional<LogLine> last_kernel_line(std::string_view text, Timestamp file_modified, LogTimeZone zone) {
  constexpr int k_most_lines = 10'000;
  for (int i = 0; i < k_most_lines && !text.empty(); ++i) {
    const std::size_t line_end = text.ends_with('\n') ? text.size() - 1 : text.size();
    const std::size_t before = line_end == 0 ? std::string_view::npos : text.rfind('\n', line_end - 1);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    if (auto line = parse_log_line(text.substr(start, line_end - start), file_modified, zone)) return line;
    text = text.substr(0, start);
  }
  return std::nullopt;
}

}  // namespace

std::optional<LogLine> parse_log_line(std::string_view line, Timestamp file_modified, LogTimeZone zone) {
  constexpr std::string_view k_tag = " kernel: ";
  constexpr std::size_t k_longest_start = 120;
  const std::size_t tag = line.substr(0, k_longest_start).find(k_tag);
  if (tag == std::string_view::npos) return std::nullopt;
  const std::string_view start = line.substr(0, tag);
  // Time and host and nothing else: a program's own "kernel: " comes behind its name.
  const auto words = split_words(start);
  constexpr std::size_t k_words_new_form = 2, k_words_classic_form = 4;
  if (words.size() != k_words_new_form && words.size() != k_words_classic_form) return std::nullopt;
  LogLine result{unknown("the line's time could not be read"), line.substr(tag + k_tag.size())};
  if (const auto time = words.size() == k_words_new_form ? parse_rfc3339(words[0]) : std::nullopt) {
    result.time = as_read(Timestamp{*time});
  } else if (const auto classic = parse_classic_time(start)) {
    result.time = with_guessed_year(*classic, file_modified, zone);
  } else {
    return std::nullopt;
  }
  return result;
}

TextLogEvents parse_log(std::string_view text, Timestamp file_modified, LogTimeZone zone,
                        const Known<Timestamp>& boot_time) {
  TextLogEvents result;
  const auto last_line = last_kernel_line(text, file_modified, zone);
  if (!last_line) {
    result.covers_this_boot = false;
    result.previous = unknown("the log holds no lines of the kernel");
    return result;
  }
  BootSplitter boots;
  for_each_candidate_line(text, [&](std::string_view line, std::size_t start) {
    if (const auto parsed = parse_log_line(line, file_modified, zone)) boots.add(*parsed, start == 0);
  });
  result.covers_this_boot =
      !(boot_time && last_line->time && last_line->time->unix_ms < boot_time->unix_ms - k_tolerance_ms);
  result.previous = result.covers_this_boot ? boots.take_previous() : as_read(boots.take_current());
  if (result.covers_this_boot) result.current = boots.take_current();
  return result;
}

std::vector<KernelEvent> parse_ring_buffer(std::string_view text, const Known<Timestamp>& boot_time) {
  KernelEventCollector events;
  for_each_candidate_line(text, [&](std::string_view line, std::size_t) {
    const Known<double> since_boot = message_of(line).seconds_since_boot;
    // Decades: a number beyond that is none.
    constexpr double k_longest_uptime_s = 1e9;
    Known<Timestamp> time = unknown("the time of the boot is not known");
    if (!since_boot || *since_boot > k_longest_uptime_s)
      time = unknown("the line states no time since boot");
    else if (boot_time)
      time = as_derived(Timestamp{boot_time->unix_ms + static_cast<std::int64_t>(*since_boot * 1000)});
    events.add(line, time);
  });
  return events.take();
}

}  // namespace sparkops::facts
