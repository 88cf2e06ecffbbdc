#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/root.h"
#include "store/capture_plan.h"
#include "store/redaction.h"

namespace sparkops::store {

/// Gathers the entries of a capture. Symlinks on the way to a file become links of the capture, so that it has the
/// machine's own shape; a file that is there but cannot be read becomes an entry that says why.
class Collector {
 public:
  Collector(const Root& root, Redactor& redactor) : root_(root), redactor_(redactor) {}

  /// Everything that a pattern matches. Directories that were searched are part of the capture even when empty.
  void add_matching(const PlannedPath& planned);
  void add_file(const std::string& path, Treatment treatment);
  /// A file that is there and whose content is not wanted: reading it from the capture is an error with `reason`.
  void add_left_out(const std::string& path, const std::string& reason);
  /// A directory without its content.
  void add_directory(const std::string& path);
  /// A file of our own; `content` is redacted by the caller where it needs to be.
  void add_made(const std::string& path, std::string content);

  [[nodiscard]] const Root& root() const { return root_; }
  [[nodiscard]] Redactor& redactor() { return redactor_; }

  /// The entries in the order of their paths. Leaves the collector empty.
  [[nodiscard]] std::vector<ArchiveEntry> take_entries();

 private:
  void expand(const std::string& done, std::vector<std::string_view> rest, Treatment treatment);
  void add_path(const std::string& path, Treatment treatment);
  void add_magic_link(const std::string& path);
  void put(ArchiveEntry entry);
  /// The path with its symlinks followed, each of which is added; nothing when it does not exist or leads outside.
  std::optional<std::string> canonical(const std::string& path);
  std::optional<std::string> canonical_directory(const std::string& directory);

  const Root& root_;
  Redactor& redactor_;
  std::map<std::string, ArchiveEntry> entries_;
  std::map<std::string, std::optional<std::string>> canonical_directories_;
};

}  // namespace sparkops::store
