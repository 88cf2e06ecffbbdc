#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sparkops::testing {

struct ProgramResult {
  int exit_code = -1;  ///< 128+n when it died by signal n, 200 when it did not end in time
  std::string out, err;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Another user than this test's, and a copy of the program that this user may run.
struct RunAs {
  std::string program;        ///< empty: the built one
  std::optional<uid_t> user;  ///< needs root
};

/// Runs the built program with stdin closed and NO_COLOR set. `environment` is added to this process's own.
[[nodiscard]] ProgramResult run_sparkops(const std::vector<std::string>& arguments, const Environment& environment = {},
                                         const RunAs& who = {});

/// The capture of a fixture machine.
[[nodiscard]] std::string machine_path(const std::string& name);

/// The rest of the line that starts with `start`, or "" when there is none.
[[nodiscard]] std::string line_after(const std::string& text, const std::string& start);

}  // namespace sparkops::testing
