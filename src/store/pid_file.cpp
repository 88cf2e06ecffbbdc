#include "store/pid_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <limits>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "store/report_file.h"

namespace sparkops::store {

std::optional<ProcessMark> parse_pid_file(std::string_view text) {
  const auto words = split_words(trim(text));
  if (words.size() != 2) return std::nullopt;
  const auto pid = parse_integer(words[0]);
  const auto start = parse_integer(words[1]);
  if (!pid || !start || *pid <= 1 || *pid > std::numeric_limits<pid_t>::max() || *start < 0) return std::nullopt;
  return ProcessMark{*pid, *start};
}

std::optional<ProcessMark> read_pid_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  std::array<char, 128> buffer{};  // two numbers
  const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
  if (count <= 0) return std::nullopt;
  return parse_pid_file({buffer.data(), static_cast<std::size_t>(count)});
}

Result<void> write_pid_file(const std::string& path, const ProcessMark& mark) {
  return write_report_file(path, std::to_string(mark.pid) + " " + std::to_string(mark.start_ticks) + "\n");
}

}  // namespace sparkops::store
