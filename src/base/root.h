#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/random_access_file.h"
#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops {

enum class FileKind { regular, directory, symlink, other };

/// What `stat` says of one file (after following symlinks inside the root).
struct FileStatus {
  FileKind kind = FileKind::other;
  std::int64_t size = 0;   ///< bytes
  std::uint32_t mode = 0;  ///< permission bits
  std::uint32_t owner = 0;
  Timestamp modified;
};

/// One name in a directory.
struct DirectoryEntry {
  std::string name;
  FileKind kind = FileKind::other;
};

/// The first or last bytes of a file.
struct FilePart {
  std::string bytes;
  bool complete = true;  ///< false: the file goes on
};

/// The file tree a reader looks at: this machine, a captured tree, or a capture file (`*.machine`). Every reader
/// takes one, so that a captured machine reads like a live one. Paths are relative to the root ("proc/meminfo"; a
/// leading slash is allowed and means the same). Symlinks are followed inside the root only; magic links (such as
/// the target of proc/PID/exe) are never followed. Only regular files are read, never blocking, with a size cap.
/// Copies share the same root; all members may be called from several threads at once.
class Root {
 public:
  static constexpr std::size_t k_default_size_cap = std::size_t{4} << 20;
  static constexpr std::size_t k_max_directory_entries = 200'000;

  /// The tree of this machine.
  [[nodiscard]] static Root live();

  /// The tree that a process of this machine sees as its own: that of its container. Errors: not_found;
  /// permission_denied without the right to look into it (its owner with ptrace rights, or root).
  [[nodiscard]] static Result<Root> of_process(std::int64_t pid);

  /// The link to the file of this program itself, as a path of the machine.
  [[nodiscard]] static const char* own_program_link();

  /// A captured tree (a directory) or a capture file. Errors: usage when the path is neither.
  [[nodiscard]] static Result<Root> open(const std::string& path);

  [[nodiscard]] bool is_live() const;
  /// What the user named: "/" for this machine.
  [[nodiscard]] const std::string& name() const;

  /// The whole content. Errors: not_found, permission_denied, not_a_regular_file, too_large (over `size_cap` bytes),
  /// outside_root, input_output.
  [[nodiscard]] Result<std::string> read(std::string_view path, std::size_t size_cap = k_default_size_cap) const;

  /// At most `size` bytes from the start / from the end, whatever the size of the file.
  [[nodiscard]] Result<FilePart> read_start(std::string_view path, std::size_t size) const;
  [[nodiscard]] Result<FilePart> read_end(std::string_view path, std::size_t size) const;

  /// A regular file for reading by ranges, whatever its size. Errors: as read(), without too_large.
  [[nodiscard]] Result<std::shared_ptr<const RandomAccessFile>> open_file(std::string_view path) const;

  /// The names in a directory, sorted; without "." and "..". Errors: too_large over k_max_directory_entries.
  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(std::string_view path) const;

  /// The target of a symlink as written in it (also of a magic link).
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const;

  [[nodiscard]] Result<FileStatus> status(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;

  /// What a backend must be able to do; see directory_root.cpp and archive_root.cpp.
  class Backend;
  explicit Root(std::shared_ptr<const Backend> backend);

 private:
  std::shared_ptr<const Backend> backend_;
};

class Root::Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual bool is_live() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual Result<std::string> read(std::string_view path, std::size_t size_cap) const = 0;
  [[nodiscard]] virtual Result<FilePart> read_start(std::string_view path, std::size_t size) const = 0;
  [[nodiscard]] virtual Result<FilePart> read_end(std::string_view path, std::size_t size) const = 0;
  [[nodiscard]] virtual Result<std::shared_ptr<const RandomAccessFile>> open_file(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> list(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<std::string> read_link(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<FileStatus> status(std::string_view path) const = 0;
};

/// The backend over a directory. `beneath` is opened once; every later path is resolved inside it by
/// openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) or, where the kernel has no openat2, by a walk that does the same.
enum class PathResolution { automatic, component_walk };
[[nodiscard]] Result<std::shared_ptr<const Root::Backend>> open_directory_root(
    const std::string& directory, PathResolution resolution = PathResolution::automatic);

/// The backend over the text of a capture file. Errors: malformed, with the line. `name` is for messages.
[[nodiscard]] Result<std::shared_ptr<const Root::Backend>> parse_archive_root(std::string text, std::string name);

}  // namespace sparkops
