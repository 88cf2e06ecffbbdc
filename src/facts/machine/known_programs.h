#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "facts/workload/workload.h"

namespace sparkops::facts {

enum class ProgramRole {
  server,
  trainer,
  possible_trainer,  ///< a Python program whose script or module is named after training
};

/// A program that is known to take much of the pool.
struct KnownProgram {
  std::string_view name;  ///< "vllm", "torchrun"; for possible trainers the script or module as the words have it
  ProgramRole role = ProgramRole::server;
  std::optional<ServerKind> server;
};

/// Recognises what a running process is by its command line: by the title that workers give themselves
/// ("VLLM::EngineCore"), the program's name, or the module or script that Python runs. Clients of a server and unknown
/// programs are nothing. `words` as in proc/PID/cmdline; the result refers into them.
[[nodiscard]] std::optional<KnownProgram> recognise_program(const std::vector<std::string_view>& words);

/// The same for a process of which only the first 15 bytes of its name are left (zombies).
[[nodiscard]] std::optional<KnownProgram> recognise_title(std::string_view title);

}  // namespace sparkops::facts
