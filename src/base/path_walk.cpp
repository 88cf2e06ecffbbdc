#include "base/path_walk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <vector>

#include "base/text.h"

namespace sparkops {

namespace {

constexpr int k_max_symlinks = 40;  // as the kernel's own limit

/// A trailing slash leaves a ".", which demands a directory in front of it as every component but the last does.
void push_components_in_front(std::deque<std::string>& pending, std::string_view path) {
  std::vector<std::string> components;
  for (const std::string_view part : split(path, '/'))
    if (!part.empty()) components.emplace_back(part);
  if (path.ends_with('/') && !components.empty()) components.emplace_back(".");
  pending.insert(pending.begin(), components.begin(), components.end());
}

/// On procfs the ordinary symlinks (self, mounts, net) are relative; those with an absolute target, one of the form
/// "pipe:[…]" or one that starts with "(unreachable)" are magic: following them leaves the file tree.
bool is_magic_link(int descriptor, std::string_view target) {
  struct statfs file_system{};
  if (::fstatfs(descriptor, &file_system) != 0 || file_system.f_type != PROC_SUPER_MAGIC) return false;
  return target.starts_with('/') || target.starts_with('(') || contains(target, ":");
}

Result<std::string> link_target(int descriptor, const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlinkat(descriptor, "", buffer.data(), buffer.size());
  if (length < 0) return tl::unexpected(system_error(path, errno));
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

}  // namespace

int open_flags(OpenMode mode) {
  switch (mode) {
    case OpenMode::read_file: return O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    case OpenMode::list_directory: return O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    case OpenMode::status_only: return O_PATH | O_CLOEXEC;
  }
  return O_PATH | O_CLOEXEC;
}

Result<FileDescriptor> open_by_walk(int root, const std::string& path, const std::string& shown, OpenMode mode) {
  std::deque<std::string> pending;
  push_components_in_front(pending, path);
  std::vector<FileDescriptor> parents;  // the directories entered, innermost last; the root itself is not in it
  const auto here = [&] { return parents.empty() ? root : parents.back().get(); };
  int symlinks = 0;

  while (!pending.empty()) {
    const std::string name = std::move(pending.front());
    pending.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      if (!parents.empty()) parents.pop_back();
      continue;
    }
    FileDescriptor entry(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!entry.valid()) return tl::unexpected(system_error(shown, errno));
    struct stat status{};
    if (::fstat(entry.get(), &status) != 0) return tl::unexpected(system_error(shown, errno));

    if (S_ISLNK(status.st_mode)) {
      if (++symlinks > k_max_symlinks) return tl::unexpected(system_error(shown, ELOOP));
      const auto target = link_target(entry.get(), shown);
      if (!target) return tl::unexpected(target.error());
      if (is_magic_link(entry.get(), *target)) return tl::unexpected(system_error(shown, ELOOP));
      if (target->starts_with('/')) parents.clear();
      push_components_in_front(pending, *target);
    } else if (S_ISDIR(status.st_mode)) {
      parents.push_back(std::move(entry));
    } else if (!pending.empty()) {
      return tl::unexpected(system_error(shown, ENOTDIR));
    } else if (mode == OpenMode::read_file && !S_ISREG(status.st_mode)) {
      return failure(ErrorKind::not_a_regular_file, shown + ": not a regular file");
    } else {
      FileDescriptor file(::openat(here(), name.c_str(), open_flags(mode) | O_NOFOLLOW));
      if (!file.valid()) return tl::unexpected(system_error(shown, errno));
      return file;
    }
  }
  FileDescriptor directory(::openat(here(), ".", open_flags(mode)));
  if (!directory.valid()) return tl::unexpected(system_error(shown, errno));
  return directory;
}

}  // namespace sparkops
