#pragma once

#include <deque>
#include <functional>
#include <string_view>
#include <vector>

#include "facts/machine/kernel_log.h"

namespace sparkops::facts {

/// The message of a line of kernel text: without "<3>", "[ 12.345678]" and rsyslog's "message repeated N times: […]".
struct KernelMessage {
  std::string_view text;
  Known<double> seconds_since_boot;  ///< from "[ 12.345678]"
  std::int64_t repeated = 1;
};
[[nodiscard]] KernelMessage message_of(std::string_view line);

/// Whether a message is one of the first a kernel prints: "Booting Linux on …", "Linux version …".
[[nodiscard]] bool starts_a_boot(std::string_view message);

/// Calls `function` with every line of a log that may be of concern or start a boot, and where it begins. A log has
/// hundreds of thousands of lines and a handful of these, so ordinary ones are passed over several bytes at a time.
void for_each_candidate_line(std::string_view text, const std::function<void(std::string_view, std::size_t)>& function);

/// Gathers the events of one boot, oldest first: equal lines in a row become one, and of very many only the newest
/// stay.
class KernelEventCollector {
 public:
  static constexpr std::size_t k_most_events = 2000;

  /// Takes a line if it is of concern.
  void add(std::string_view line, const Known<Timestamp>& time);
  [[nodiscard]] std::vector<KernelEvent> take() { return {events_.begin(), events_.end()}; }
  [[nodiscard]] bool empty() const { return events_.empty(); }

 private:
  std::deque<KernelEvent> events_;
};

}  // namespace sparkops::facts
