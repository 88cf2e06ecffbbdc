#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/path_walk.h"
#include "base/root.h"
#include "base/text.h"

namespace sparkops {

namespace {

constexpr std::size_t k_shown_path = 256;                       // bytes of a path in a message
constexpr std::size_t k_step = std::size_t{64} << 10;           // bytes of one read(2)
constexpr std::size_t k_largest_part = std::size_t{1} << 40;    // no file is wanted in larger pieces
constexpr std::size_t k_most_dropped = std::size_t{256} << 20;  // on the way to an end that stat does not tell

FileKind kind_of_mode(unsigned mode) {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::directory;
  if (S_ISLNK(mode)) return FileKind::symlink;
  return FileKind::other;
}

/// Not every file system says in the directory itself what an entry is.
FileKind kind_of_entry(int directory, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG: return FileKind::regular;
    case DT_DIR: return FileKind::directory;
    case DT_LNK: return FileKind::symlink;
    case DT_UNKNOWN: break;
    default: return FileKind::other;
  }
  struct stat status{};
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return FileKind::other;
  return kind_of_mode(status.st_mode);
}

/// Relative to the root: without leading slashes, "." for the root itself.
std::string relative(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return path.empty() ? "." : std::string(path);
}

class DirectoryRoot final : public Root::Backend {
 public:
  DirectoryRoot(FileDescriptor root, std::string name, bool use_openat2)
      : root_(std::move(root)), name_(std::move(name)), use_openat2_(use_openat2) {}

  [[nodiscard]] bool is_live() const override { return name_ == "/"; }
  [[nodiscard]] const std::string& name() const override { return name_; }

  [[nodiscard]] Result<std::string> read(std::string_view path, std::size_t size_cap) const override {
    const auto file = open_regular(path);
    if (!file) return tl::unexpected(file.error());
    auto part = read_from(file->get(), path, size_cap);
    if (!part) return tl::unexpected(part.error());
    if (!part->complete)
      return failure(ErrorKind::too_large,
                     shown(path) + ": larger than the " + std::to_string(size_cap) + " bytes that are read");
    return std::move(part->bytes);
  }

  [[nodiscard]] Result<FilePart> read_start(std::string_view path, std::size_t size) const override {
    const auto file = open_regular(path);
    if (!file) return tl::unexpected(file.error());
    return read_from(file->get(), path, size);
  }

  [[nodiscard]] Result<FilePart> read_end(std::string_view path, std::size_t size) const override {
    const auto file = open_regular(path);
    if (!file) return tl::unexpected(file.error());
    struct stat status{};
    if (::fstat(file->get(), &status) != 0) return tl::unexpected(system_error(shown(path), errno));
    const auto wanted = static_cast<off_t>(std::min(size, k_largest_part));
    const bool skips = status.st_size > wanted;
    if (skips && ::lseek(file->get(), status.st_size - wanted, SEEK_SET) < 0)
      return tl::unexpected(system_error(shown(path), errno));
    return read_tail_from(file->get(), path, static_cast<std::size_t>(wanted)).map([&](FilePart part) {
      part.complete = part.complete && !skips;
      return part;
    });
  }

