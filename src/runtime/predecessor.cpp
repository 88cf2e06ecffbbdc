#include "runtime/predecessor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/file_descriptor.h"
#include "base/root.h"
#include "base/text.h"
#include "facts/machine/process_files.h"

namespace sparkops::runtime {

namespace {

constexpr int k_patience_ms = 5000;

std::optional<std::int64_t> start_ticks_of(std::int64_t pid) {
  const auto text = Root::live().read(fmt::format("proc/{}/stat", pid));
  if (!text) return std::nullopt;
  const auto stat = facts::parse_process_stat(*text);
  // A zombie has ended; only its parent has not looked yet.
  if (!stat || stat->state == "Z") return std::nullopt;
  return stat->start_ticks;
}

/// sparkops under whatever version its file carries, or the nvidia-smi of the shell sampler: a pid file that somebody
/// else wrote must not end a training run.
bool is_recorder(std::int64_t pid) {
  const auto name = Root::live().read(fmt::format("proc/{}/comm", pid));
  return name && (name->starts_with("sparkops") || trim(*name) == "nvidia-smi");
}

}  // namespace

Result<store::ProcessMark> own_mark() {
  const std::int64_t pid = ::getpid();
  const auto start = start_ticks_of(pid);
  if (!start) return failure(ErrorKind::unsupported, "the start time of this process cannot be read");
  return store::ProcessMark{pid, *start};
}

Result<std::optional<std::int64_t>> stop_predecessor(const std::string& pid_file) {
  const auto mark = store::read_pid_file(pid_file);
  if (!mark || mark->pid == ::getpid()) return std::nullopt;
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, mark->pid, 0)));
  // From here on the number cannot be given to another process without this descriptor saying that it ended.
  if (!process.valid() || start_ticks_of(mark->pid) != mark->start_ticks || !is_recorder(mark->pid))
    return std::nullopt;
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH)
    return tl::unexpected(
        system_error(fmt::format("{}: ending the recorder before (pid {})", pid_file, mark->pid), errno));
  pollfd ended{process.get(), POLLIN, 0};
  if (::poll(&ended, 1, k_patience_ms) <= 0)
    return failure(ErrorKind::timed_out,
                   fmt::format("{}: the recorder before (pid {}) does not end", pid_file, mark->pid));
  return mark->pid;
}

}  // namespace sparkops::runtime
