#pragma once

#include <cstdint>
#include <string>

#include "base/known.h"
#include "base/quantities.h"

namespace sparkops::facts {

/// Where a file's pages live when they are in memory.
enum class PageHome {
  disk,    ///< the page cache is a copy: what is clean can be given back
  memory,  ///< tmpfs, ramfs or hugetlbfs: there is no other copy, only deleting the file frees it
};

/// How much of one file is in the page cache. Reading it never reads the file.
struct FileResidency {
  Bytes size;
  PageHome home = PageHome::disk;
  std::uint64_t device = 0, inode = 0;  ///< which file it is, as stat(2) says
  Known<Bytes> cached;
  Known<Bytes> dirty;       ///< of those: not written yet, or being written; mincore does not tell
  bool needs_root = false;  ///< unknown because the file is another user's
  std::string how;          ///< "cachestat" or "mincore"; empty when nothing could be counted
};

/// Asks cachestat(2) (Linux 6.5), else mincore(2) on a mapping. Both tell the truth only about files that this user
/// owns or may write: the kernel refuses the first call for others and answers "all resident" to the second. So for
/// others `cached` is unknown ("needs root"). Errors: not_a_regular_file, input_output.
[[nodiscard]] Result<FileResidency> read_residency(int file, const std::string& path);

/// Opens `path` (following symlinks, never blocking) and reads it as above. Errors: also not_found, permission_denied.
[[nodiscard]] Result<FileResidency> read_residency(const std::string& path);

}  // namespace sparkops::facts
