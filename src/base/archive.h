#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops {

/// What one entry of a capture file stands for. A magic link (such as proc/PID/exe) has a target that can be read but
/// is never followed.
enum class ArchiveKind { file, directory, link, magic_link, other };

/// One file of a captured machine (docs/capture-format.md).
struct ArchiveEntry {
  ArchiveKind kind = ArchiveKind::file;
  std::string path;         ///< relative to the root: "proc/meminfo"
  std::uint32_t mode = 0;   ///< permission bits
  std::uint32_t owner = 0;  ///< user id
  Timestamp modified;       ///< zero: not kept
  std::string target;       ///< of a link
  std::string content;      ///< of a file
  /// The file or directory was there but could not be read: the kind of the error. `content` is then its reason.
  std::optional<ErrorKind> unreadable;
  std::size_t line = 0;  ///< of the text it was parsed from; 0 for an entry made in memory
};

/// The entries of a capture file, in the order of the text. Linear in its size.
/// Errors: malformed or unsupported (a newer format), naming `name` and the line.
[[nodiscard]] Result<std::vector<ArchiveEntry>> parse_archive(std::string_view text, const std::string& name);

/// The text of a capture file: parse_archive of it gives the same entries back.
[[nodiscard]] std::string write_archive(const std::vector<ArchiveEntry>& entries);

/// Whether a path can stand in a capture: relative, without empty, "." and ".." components, NUL, or more than
/// k_max_archive_depth components.
inline constexpr std::size_t k_max_archive_depth = 64;
[[nodiscard]] bool is_archive_path(std::string_view path);

/// The word for an error kind in a capture file ("permission_denied"), and back.
[[nodiscard]] std::string_view to_string(ErrorKind kind);
[[nodiscard]] std::optional<ErrorKind> parse_error_kind(std::string_view word);

}  // namespace sparkops
