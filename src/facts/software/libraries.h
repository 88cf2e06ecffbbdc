#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "facts/software/distribution.h"
#include "facts/software/elf_image.h"
#include "facts/software/elf_symbols.h"
#include "facts/software/fat_binary.h"
#include "facts/software/loader_cache.h"

namespace sparkops::facts {

struct StoredLibraries;

/// What is known of one library file. `image` holds no symbols: they are asked for when they are needed.
struct Library {
  std::string path;  ///< absolute, as it was asked for
  ElfImage image;
};

/// The library files of one root, each read once. On a captured machine what sparkops/libraries.json holds stands for
/// the files themselves. One thread at a time.
class Libraries {
 public:
  explicit Libraries(Root root);
  ~Libraries();
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

  [[nodiscard]] const Root& root() const;

  /// The headers and the dynamic section. Errors: as read_elf_image; not_found.
  [[nodiscard]] Result<const Library*> at(const std::string& path);
  /// The code objects inside; read on the first call.
  [[nodiscard]] Result<const FatBinary*> fat_binary(const std::string& path);
  /// What the library uses and does not define.
  [[nodiscard]] Result<const std::vector<UndefinedSymbol>*> undefined(const std::string& path);
  /// Whether it defines the symbol for others.
  [[nodiscard]] Result<bool> exports(const std::string& path, std::string_view symbol, std::string_view version);

  /// Whether there is a file of that path (directories are listed once and remembered).
  [[nodiscard]] bool exists(const std::string& path);
  /// The same for a name in a directory that is written as normal_path writes it.
  [[nodiscard]] bool holds(const std::string& normal_directory, std::string_view name);
  /// The files in a directory whose names are those of shared objects ("libx.so.1", "_C.cpython-312-….so"), sorted;
  /// absolute paths. Empty where there is no such directory.
  [[nodiscard]] std::vector<std::string> in_directory(const std::string& directory);
  /// The directories in a directory, sorted; absolute paths.
  [[nodiscard]] std::vector<std::string> directories_in(const std::string& directory);

  /// The loader's cache for `machine`; unknown with the reason where it cannot be read.
  [[nodiscard]] const Known<std::vector<LoaderCacheEntry>>& loader_cache(ElfMachine machine);

  /// The shared objects that a distribution installed, as it lists them. Errors: those of distribution_files.
  [[nodiscard]] Result<const std::vector<std::string>*> of_distribution(const Distribution& distribution);
  /// The name of the file behind the links of a path ("libcudart.so.13.0.96"); the path's own where there are none.
  [[nodiscard]] std::string file_name(const std::string& path);
  /// The release of a CUDA compiler, see read_cuda_tool_version.
  [[nodiscard]] Result<std::string> tool_version(const std::string& path);

  /// Everything that was asked for so far, for a capture; symbols are left out.
  [[nodiscard]] StoredLibraries stored_form() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "libx.so", "libx.so.1.2", "_C.abi3.so": by the name alone.
[[nodiscard]] bool is_library_name(std::string_view name);

/// Without "." and "..", doubled slashes and a slash at the end; purely of the text.
[[nodiscard]] std::string normal_path(std::string_view path);

}  // namespace sparkops::facts
