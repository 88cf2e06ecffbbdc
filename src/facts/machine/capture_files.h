#pragma once

#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "base/timestamp.h"
#include "facts/machine/memory.h"

namespace sparkops::facts {

/// What sparkops/capture.json says about the machine that was captured and cannot be told from its other files.
struct CaptureNotes {
  Known<Timestamp> taken;           ///< "taken_at"
  Known<Timestamp> vmstat_earlier;  ///< "vmstat_earlier_at": when sparkops/vmstat-earlier was read
  Known<std::string> architecture;  ///< "architecture", as uname -m
  Known<long> page_size;            ///< "page_size_bytes"
};

/// Every part unknown, with its reason, where the file does not say it.
[[nodiscard]] CaptureNotes read_capture_notes(const Root& root);

/// What sparkops/pagecache.json holds: {"how": "…", "files": [{"path", "size_bytes", "cached_bytes"}]}.
struct CapturedPageCache {
  std::string how;
  std::vector<CachedFile> files;  ///< as they stand in the file
};
[[nodiscard]] Result<CapturedPageCache> parse_captured_page_cache(std::string_view text);

}  // namespace sparkops::facts
