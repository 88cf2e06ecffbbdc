#pragma once

#include <string>
#include <vector>

#include "facts/machine/kernel_log.h"

namespace sparkops::facts {

/// What the journal holds of this boot and the one before.
struct JournalEvents {
  std::string covers;  ///< in words, for `KernelLog::source`
  std::vector<KernelEvent> current;
  Known<std::vector<KernelEvent>> previous;
};

/// Kernel messages of priority warning and worse from the newest journal files under var/log/journal and
/// run/log/journal, at most 20,000 of each boot and 1.5 s in all. Through libsystemd.so.0, loaded when there are files.
/// Errors: not_found without journal files (a capture file never has any), permission_denied with the right that helps,
/// unsupported without libsystemd, malformed when libsystemd refuses the files.
[[nodiscard]] Result<JournalEvents> read_journal(const Root& root);

}  // namespace sparkops::facts
