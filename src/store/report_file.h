#pragma once

#include <string>

#include "base/result.h"

namespace sparkops::store {

/// Writes a file that the user named. A regular file (also behind a symlink) appears whole or not at all and replaces
/// an older one; a device, a FIFO or a socket is written into and never replaced. Errors name the path.
[[nodiscard]] Result<void> write_report_file(const std::string& path, const std::string& content);

}  // namespace sparkops::store
