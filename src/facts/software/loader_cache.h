#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/software/elf_image.h"

namespace sparkops::facts {

/// One line of `ldconfig -p`.
struct LoaderCacheEntry {
  std::string soname;
  std::string path;
  bool is_for_processor_level = false;  ///< of a glibc-hwcaps directory: used only on processors of that level
};

/// The libraries of `machine` in etc/ld.so.cache, in its order; both formats of glibc (the newer alone or behind the
/// older one). Errors: malformed, with `name`; counts are checked against the size of the text.
[[nodiscard]] Result<std::vector<LoaderCacheEntry>> parse_loader_cache(std::string_view text, ElfMachine machine,
                                                                       const std::string& name);

}  // namespace sparkops::facts
