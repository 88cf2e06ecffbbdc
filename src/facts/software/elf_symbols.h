#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facts/software/elf_image.h"

namespace sparkops::facts {

/// A symbol that a library uses and does not define.
struct UndefinedSymbol {
  std::string name;     ///< as in the file (mangled)
  std::string version;  ///< "GLIBC_2.34"; empty: any
  std::string library;  ///< soname that must define that version; empty: any
  bool weak = false;    ///< may stay undefined
};

/// The name in the form of the source where it is a C++ name that can be demangled within bounds; else as it is.
[[nodiscard]] std::string demangled(const std::string& name);

/// The dynamic symbols of one library, looked up through its GNU hash table (or the older one). The file must outlive
/// this object. Hash tables are read at the first lookup and kept.
class ElfSymbols {
 public:
  /// Errors: malformed, when the tables cannot be those of a library (absurd sizes); the message names the file.
  [[nodiscard]] static Result<std::unique_ptr<ElfSymbols>> open(std::shared_ptr<const RandomAccessFile> file,
                                                                const ElfImage& image);
  virtual ~ElfSymbols() = default;
  ElfSymbols() = default;
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  /// What is used and not defined here.
  [[nodiscard]] virtual Result<std::vector<UndefinedSymbol>> undefined() const = 0;
  /// Whether the library defines `name` for others, in `version` if that is not empty and the library has versions.
  [[nodiscard]] virtual Result<bool> exports(std::string_view name, std::string_view version) const = 0;
  /// The names of all that is defined for others, at most `most` of them.
  [[nodiscard]] virtual Result<std::vector<std::string>> exported(std::size_t most) const = 0;
  /// Entries of the symbol table.
  [[nodiscard]] virtual std::uint64_t count() const = 0;
};

/// The hash of the GNU hash table (the one of Bernstein, times 33).
[[nodiscard]] std::uint32_t gnu_hash(std::string_view name);

}  // namespace sparkops::facts
