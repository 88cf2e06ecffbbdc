#include "runtime/console.h"

#include <unistd.h>

#include "base/text.h"

namespace sparkops::runtime {

void Console::say(std::string_view text) {
  const std::lock_guard lock(mutex_);
  waiting_ += "sparkops: " + printable(text) + "\n";
  something_waits_ = true;
  // Where stderr is a file or a pipe of its own, nothing of the job stands in it half.
  if (at_line_start_ || ::isatty(STDERR_FILENO) == 0) write_waiting();
}

void Console::job_wrote(std::string_view content) {
  if (content.empty()) return;
  at_line_start_ = content.back() == '\n';
  if (!something_waits_ || !at_line_start_) return;
  const std::lock_guard lock(mutex_);
  write_waiting();
}

void Console::flush() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return;
  if (!at_line_start_ && ::isatty(STDERR_FILENO) != 0) waiting_.insert(0, "\n");
  at_line_start_ = true;
  write_waiting();
}

void Console::write_waiting() {
  std::string text;
  for (const char letter : waiting_) {
    if (letter == '\n' && raw_) text += '\r';
    text += letter;
  }
  waiting_.clear();
  something_waits_ = false;
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t count = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (count <= 0) return;  // nobody hears it: the events file has it
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace sparkops::runtime
