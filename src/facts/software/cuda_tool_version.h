#pragma once

#include <string>

#include "base/result.h"
#include "base/root.h"

namespace sparkops::facts {

/// "12.9.86" of the text "Cuda compilation tools, release 12.9, V12.9.86" inside a CUDA compiler. Errors: those of
/// reading; not_found when there is no such text.
[[nodiscard]] Result<std::string> read_cuda_tool_version(const Root& root, const std::string& path);

}  // namespace sparkops::facts
