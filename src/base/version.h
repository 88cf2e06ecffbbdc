#pragma once

#include <string_view>

namespace sparkops {

/// The version of the program, from CMakeLists.txt.
[[nodiscard]] std::string_view version();

}  // namespace sparkops
