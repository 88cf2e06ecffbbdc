#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "facts/machine/kernel_log.h"

namespace sparkops::facts {

/// In which time zone a log without one was written.
enum class LogTimeZone { local, utc, not_known };

/// "2026-11-30T21:43:12.123456+00:00 host …" and the classic "Nov 30 21:43:12 host …", which lacks a year: the one
/// that puts the line before `file_modified` (with a day of grace).
struct LogLine {
  Known<Timestamp> time;
  std::string_view message;  ///< behind "kernel: "
};
/// Nothing for lines that are not the kernel's.
[[nodiscard]] std::optional<LogLine> parse_log_line(std::string_view line, Timestamp file_modified, LogTimeZone zone);

/// The events of a log, boot by boot.
struct TextLogEvents {
  std::vector<KernelEvent> current;
  Known<std::vector<KernelEvent>> previous;
  bool covers_this_boot = true;  ///< false: it ends before this boot began
};

/// The text of var/log/kern.log or var/log/syslog (its end is enough). Boots are told apart by the first messages of a
/// kernel; without `boot_time` the last one is taken for the current boot.
[[nodiscard]] TextLogEvents parse_log(std::string_view text, Timestamp file_modified, LogTimeZone zone,
                                      const Known<Timestamp>& boot_time);

/// The ring buffer as `dmesg --raw` or `dmesg` prints it: one boot, times since its start.
[[nodiscard]] std::vector<KernelEvent> parse_ring_buffer(std::string_view text, const Known<Timestamp>& boot_time);

}  // namespace sparkops::facts
