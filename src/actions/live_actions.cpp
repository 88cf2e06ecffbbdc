#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "actions/machine_actions.h"
#include "base/file_descriptor.h"
#include "base/text.h"

namespace sparkops::actions {

namespace {

class LiveActions : public MachineActions {
 public:
  explicit LiveActions(std::string tree) : tree_(std::move(tree)) {}

  Result<void> write_back(int file, const std::string& path) override {
    int done = 0;
    do {
      done = ::fdatasync(file);
    } while (done != 0 && errno == EINTR);
    if (done != 0) return tl::unexpected(system_error(printable(path) + ": fdatasync", errno));
    return {};
  }

  Result<void> give_back_pages(int file, const std::string& path) override {
    const int code = ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    if (code != 0) return tl::unexpected(system_error(printable(path) + ": posix_fadvise", code));
    return {};
  }

  Result<void> write_back_everything() override {
    ::sync();
    return {};
  }

  Result<void> drop_caches() override { return write_setting("proc/sys/vm/drop_caches", "3\n"); }
  Result<void> compact_memory() override { return write_setting("proc/sys/vm/compact_memory", "1\n"); }

 private:
  [[nodiscard]] Result<void> write_setting(const char* path, std::string_view value) const {
    const FileDescriptor tree(::open(tree_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!tree.valid()) return tl::unexpected(system_error(printable(tree_), errno));
    const std::string shown = (tree_ == "/" ? tree_ : tree_ + "/") + path;
    const FileDescriptor file(::openat(tree.get(), path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.valid() && errno == EROFS)
      return failure(ErrorKind::permission_denied,
                     shown + " is read-only here, as in a container that is not privileged: run it on the host");
    if (!file.valid()) return tl::unexpected(system_error(shown, errno));
    if (::write(file.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
      return tl::unexpected(system_error(shown, errno));
    return {};
  }

  std::string tree_;
};

}  // namespace

std::unique_ptr<MachineActions> live_actions(std::string tree) {
  return std::make_unique<LiveActions>(std::move(tree));
}

}  // namespace sparkops::actions
