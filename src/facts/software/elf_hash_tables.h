#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/random_access_file.h"
#include "facts/software/elf_image.h"

namespace sparkops::facts {

/// Finds the symbols that may have a name. Both kinds bound every index they follow.
class ElfHashTable {
 public:
  ElfHashTable() = default;
  virtual ~ElfHashTable() = default;
  ElfHashTable(const ElfHashTable&) = delete;
  ElfHashTable& operator=(const ElfHashTable&) = delete;

  /// Calls `visit` with the index of each candidate until it returns true, and tells whether it did.
  using Visit = std::function<Result<bool>(std::uint32_t symbol)>;
  [[nodiscard]] virtual Result<bool> find(std::string_view name, const Visit& visit) const = 0;
  /// Symbols before this index are not in the table: among them are all undefined ones. 0: not told.
  [[nodiscard]] virtual std::uint32_t first_hashed() const = 0;
  /// One more than the largest index in the table.
  [[nodiscard]] virtual std::uint64_t symbol_count() const = 0;
};

/// The GNU table where there is one, else the older one, else none (null). Errors: malformed.
[[nodiscard]] Result<std::unique_ptr<ElfHashTable>> read_hash_table(const RandomAccessFile& file,
                                                                    const ElfTables& tables);

}  // namespace sparkops::facts
