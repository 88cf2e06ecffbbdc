#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sparkops::store {

/// One process that a number alone would not name: numbers are given again. `start_ticks` is field 22 of its stat.
struct ProcessMark {
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;
  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};

/// "PID START", as the recorder and the shell sampler of the skills write it.
[[nodiscard]] std::optional<ProcessMark> parse_pid_file(std::string_view text);

/// Nothing when there is no such file or it holds something else.
[[nodiscard]] std::optional<ProcessMark> read_pid_file(const std::string& path);

/// Replaces the file as a whole.
[[nodiscard]] Result<void> write_pid_file(const std::string& path, const ProcessMark& mark);

}  // namespace sparkops::store
