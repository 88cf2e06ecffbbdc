#include "runtime/output_log.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/timestamp.h"

namespace sparkops::runtime {

namespace {

constexpr std::int64_t k_index_every_ms = 10;
constexpr std::size_t k_buffer_size = std::size_t{256} << 10;

}  // namespace

void OutputLog::append(std::string_view content) {
  bytes_ += static_cast<std::int64_t>(content.size());
  if (!log_) return;
  const std::lock_guard lock(mutex_);
  if (!box_.append(*log_, content)) return;
  const std::size_t line = at_line_start_ ? 0 : content.find('\n') + 1;  // npos + 1 is 0
  const bool begins_line = at_line_start_ || (line > 0 && line < content.size());
  const std::int64_t now_ms = Timestamp::now().unix_ms;
  // A clock that was set back must not silence the index.
  if (index_ && begins_line && (now_ms - last_index_ms_ >= k_index_every_ms || now_ms < last_index_ms_)) {
    box_.append(*index_,
                std::to_string(offset_ + static_cast<std::int64_t>(line)) + " " + std::to_string(now_ms) + "\n");
    last_index_ms_ = now_ms;
  }
  offset_ += static_cast<std::int64_t>(content.size());
  at_line_start_ = content.back() == '\n';
}

Pump::Pump(FileDescriptor from, int to, OutputLog& log, Console& console, bool to_terminal)
    : from_(std::move(from)), to_(to), log_(log), console_(console), to_terminal_(to_terminal) {}

void Pump::run() {
  std::vector<char> buffer(k_buffer_size);
  while (from_.valid()) {
    const ssize_t count = ::read(from_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // a terminal whose last user is gone answers EIO
    state_ = State::writing;
    const std::string_view content(buffer.data(), static_cast<std::size_t>(count));
    log_.append(content);
    pass_on(content);
    bytes_ += count;
    state_ = State::reading;
  }
  state_ = State::done;
}

void Pump::pass_on(std::string_view content) {
  std::string_view rest = content;
  while (!rest.empty() && write_error_ == 0) {
    const ssize_t count = ::write(to_, rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      constexpr useconds_t k_pause_us = 1000;  // somebody else made our output non-blocking
      ::usleep(k_pause_us);
    } else if (count < 0 && errno != EINTR) {
      write_error_ = errno;
    }
  }
  // A reader that went away ends the job as it would without us: its next write meets a closed pipe.
  if (write_error_ == EPIPE && !to_terminal_) from_ = FileDescriptor();
  if (to_terminal_) console_.job_wrote(content);
}

}  // namespace sparkops::runtime
