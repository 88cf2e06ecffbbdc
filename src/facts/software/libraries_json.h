#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/software/libraries.h"

namespace sparkops::facts {

/// What sparkops/libraries.json of a capture holds (docs/capture-format.md): of each library what its headers say, and
/// no symbols but those that nothing defined.
struct StoredLibraries {
  struct Entry {
    ElfImage image;
    std::string file_name;                 ///< behind links
    std::vector<UndefinedSymbol> missing;  ///< of `undefined`: what nothing defines
    std::string code_unknown;              ///< why there is no code; empty: there is
    FatBinary code;
  };
  std::map<std::string, Entry> libraries;
  std::map<std::string, std::string> unreadable;                  ///< path → reason
  std::map<std::string, std::vector<std::string>> distributions;  ///< metadata directory → paths
  std::map<std::string, std::string> tool_versions;               ///< path of a CUDA compiler → its version
  std::vector<std::string> other_files;                           ///< that exist and are no library
  std::vector<LoaderCacheEntry> loader_cache;                     ///< of the machine's own architecture
  std::string loader_cache_unknown;                               ///< why there is none; empty: there is
};

[[nodiscard]] std::string libraries_to_json(const StoredLibraries& libraries);

/// Errors: malformed, with the place in the document; too_large for more libraries than a machine has.
[[nodiscard]] Result<StoredLibraries> libraries_from_json(std::string_view text);

}  // namespace sparkops::facts