  [[nodiscard]] Result<std::shared_ptr<const RandomAccessFile>> open_file(std::string_view path) const override {
    auto file = open_regular(path);
    if (!file) return tl::unexpected(file.error());
    return open_disk_file(std::move(*file), shown(path));
  }

  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(std::string_view path) const override {
    auto directory = open_path(path, OpenMode::list_directory);
    if (!directory) return tl::unexpected(directory.error());
    DIR* const stream = ::fdopendir(directory->get());
    if (stream == nullptr) return tl::unexpected(system_error(shown(path), errno));
    const int descriptor = directory->release();  // the stream owns it now
    const std::unique_ptr<DIR, int (*)(DIR*)> owner(stream, ::closedir);

    std::vector<DirectoryEntry> entries;
    while (true) {
      errno = 0;
      const dirent* const entry = ::readdir(stream);
      if (entry == nullptr && errno != 0) return tl::unexpected(system_error(shown(path), errno));
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (entries.size() == Root::k_max_directory_entries)
        return failure(ErrorKind::too_large, shown(path) + ": more entries than are read");
      entries.push_back({std::string(name), kind_of_entry(descriptor, *entry)});
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
  }

  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    const std::string relative_path = relative(path);
    const std::size_t slash = relative_path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : relative_path.substr(0, slash);
    const std::string name = slash == std::string::npos ? relative_path : relative_path.substr(slash + 1);
    // The whole path is checked as others are; a trailing slash asks for the directory behind a link.
    if (name.empty() || name.find('\0') != std::string::npos || relative_path.size() >= PATH_MAX) {
      return open_path(path, OpenMode::status_only).and_then([&](const FileDescriptor&) -> Result<std::string> {
        return failure(ErrorKind::input_output, shown(path) + ": not a symlink");
      });
    }
    const auto directory = open_path(parent, OpenMode::status_only);
    if (!directory) return tl::unexpected(directory.error());
    std::array<char, PATH_MAX> buffer{};
    const ssize_t length = ::readlinkat(directory->get(), name.c_str(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINVAL) return failure(ErrorKind::input_output, shown(path) + ": not a symlink");
    if (length < 0) return tl::unexpected(system_error(shown(path), errno));
    return std::string(buffer.data(), static_cast<std::size_t>(length));
  }

  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override {
    const auto file = open_path(path, OpenMode::status_only);
    if (!file) return tl::unexpected(file.error());
    struct stat status{};
    if (::fstat(file->get(), &status) != 0) return tl::unexpected(system_error(shown(path), errno));
    return FileStatus{kind_of_mode(status.st_mode), status.st_size, status.st_mode & 07777U, status.st_uid,
                      Timestamp{status.st_mtim.tv_sec * std::int64_t{1000} + status.st_mtim.tv_nsec / 1'000'000}};
  }

 private:
  /// The path as messages name it.
  [[nodiscard]] std::string shown(std::string_view path) const {
    return (name_ == "/" ? "/" : name_ + "/") + printable(relative(path), k_shown_path);
  }

  [[nodiscard]] Result<FileDescriptor> open_path(std::string_view path, OpenMode mode) const {
    const std::string relative_path = relative(path);
    if (relative_path.find('\0') != std::string::npos)
      return failure(ErrorKind::not_found, shown(path) + ": a path with a NUL byte");
    if (relative_path.size() >= PATH_MAX) return tl::unexpected(system_error(shown(path), ENAMETOOLONG));
    if (!use_openat2_) {
      return open_by_walk(root_.get(), relative_path, shown(path), mode);
    }
    open_how how{};
    how.flags = static_cast<std::uint64_t>(open_flags(mode));
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    long descriptor = -1;
    // EAGAIN: the kernel could not rule out a concurrent rename; it asks to be called again.
    constexpr int k_tries = 16;
    for (int attempt = 0; attempt < k_tries && descriptor < 0; ++attempt) {
      descriptor = ::syscall(SYS_openat2, root_.get(), relative_path.c_str(), &how, sizeof how);
      if (descriptor < 0 && errno != EAGAIN && errno != EINTR) break;
    }
    // A socket cannot be opened at all; other things that are no regular file are refused by open_regular.
    if (descriptor < 0 && errno == ENXIO && mode == OpenMode::read_file)
      return failure(ErrorKind::not_a_regular_file, shown(path) + ": not a regular file");
    if (descriptor < 0) return tl::unexpected(system_error(shown(path), errno));
    return FileDescriptor(static_cast<int>(descriptor));
  }

  [[nodiscard]] Result<FileDescriptor> open_regular(std::string_view path) const {
    auto file = open_path(path, OpenMode::read_file);
    if (!file) return file;
    struct stat status{};
    if (::fstat(file->get(), &status) != 0) return tl::unexpected(system_error(shown(path), errno));
    if (!S_ISREG(status.st_mode)) return failure(ErrorKind::not_a_regular_file, shown(path) + ": not a regular file");
    return file;
  }

  /// Appends what one read(2) of at most `want` bytes gives; 0 at the end of the file.
  [[nodiscard]] Result<std::size_t> append(int file, std::string_view path, std::size_t want,
                                           std::string& bytes) const {
    const std::size_t have = bytes.size();
    bytes.resize(have + want);
    ssize_t count = 0;
    do {
      count = ::read(file, bytes.data() + have, want);
    } while (count < 0 && errno == EINTR);
    const int code = errno;
    bytes.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) return tl::unexpected(system_error(shown(path), code));
    return static_cast<std::size_t>(count);
  }

  /// Up to `size` bytes from the current position; `complete` says whether the file ends there.
  [[nodiscard]] Result<FilePart> read_from(int file, std::string_view path, std::size_t size) const {
    size = std::min(size, k_largest_part);
    FilePart part;
    while (part.bytes.size() <= size) {
      const auto count = append(file, path, std::min(k_step, size + 1 - part.bytes.size()), part.bytes);
      if (!count) return tl::unexpected(count.error());
      if (*count == 0) return part;
    }
    part.bytes.resize(size);
    part.complete = false;
    return part;
  }

  /// The last `size` bytes of what follows the current position. Files of proc have a size of 0 for stat and a log can
  /// grow meanwhile, so the end is where read(2) says it is.
  [[nodiscard]] Result<FilePart> read_tail_from(int file, std::string_view path, std::size_t size) const {
    FilePart tail;
    std::size_t dropped = 0;
    const auto keep_end = [&] {
      const std::size_t excess = tail.bytes.size() - std::min(size, tail.bytes.size());
      tail.bytes.erase(0, excess);
      dropped += excess;
    };
    while (dropped <= k_most_dropped) {
      const auto count = append(file, path, k_step, tail.bytes);
      if (!count) return tl::unexpected(count.error());
      if (*count == 0) {
        keep_end();
        tail.complete = dropped == 0;
        return tail;
      }
      if (tail.bytes.size() > 2 * size + k_step) keep_end();
    }
    return failure(ErrorKind::too_large, shown(path) + ": goes on for more than 256 MiB behind the size it states");
  }

  FileDescriptor root_;
  std::string name_;
  bool use_openat2_;
};

bool kernel_has_openat2() {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  const FileDescriptor probe(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how)));
  return probe.valid();
}

}  // namespace

Result<std::shared_ptr<const Root::Backend>> open_directory_root(const std::string& directory,
                                                                 PathResolution resolution) {
  FileDescriptor root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return tl::unexpected(system_error(directory, errno));
  const bool use_openat2 = resolution == PathResolution::automatic && kernel_has_openat2();
  return std::make_shared<const DirectoryRoot>(std::move(root), directory, use_openat2);
}

}  // namespace sparkops
