#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// Lines of the kernel log that concern a GPU job.
enum class KernelEventKind { oom_kill, nvrm_no_memory, nvrm_other, xid, thermal, pcie_error, panic };

struct KernelEvent {
  KernelEventKind kind = KernelEventKind::nvrm_other;
  Known<Timestamp> time;
  std::string line;           ///< printable, at most 400 bytes
  Known<int> xid;             ///< for xid
  std::int64_t repeated = 1;  ///< this many such lines in a row
};

struct KernelLog {
  Known<std::string> source;                 ///< "journal", "var/log/kern.log", "dmesg", with what it covers
  std::vector<KernelEvent> current;          ///< this boot, oldest first
  Known<std::vector<KernelEvent>> previous;  ///< the boot before
  std::vector<std::string> could_not;  ///< e.g. "journal: permission denied (group adm or systemd-journal shows it)"
};

/// Sources in order: journal files under var/log/journal and run/log/journal (through libsystemd by dlopen), then
/// var/log/kern.log and var/log/syslog (last 8 MiB), then sparkops/dmesg of a capture.
[[nodiscard]] KernelLog read_kernel_log(const Root& root);

/// Classifies one line of kernel text; nothing for lines of no concern.
[[nodiscard]] std::optional<KernelEvent> parse_kernel_line(std::string_view line);

}  // namespace sparkops::facts
