#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/quantities.h"
#include "base/root.h"

namespace sparkops::store {

struct CaptureOptions {
  Seconds duration{3};  ///< between the first and the last sample; at least two are taken
  /// Called with what is done now, in words, before each part that may take a moment.
  std::function<void(std::string_view)> progress = [](std::string_view) {};
};

/// A machine as entries of a capture file, redacted.
struct Capture {
  std::vector<ArchiveEntry> entries;
  std::map<std::string, std::int64_t> redacted;  ///< "user names" → how many different ones
  std::vector<std::string> left_out;             ///< in words
};

/// Captures the machine under `root`. On the live machine it takes `duration`. A captured machine is captured again
/// with its own time and samples: what was redacted stays so.
[[nodiscard]] Capture take_capture(const Root& root, const CaptureOptions& options);

}  // namespace sparkops::store
