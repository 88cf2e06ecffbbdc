#pragma once

#include <optional>
#include <string>

#include "base/root.h"

namespace sparkops::facts {

/// What a capture says of the Python that was at hand (sparkops/software.json): the variables and scripts of version
/// managers that chose it are not all in the capture.
struct CapturedPython {
  std::string interpreter;  ///< empty: there was none
  std::string found_by;
};

/// Nothing on a live machine, and of a capture that does not say it or is malformed.
[[nodiscard]] std::optional<CapturedPython> read_captured_python(const Root& root);

}  // namespace sparkops::facts
