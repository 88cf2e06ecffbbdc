#include "store/capture_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/file_descriptor.h"

namespace sparkops::store {

namespace {

namespace fs = std::filesystem;

constexpr mode_t k_file_mode = 0644, k_directory_mode = 0755;

tl::unexpected<Error> taken(const std::string& path) {
  return failure(ErrorKind::usage, path + ": exists already; choose another name or remove it first");
}

Result<void> write_all(int file, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(system_error(path, errno));
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// A new file; never one that exists, nor through a link.
Result<void> write_new_file(const std::string& path, std::string_view content, bool sync) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, k_file_mode));
  if (!file.valid()) return tl::unexpected(system_error(path, errno));
  if (auto written = write_all(file.get(), path, content); !written) return written;
  if (sync && ::fsync(file.get()) != 0) return tl::unexpected(system_error(path, errno));
  return {};
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

/// The name is free and lies in a directory.
Result<void> check_name(const std::string& path) {
  if (exists(path)) return taken(path);
  const fs::path parent = fs::path(path).parent_path();
  std::error_code ignored;
  if (!parent.empty() && !fs::is_directory(parent, ignored))
    return failure(ErrorKind::usage, parent.string() + ": no directory to write in");
  return {};
}

/// Gives a finished file or tree its name unless that was taken meanwhile.
Result<void> publish(const std::string& temporary, const std::string& path) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return taken(path);
  // Some file systems know no renameat2 with flags.
  if (errno != EINVAL && errno != ENOSYS) return tl::unexpected(system_error(path, errno));
  if (exists(path)) return taken(path);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return tl::unexpected(system_error(path, errno));
  return {};
}

Result<void> write_tree_entry(const std::string& root, const ArchiveEntry& entry) {
  const fs::path path = fs::path(root) / entry.path;
  std::error_code code;
  fs::create_directories(entry.kind == ArchiveKind::directory && !entry.unreadable ? path : path.parent_path(), code);
  if (code) return tl::unexpected(system_error(path.string(), code.value()));
  std::string target;
  if (entry.unreadable) target = path.filename().string();
  if (entry.kind == ArchiveKind::link || entry.kind == ArchiveKind::magic_link) target = entry.target;
  if (!target.empty()) {
    // A directory that could be entered but not listed has what lies in it; it stays a directory.
    if (::symlink(target.c_str(), path.c_str()) != 0 && errno != EEXIST)
      return tl::unexpected(system_error(path.string(), errno));
    return {};
  }
  return entry.kind == ArchiveKind::file ? write_new_file(path.string(), entry.content, false) : Result<void>{};
}

std::string temporary_name(const std::string& path) {
  return path + ".part-" + std::to_string(::getpid());
}

}  // namespace

Result<void> check_capture_name(const std::string& path) {
  return check_name(path);
}

Result<Written> write_capture_file(const std::string& path, const std::vector<ArchiveEntry>& entries) {
  if (auto usable = check_name(path); !usable) return tl::unexpected(usable.error());
  const std::string temporary = temporary_name(path);
  const std::string content = write_archive(entries);
  auto result = write_new_file(temporary, content, true).and_then([&] { return publish(temporary, path); });
  if (result) return Written{1, {static_cast<std::int64_t>(content.size())}};
  ::unlink(temporary.c_str());
  return tl::unexpected(result.error());
}

Result<Written> write_capture_tree(const std::string& path, const std::vector<ArchiveEntry>& entries) {
  if (auto usable = check_name(path); !usable) return tl::unexpected(usable.error());
  const std::string temporary = temporary_name(path);
  if (::mkdir(temporary.c_str(), k_directory_mode) != 0) return tl::unexpected(system_error(temporary, errno));
  Result<void> result;
  Written written;
  for (const ArchiveEntry& entry : entries) {
    if (result) result = write_tree_entry(temporary, entry);
    if (entry.kind != ArchiveKind::file || entry.unreadable) continue;
    ++written.files;
    written.size += {static_cast<std::int64_t>(entry.content.size())};
  }
  if (result) result = publish(temporary, path);
  if (result) return written;
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  return tl::unexpected(result.error());
}

}  // namespace sparkops::store
