#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "facts/machine/memory.h"

namespace sparkops::facts {

/// The files among `paths` that have pages in the page cache of this machine, largest first, and in `scope` what was
/// looked at and what was not. Never reads a file: cachestat(2), or mincore(2) on a mapping where the kernel has no
/// cachestat. Both tell the truth only about files that this user owns or may write (the kernel refuses the first
/// call for others and answers "all resident" to the second), so others are counted in `scope` instead.
struct CachedFilesReading {
  Known<std::vector<CachedFile>> files;
  std::string scope;
};
[[nodiscard]] CachedFilesReading read_cached_files(const std::vector<std::string>& paths);

/// One file that a person named, cached or not.
struct NamedFile {
  std::string path;
  Known<Bytes> size, cached, dirty;
};

/// Every one of `paths` on this machine, in their order.
[[nodiscard]] std::vector<NamedFile> read_named_files(const std::vector<std::string>& paths);

/// Those files of a capture's page cache that are one of `paths` or lie below it.
[[nodiscard]] std::vector<NamedFile> captured_named_files(const Known<std::vector<CachedFile>>& cached,
                                                          const std::vector<std::string>& paths);

}  // namespace sparkops::facts
