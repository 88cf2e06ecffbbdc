#include "facts/machine/file_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "base/file_descriptor.h"
#include "base/text.h"

namespace sparkops::facts {

namespace {

class Walk {
 public:
  Result<void> start(const std::string& path) {
    const FileDescriptor start(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status{};
    if (!start.valid() || ::fstat(start.get(), &status) != 0)
      return tl::unexpected(system_error(printable(path), errno));
    if (S_ISREG(status.st_mode)) {
      add(path, status);
      return {};
    }
    if (!S_ISDIR(status.st_mode))
      return failure(ErrorKind::not_a_regular_file, printable(path) + ": neither a file nor a directory");
    FileDescriptor directory(::openat(start.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid()) return tl::unexpected(system_error(printable(path), errno));
    const std::size_t end = path.find_last_not_of('/');
    enter(std::move(directory), end == std::string::npos ? "" : path.substr(0, end + 1), status.st_dev, 0);
    return {};
  }

  [[nodiscard]] WalkedFiles take() { return std::move(found_); }

 private:
  void enter(FileDescriptor directory, const std::string& path, dev_t device, int depth) {
    const int descriptor = directory.release();
    DIR* const stream = ::fdopendir(descriptor);
    if (stream == nullptr) {
      ::close(descriptor);
      ++found_.unreadable;
      return;
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> owner(stream, ::closedir);
    std::vector<std::string> names;
    while (const dirent* const entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (names.size() > k_most_walked_files) break;
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (found_.files.size() >= k_most_walked_files) {
        found_.all = false;
        return;
      }
      look_at(descriptor, name, path + "/" + name, device, depth);
    }
  }

  void look_at(int directory, const std::string& name, const std::string& path, dev_t device, int depth) {
    struct stat status{};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;  // gone meanwhile
    if (S_ISLNK(status.st_mode)) ++found_.symlinks;
    if (S_ISREG(status.st_mode) && status.st_dev == device) add(path, status);
    if (!S_ISDIR(status.st_mode)) return;
    if (status.st_dev != device) {
      ++found_.other_file_systems;
      return;
    }
    if (depth >= k_deepest_walk) {
      found_.all = false;
      return;
    }
    FileDescriptor inner(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner.valid())
      enter(std::move(inner), path, device, depth + 1);
    else
      ++found_.unreadable;
  }

  void add(const std::string& path, const struct stat& status) {
    if (seen_.emplace(status.st_dev, status.st_ino).second) found_.files.push_back(path);
  }

  WalkedFiles found_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

Result<WalkedFiles> walk_files(const std::vector<std::string>& paths) {
  Walk walk;
  for (const std::string& path : paths)
    if (const auto started = walk.start(path); !started) return tl::unexpected(started.error());
  return walk.take();
}

}  // namespace sparkops::facts
