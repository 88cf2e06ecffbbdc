#include "facts/machine/kernel_log_lines.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// So that escapes and the final "…" stay within the 400 bytes that are promised.
constexpr std::size_t k_longest_line = 390;

/// "<3>text" → "text".
std::string_view without_level(std::string_view text) {
  const std::size_t end = text.find('>');
  constexpr std::size_t k_most_digits = 3;
  if (!text.starts_with('<') || end == std::string_view::npos || end > k_most_digits + 1) return text;
  return parse_integer(text.substr(1, end - 1)) ? text.substr(end + 1) : text;
}

/// Takes "[ 12.345678] " or "[Mon Nov 30 21:43:12 2026] " from the front.
void take_ring_buffer_time(KernelMessage& message) {
  const std::size_t end = message.text.find(']');
  constexpr std::size_t k_longest_time = 32;
  if (!message.text.starts_with('[') || end == std::string_view::npos || end > k_longest_time) return;
  const std::string_view inside = trim(message.text.substr(1, end - 1));
  const auto seconds = parse_number(inside);
  const bool is_date = inside.size() > 20 && contains(inside, ":");
  if (!seconds && !is_date) return;
  if (seconds && *seconds >= 0) message.seconds_since_boot = as_read(double{*seconds});
  message.text = trim(message.text.substr(end + 1));
}

/// rsyslog's "message repeated 5 times: [ text]".
void take_repetition(KernelMessage& message) {
  constexpr std::string_view k_start = "message repeated ", k_middle = " times: [";
  if (!message.text.starts_with(k_start) || !message.text.ends_with(']')) return;
  const std::size_t middle = message.text.find(k_middle);
  if (middle == std::string_view::npos) return;
  const auto count = parse_integer(message.text.substr(k_start.size(), middle - k_start.size()));
  if (!count || *count < 1) return;
  message.repeated = *count;
  message.text = trim(message.text.substr(middle + k_middle.size()));
  message.text.remove_suffix(1);
}

std::optional<int> xid_of(std::string_view message) {
  constexpr std::string_view k_start = "NVRM: Xid (", k_end = "): ";
  const std::size_t start = message.find(k_start);
  if (start == std::string_view::npos) return std::nullopt;
  const std::size_t end = message.find(k_end, start);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view number = message.substr(end + k_end.size());
  const auto xid = parse_integer(number.substr(0, number.find_first_not_of("0123456789")));
  constexpr std::int64_t k_largest_xid = 9999;
  if (!xid || *xid < 0 || *xid > k_largest_xid) return std::nullopt;
  return static_cast<int>(*xid);
}

bool is_nvrm(std::string_view message) {
  // The announcement that the driver prints at every load concerns nobody.
  return (contains(message, "NVRM:") && !contains(message, "NVRM: loading NVIDIA")) ||
         contains(message, "RmInitAdapter failed");
}

bool is_out_of_memory(std::string_view message) {
  return contains(message, "invoked oom-killer") || contains(message, "Killed process ") ||
         contains(message, "Out of memory:");
}

bool is_thermal(std::string_view message) {
  return contains(message, "ritical temperature") ||
         contains(message, "emperature above threshold") ||  // x86: "Core temperature above threshold, cpu clock …"
         contains(message, "High temperature on sensors");   // mlx5
}

bool is_pcie_error(std::string_view message) {
  const bool fatal_report = contains(message, "(Fatal)") && (contains(message, "AER") || contains(message, "PCIe"));
  return fatal_report || contains(message, "mlx5_pci_slot_reset");
}

std::optional<KernelEventKind> kind_of(std::string_view message) {
  if (is_nvrm(message)) {
    if (xid_of(message)) return KernelEventKind::xid;
    return contains(message, "NV_ERR_NO_MEMORY") ? KernelEventKind::nvrm_no_memory : KernelEventKind::nvrm_other;
  }
  if (contains(message, "Kernel panic - not syncing")) return KernelEventKind::panic;
  if (is_out_of_memory(message)) return KernelEventKind::oom_kill;
  if (is_thermal(message)) return KernelEventKind::thermal;
  if (is_pcie_error(message)) return KernelEventKind::pcie_error;
  return std::nullopt;
}

