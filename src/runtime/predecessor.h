#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/pid_file.h"

namespace sparkops::runtime {

/// This process, as its pid file names it.
[[nodiscard]] Result<store::ProcessMark> own_mark();

/// Ends the recorder that a pid file names, and waits until it has ended. Nothing when there is none: the file is
/// absent, the number belongs to another process by now, or the process is no recorder. Errors: timed_out,
/// permission_denied.
[[nodiscard]] Result<std::optional<std::int64_t>> stop_predecessor(const std::string& pid_file);

}  // namespace sparkops::runtime
