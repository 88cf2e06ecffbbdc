#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/software/libraries.h"

namespace sparkops::facts {

/// What a process has already loaded when it comes to a library, and where it looks besides.
struct LoaderContext {
  ElfMachine machine = ElfMachine::aarch64;   ///< of the interpreter
  std::string program;                        ///< its path, when known: its needs are loaded before all others
  std::vector<std::string> library_path;      ///< LD_LIBRARY_PATH, in its order; empty parts mean "." and are left out
  std::map<std::string, std::string> loaded;  ///< soname → path: what was loaded before satisfies a need by its soname
  std::vector<std::string> global;            ///< paths whose symbols everyone sees (RTLD_GLOBAL, the program's own)
};

/// LD_LIBRARY_PATH as the loader splits it (colons and semicolons).
[[nodiscard]] std::vector<std::string> split_library_path(std::string_view text);

enum class NeedStatus {
  found,
  not_found,
  wrong_machine,  ///< only files for another processor have that name
  unreadable,     ///< there is a file and it is no ELF file, or cannot be read
};

/// One entry of the closure of DT_NEEDED.
struct ResolvedNeed {
  std::string soname;
  std::string needed_by;  ///< path of the library that names it
  NeedStatus status = NeedStatus::not_found;
  std::string path;              ///< of what was found; of the file for another machine; empty when not found
  std::string reason;            ///< for unreadable
  std::string other_version;     ///< not found, but the loader would find this: "libcudart.so.13" for "libcudart.so.12"
  std::string other_version_at;  ///< its path
};

/// A version that a library demands of another one that does not define it: loading ends with
/// "version `X' not found (required by …)".
struct MissingVersion {
  std::string needed_by;  ///< path
  std::string library;    ///< path of the one that lacks it
  std::string version;
};

/// What loading one library comes to.
struct LibraryResolution {
  std::string path;
  bool wrong_machine = false;       ///< the library itself is for another processor: nothing else was looked at
  std::vector<ResolvedNeed> needs;  ///< the whole closure, in the order of loading
  std::vector<MissingVersion> missing_versions;
  /// Strong symbols of this library (not of its closure) that nothing in the closure, nothing global and nothing loaded
  /// before exports. Names of the interpreter ("Py…") count as provided. Filled in only with SymbolCheck::check.
  std::vector<UndefinedSymbol> undefined;
  bool symbols_certain = true;  ///< false: a library that could not be found or read may define the undefined ones

  /// Every need was found.
  [[nodiscard]] bool complete() const;
};

enum class SymbolCheck { skip, check };

/// Resolves libraries as ld.so(8) does: names that were loaded before; DT_RPATH (its own and its loaders', where it has
/// no DT_RUNPATH); LD_LIBRARY_PATH; DT_RUNPATH; ld.so.cache; the default directories. Files for another machine are
/// passed over. Remembers everything it found: one object for one process.
class LoaderResolver {
 public:
  LoaderResolver(Libraries& libraries, LoaderContext context);

  [[nodiscard]] Result<const LibraryResolution*> resolve(const std::string& path, SymbolCheck symbols);
  [[nodiscard]] const LoaderContext& context() const { return context_; }
  [[nodiscard]] Libraries& libraries() { return libraries_; }

  /// Loads a library as dlopen(RTLD_GLOBAL or not) does: what it needs satisfies later needs. Libraries that cannot be
  /// loaded are left out.
  enum class Scope { local, global };
  void load(const std::string& path, Scope scope);

  /// What `import torch` loads from this site-packages directory before any extension: the needs of
  /// libtorch_global_deps.so, and torch's own libraries; where those do not find a CUDA library, the one in
  /// nvidia/*/lib (both layouts, "nvidia/cublas/lib" of CUDA 12 and "nvidia/cu13/lib").
  void load_as_torch_does(const std::string& site_packages);

  /// Where the loader would find a soname without anyone's RPATH; empty: nowhere.
  [[nodiscard]] std::string find_by_soname(const std::string& soname);

 private:
  struct Candidate {
    NeedStatus status = NeedStatus::not_found;
    std::string path;
    std::string reason;
  };
  struct Closure;
  Closure closure_of(const Library& library);
  Candidate locate(const std::string& soname, const Library& by, const std::vector<std::string>& rpaths);
  const std::vector<std::string>& runpath_of(const Library& library);
  bool try_directories(const std::vector<std::string>& directories, const std::string& soname, Candidate& best);
  bool try_file(const std::string& path, Candidate& best);
  void note_other_version(ResolvedNeed& need);
  void check_versions(const Closure& closure, LibraryResolution& resolution);
  void check_symbols(const Closure& closure, LibraryResolution& resolution);
  bool defines(const std::string& path, const UndefinedSymbol& symbol, bool& certain);
  const std::map<std::string, std::string>& cache_by_soname();

  Libraries& libraries_;
  LoaderContext context_;
  std::vector<std::string> program_rpath_;
  std::map<std::string, std::vector<std::string>> runpaths_;  // by the path of the library
  std::map<std::string, LibraryResolution> resolutions_, resolutions_with_symbols_;
  std::optional<std::map<std::string, std::string>> cache_;
};

}  // namespace sparkops::facts
