#include "base/root.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace sparkops {

namespace {

constexpr std::size_t k_archive_size_cap = std::size_t{256} << 20;

/// A file the user named on the command line, read whole through the ordinary file system.
Result<std::string> read_user_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return tl::unexpected(system_error(path, errno));
  std::string content;
  std::string buffer(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(system_error(path, errno));
    if (count == 0) return content;
    content.append(buffer, 0, static_cast<std::size_t>(count));
    if (content.size() > k_archive_size_cap)
      return failure(ErrorKind::too_large, path + ": larger than 256 MiB, so no capture");
  }
}

}  // namespace

Root::Root(std::shared_ptr<const Backend> backend) : backend_(std::move(backend)) {}

Root Root::live() {
  static const Result<std::shared_ptr<const Backend>> backend = open_directory_root("/");
  // "/" can always be opened; were it not so, nothing else on this machine would work either.
  return Root(backend.value());
}

Result<Root> Root::of_process(std::int64_t pid) {
  // The one magic link that is followed: by the name of a number, not by a path that somebody wrote.
  return open_directory_root("/proc/" + std::to_string(pid) + "/root").map([](auto backend) {
    return Root(std::move(backend));
  });
}

const char* Root::own_program_link() {
  return "/proc/self/exe";
}

Result<Root> Root::open(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return failure(ErrorKind::usage, system_error("--root " + path, errno).message);
  if (S_ISDIR(status.st_mode))
    return open_directory_root(path).map([](auto backend) { return Root(std::move(backend)); });
  if (!S_ISREG(status.st_mode))
    return failure(ErrorKind::usage, "--root " + path + ": neither a directory nor a capture file (*.machine)");
  return read_user_file(path)
      .and_then([&](std::string text) { return parse_archive_root(std::move(text), path); })
      .map([](auto backend) { return Root(std::move(backend)); });
}

bool Root::is_live() const {
  return backend_->is_live();
}
const std::string& Root::name() const {
  return backend_->name();
}
Result<std::string> Root::read(std::string_view path, std::size_t size_cap) const {
  return backend_->read(path, size_cap);
}
Result<FilePart> Root::read_start(std::string_view path, std::size_t size) const {
  return backend_->read_start(path, size);
}
Result<FilePart> Root::read_end(std::string_view path, std::size_t size) const {
  return backend_->read_end(path, size);
}
Result<std::shared_ptr<const RandomAccessFile>> Root::open_file(std::string_view path) const {
  return backend_->open_file(path);
}
Result<std::vector<DirectoryEntry>> Root::list(std::string_view path) const {
  return backend_->list(path);
}
Result<std::string> Root::read_link(std::string_view path) const {
  return backend_->read_link(path);
}
Result<FileStatus> Root::status(std::string_view path) const {
  return backend_->status(path);
}
bool Root::exists(std::string_view path) const {
  return backend_->status(path).has_value();
}

}  // namespace sparkops