/// Finds the next of several words (Wu and Manber, 1994, with blocks of two bytes): how far the last two bytes of the
/// window stand from the end of any word tells how far it may be moved.
class WordSearch {
 public:
  explicit WordSearch(std::vector<std::string_view> words) : words_(std::move(words)), shifts_(k_blocks, k_window - 1) {
    for (const std::string_view word : words_)
      for (std::size_t i = 0; i + 1 < k_window; ++i) {
        unsigned char& shift = shifts_[block_at(word, i)];
        shift = std::min(shift, static_cast<unsigned char>(k_window - 2 - i));
      }
  }

  /// The place of the first word at or behind `from`, or npos.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from) const {
    for (std::size_t at = from + k_window - 2; at + 1 < text.size();) {
      if (const unsigned char shift = shifts_[block_at(text, at)]; shift > 0) {
        at += shift;
        continue;
      }
      const std::size_t start = at - (k_window - 2);
      const std::string_view rest = text.substr(start);
      if (std::any_of(words_.begin(), words_.end(), [&](std::string_view word) { return rest.starts_with(word); }))
        return start;
      ++at;
    }
    return std::string_view::npos;
  }

 private:
  static constexpr std::size_t k_window = 5;  // the shortest word
  static constexpr std::size_t k_blocks = std::size_t{1} << 16U;

  static std::size_t block_at(std::string_view text, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at])) << 8U |
           static_cast<std::size_t>(static_cast<unsigned char>(text[at + 1]));
  }

  std::vector<std::string_view> words_;
  std::vector<unsigned char> shifts_;
};

}  // namespace

void for_each_candidate_line(std::string_view text,
                             const std::function<void(std::string_view, std::size_t)>& function) {
  // One word of every kind of line that kind_of and starts_a_boot know.
  static const WordSearch search({"NVRM:", "RmInitAdapter", "oom-killer", "Killed process", "Out of memory",
                                  "emperature", "(Fatal)", "mlx5_pci_slot_reset", "Kernel panic", "Linux version ",
                                  "Booting Linux "});
  for (std::size_t at = search.find(text, 0); at != std::string_view::npos;) {
    const std::size_t before = text.rfind('\n', at);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    function(text.substr(start, end - start), start);
    at = search.find(text, end);
  }
}

KernelMessage message_of(std::string_view line) {
  KernelMessage message{trim(without_level(trim(line))), unknown("the line states no time since boot"), 1};
  take_ring_buffer_time(message);
  take_repetition(message);
  if (message.repeated > 1) take_ring_buffer_time(message);
  return message;
}

bool starts_a_boot(std::string_view message) {
  return message.starts_with("Linux version ") || message.starts_with("Booting Linux on ");
}

std::optional<KernelEvent> parse_kernel_line(std::string_view line) {
  const KernelMessage message = message_of(line);
  const auto kind = kind_of(message.text);
  if (!kind) return std::nullopt;
  KernelEvent event;
  event.kind = *kind;
  event.time = unknown("the line states no time of day");
  event.line = printable(message.text, k_longest_line);
  event.xid = unknown("not an Xid line");
  if (*kind == KernelEventKind::xid) event.xid = as_read(int{*xid_of(message.text)});
  event.repeated = message.repeated;
  return event;
}

void KernelEventCollector::add(std::string_view line, const Known<Timestamp>& time) {
  auto event = parse_kernel_line(line);
  if (!event) return;
  event->time = time;
  if (!events_.empty() && events_.back().kind == event->kind && events_.back().line == event->line) {
    std::int64_t& repeated = events_.back().repeated;
    if (__builtin_add_overflow(repeated, event->repeated, &repeated))
      repeated = std::numeric_limits<std::int64_t>::max();
    return;
  }
  events_.push_back(std::move(*event));
  if (events_.size() > k_most_events) events_.pop_front();
}

}  // namespace sparkops::facts
