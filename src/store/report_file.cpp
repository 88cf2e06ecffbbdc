#include "store/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "base/file_descriptor.h"

namespace sparkops::store {

namespace {

Result<void> write_all(int file, const std::string& content, const std::string& path) {
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t count = ::write(file, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(system_error(path, errno));
    written += static_cast<std::size_t>(count);
  }
  return {};
}

/// O_NONBLOCK: a FIFO without a reader is an error, not a wait without end.
Result<void> write_into(const std::string& path, const std::string& content) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return tl::unexpected(system_error(path, errno));
  return write_all(file.get(), content, path);
}

Result<void> replace(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".tmp." + std::to_string(::getpid());
  constexpr mode_t k_mode = 0644;
  const FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, k_mode));
  if (!file.valid()) return tl::unexpected(system_error(path, errno));
  Result<void> result = write_all(file.get(), content, path);
  if (result && ::fsync(file.get()) != 0) result = tl::unexpected(system_error(path, errno));
  if (result && ::rename(temporary.c_str(), path.c_str()) != 0) result = tl::unexpected(system_error(path, errno));
  if (!result) ::unlink(temporary.c_str());
  return result;
}

}  // namespace

Result<void> write_report_file(const std::string& path, const std::string& content) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
  const std::string target = resolved ? std::string(resolved.get()) : path;
  struct stat status{};
  if (::stat(target.c_str(), &status) != 0) return replace(target, content);
  if (S_ISDIR(status.st_mode)) return failure(ErrorKind::usage, path + ": is a directory; name a file");
  return S_ISREG(status.st_mode) ? replace(target, content) : write_into(path, content);
}

}  // namespace sparkops::store
