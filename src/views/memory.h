#pragma once

#include <string>
#include <vector>

#include "facts/machine/memory_cached_files.h"
#include "verdicts/memory/picture.h"
#include "views/preflight_text.h"
#include "views/text_layout.h"

namespace sparkops::views {

/// What was asked and where it was read.
struct MemorySubject {
  std::string root;
  bool is_recorded = false;
  /// The files that were named, with what is cached of each; null: none were.
  const std::vector<facts::NamedFile>* named = nullptr;
  std::vector<std::string> named_notes;  ///< "3 symlinks not followed" …
};

/// A bar, a table of what holds the pool, holders, files, budget, orphans, and what could not be seen. At most 80
/// columns but for commands, which stay pasteable. Verbose shows every holder and file, and whole paths.
[[nodiscard]] std::string memory_text(const verdicts::MemoryPicture& picture, const MemorySubject& subject,
                                      Detail detail, const TextStyle& style);

/// schema "sparkops.memory/1".
[[nodiscard]] std::string memory_json(const verdicts::MemoryPicture& picture, const MemorySubject& subject);

}  // namespace sparkops::views
