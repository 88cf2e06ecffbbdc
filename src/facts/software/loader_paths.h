#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/software/libraries.h"

/// The directories of the dynamic loader, see ld.so(8).
namespace sparkops::facts {

/// $ORIGIN (the directory of the library), $LIB and $PLATFORM, with or without braces; others stay as they are.
[[nodiscard]] std::string expand_loader_path(std::string_view path, std::string_view library, ElfMachine machine);

/// The directories of DT_RPATH, as normal_path writes them; none where there is a DT_RUNPATH too. Empty parts are left
/// out.
[[nodiscard]] std::vector<std::string> rpath_directories(const Library& library);
/// The directories of DT_RUNPATH.
[[nodiscard]] std::vector<std::string> runpath_directories(const Library& library);

/// Where the loader looks last.
[[nodiscard]] const std::vector<std::string>& default_directories(ElfMachine machine);

}  // namespace sparkops::facts
