#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// What the words of a command start.
struct Program {
  LaunchRole role = LaunchRole::other;
  Known<ServerKind> server = unknown("no server");
  std::string name;              ///< "vllm", "VLLM::EngineCore", "axolotl train", "train.py"
  std::size_t arguments_at = 0;  ///< index of the first word that is an argument
  bool starts_one_node = false;  ///< torchrun: one node unless told otherwise
};

/// Recognises a launch command or a running process (words as in proc/PID/cmdline) by the title that workers give
/// themselves ("VLLM::EngineCore"), the program's name, or the module or script that Python runs. A program that loads
/// an engine of its own claims the pool like that engine's server and counts as one ("vllm run-batch", "llama-cli").
/// Clients of a server and unknown programs are `other`.
[[nodiscard]] Program recognise_program(const std::vector<std::string_view>& words);

/// Whether a process of which only the first 15 bytes of its name are left (a zombie) is a server or a trainer.
[[nodiscard]] bool is_known_title(std::string_view title);

}  // namespace sparkops::facts
