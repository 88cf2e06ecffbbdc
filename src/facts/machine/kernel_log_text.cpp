#include "facts/machine/kernel_log_text.h"

#include <algorithm>
#include <array>
#include <ctime>

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

/// One boot's share of a log.
struct Boot {
  KernelEventCollector events;
  Known<Timestamp> last_time;
  bool begins_here = false;  ///< its first message is in the text
};

/// Sorts the lines of a log into boots.
class BootSplitter {
 public:
  void add(const LogLine& line) {
    const KernelMessage message = message_of(line.message);
    const bool is_first_message = starts_a_boot(message.text);
    if (is_first_message && !continues_a_start(message.text)) {
      if (previous_exists_ || lines_ > 0) {
        previous_ = std::move(current_);
        previous_exists_ = true;
      }
      current_ = Boot{};
      current_.begins_here = true;
      lines_ = 0;
    }
    ++lines_;
    if (is_first_message) last_first_message_ = message.text.substr(0, message.text.find(' '));
    if (line.time) current_.last_time = line.time;
    current_.events.add(line.message, line.time);
  }

  Boot& current() { return current_; }
  Boot& previous() { return previous_; }
  [[nodiscard]] bool has_previous() const { return previous_exists_; }
  [[nodiscard]] bool empty() const { return lines_ == 0; }

 private:
  /// arm64 kernels print "Booting Linux on …" and, a few lines on, "Linux version …".
  [[nodiscard]] bool continues_a_start(std::string_view message) const {
    constexpr int k_first_lines = 5;
    return current_.begins_here && lines_ < k_first_lines && last_first_message_ == "Booting" &&
           message.starts_with("Linux version ");
  }
  Boot current_, previous_;
  bool previous_exists_ = false;
  int lines_ = 0;
  std::string_view last_first_message_;  ///< its first word
};

/// Calls `function` for each line, without a table of them all.
template <class Function>
void for_each_line(std::string_view text, Function function) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    function(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
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
  BootSplitter boots;
  for_each_line(text, [&](std::string_view line) {
    if (const auto parsed = parse_log_line(line, file_modified, zone)) boots.add(*parsed);
  });
  TextLogEvents result;
  result.previous = unknown("the log does not reach back to the boot before");
  const Known<Timestamp>& last_time = boots.current().last_time;
  result.covers_this_boot =
      !boots.empty() && !(boot_time && last_time && last_time->unix_ms < boot_time->unix_ms - k_tolerance_ms);
  if (boots.empty()) return result;
  if (!result.covers_this_boot) {
    result.previous = as_read(boots.current().events.take());
    return result;
  }
  result.current = boots.current().events.take();
  if (boots.has_previous()) result.previous = as_read(boots.previous().events.take());
  return result;
}

std::vector<KernelEvent> parse_ring_buffer(std::string_view text, const Known<Timestamp>& boot_time) {
  KernelEventCollector events;
  for_each_line(text, [&](std::string_view line) {
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
