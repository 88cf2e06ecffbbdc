#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sparkops::knowledge {

/// One file of knowledge/ as compiled in; `name` is its stem ("gotchas"), the view lives as long as the program.
struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

[[nodiscard]] std::vector<EmbeddedFile> embedded_files();

}  // namespace sparkops::knowledge
