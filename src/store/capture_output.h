#pragma once

#include <string>
#include <vector>

#include "base/archive.h"
#include "base/quantities.h"
#include "base/result.h"

namespace sparkops::store {

/// Whether a capture can get this name, so that nobody waits for samples in vain. Errors: usage.
[[nodiscard]] Result<void> check_capture_name(const std::string& path);

/// What was written to the disk.
struct Written {
  std::size_t files = 0;  ///< without links and directories
  Bytes size;             ///< of their content
};

/// Writes a capture file. It appears under its name only when it is complete and on the disk. Errors: usage when the
/// name is taken, or what the file system says.
[[nodiscard]] Result<Written> write_capture_file(const std::string& path, const std::vector<ArchiveEntry>& entries);

/// Writes the same as a directory tree, which appears under its name only when it is complete. What a file system
/// cannot hold is shown as docs/capture-format.md says: an unreadable file is a link to itself. Errors as above.
[[nodiscard]] Result<Written> write_capture_tree(const std::string& path, const std::vector<ArchiveEntry>& entries);

}  // namespace sparkops::store
