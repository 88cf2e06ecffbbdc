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

namespace sparkops {

namespace {

FileKind kind_of_mode(unsigned mode) {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::directory;
  if (S_ISLNK(mode)) return FileKind::symlink;
  return FileKind::other;
}

FileKind kind_of_entry(unsigned char type) {
  switch (type) {
    case DT_REG: return FileKind::regular;
    case DT_DIR: return FileKind::directory;
    case DT_LNK: return FileKind::symlink;
    default: return FileKind::other;
  }
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
    const auto wanted = static_cast<off_t>(size);
    const bool complete = status.st_size <= wanted;
    if (!complete && ::lseek(file->get(), status.st_size - wanted, SEEK_SET) < 0)
      return tl::unexpected(system_error(shown(path), errno));
    auto part = read_from(file->get(), path, size);
    if (part) part->complete = complete;
    return part;
  }

  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(std::string_view path) const override {
    auto directory = open_path(path, OpenMode::list_directory);
    if (!directory) return tl::unexpected(directory.error());
    DIR* const stream = ::fdopendir(::dup(directory->get()));
    if (stream == nullptr) return tl::unexpected(system_error(shown(path), errno));
    const std::unique_ptr<DIR, int (*)(DIR*)> owner(stream, ::closedir);

    std::vector<DirectoryEntry> entries;
    while (const dirent* const entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (entries.size() == Root::k_max_directory_entries)
        return failure(ErrorKind::too_large, shown(path) + ": more entries than are read");
      entries.push_back({std::string(name), kind_of_entry(entry->d_type)});
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
  }

  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    const std::string relative_path = relative(path);
    const std::size_t slash = relative_path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : relative_path.substr(0, slash);
    const std::string name = slash == std::string::npos ? relative_path : relative_path.substr(slash + 1);
    const auto directory = open_path(parent, OpenMode::status_only);
    if (!directory) return tl::unexpected(directory.error());
    std::array<char, PATH_MAX> buffer{};
    const ssize_t length = ::readlinkat(directory->get(), name.c_str(), buffer.data(), buffer.size());
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
    return (name_ == "/" ? "/" : name_ + "/") + relative(path);
  }

  [[nodiscard]] Result<FileDescriptor> open_path(std::string_view path, OpenMode mode) const {
    const std::string relative_path = relative(path);
    if (relative_path.find('\0') != std::string::npos) return failure(ErrorKind::not_found, "a path with a NUL byte");
    if (!use_openat2_) {
      return open_by_walk(root_.get(), relative_path, mode).map_error([&](Error error) {
        return Error{error.kind, (name_ == "/" ? "/" : name_ + "/") + error.message};
      });
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

  /// Up to `size` bytes from the current position; `complete` says whether the file ends there.
  [[nodiscard]] Result<FilePart> read_from(int file, std::string_view path, std::size_t size) const {
    constexpr std::size_t k_step = std::size_t{64} << 10;
    FilePart part;
    while (part.bytes.size() <= size) {
      const std::size_t have = part.bytes.size();
      const std::size_t want = std::min(k_step, size + 1 - have);
      part.bytes.resize(have + want);
      const ssize_t count = ::read(file, part.bytes.data() + have, want);
      part.bytes.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return tl::unexpected(system_error(shown(path), errno));
      if (count == 0) return part;
    }
    part.bytes.resize(size);
    part.complete = false;
    return part;
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
