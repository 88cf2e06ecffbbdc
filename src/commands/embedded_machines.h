#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sparkops::commands {

/// One recorded machine as compiled in; `name` is that of its capture file ("spark-wedged"), `content` the capture,
/// whose first comment line is its story. The views live as long as the program.
struct EmbeddedMachine {
  std::string_view name;
  std::string_view content;
};

[[nodiscard]] std::vector<EmbeddedMachine> embedded_machines();

}  // namespace sparkops::commands
