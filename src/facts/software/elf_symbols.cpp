#include "facts/software/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <optional>

#include "facts/software/elf_hash_tables.h"
#include "facts/software/elf_reading.h"

namespace sparkops::facts {

namespace {

constexpr std::uint64_t k_most_symbols = std::uint64_t{8} << 20;  // libtorch_cpu has some hundred thousand
constexpr std::uint64_t k_symbols_at_once = 4096;
constexpr std::uint64_t k_names_at_once = std::uint64_t{256} << 10;
constexpr std::uint64_t k_gap_read_over = 2048;  // bytes between two names that are read rather than skipped
constexpr std::uint64_t k_usual_longest_name = 2048;
constexpr std::uint16_t k_first_version = 2;  // 0 and 1 are "local" and "global"

bool is_for_others(const Elf64_Sym& symbol) {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const bool visible =
      ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT || ELF64_ST_VISIBILITY(symbol.st_other) == STV_PROTECTED;
  return symbol.st_shndx != SHN_UNDEF && binding != STB_LOCAL && visible && symbol.st_name != 0;
}

/// The names of many symbols: read in the order of the file, neighbours together.
class NameReader {
 public:
  NameReader(const RandomAccessFile& file, const ElfTable& strings) : file_(file), strings_(strings) {}

  /// `offsets` must be sorted. Gives the names in that order.
  Result<std::vector<std::string>> read(const std::vector<std::uint32_t>& offsets) {
    std::vector<std::string> names;
    names.reserve(offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] >= strings_.size) return malformed_file(file_, "a symbol name outside the string table");
      if (auto name = from_buffer(offsets[i])) {
        names.push_back(std::move(*name));
        continue;
      }
      if (const auto read = fill(offsets, i); !read) return tl::unexpected(read.error());
      auto name = from_buffer(offsets[i]);
      if (!name) {
        auto alone = read_string(file_, strings_.offset + offsets[i], strings_.offset + strings_.size, "a symbol name");
        if (!alone) return tl::unexpected(alone.error());
        name = std::move(*alone);
      }
      names.push_back(std::move(*name));
    }
    return names;
  }

 private:
  [[nodiscard]] std::optional<std::string> from_buffer(std::uint32_t offset) const {
    if (offset < start_ || offset - start_ >= buffer_.size()) return std::nullopt;
    const std::size_t end = buffer_.find('\0', offset - start_);
    if (end == std::string::npos) return std::nullopt;
    return buffer_.substr(offset - start_, end - (offset - start_));
  }

  Result<void> fill(const std::vector<std::uint32_t>& offsets, std::size_t first) {
    std::size_t last = first;
    while (last + 1 < offsets.size() && offsets[last + 1] - offsets[last] <= k_gap_read_over &&
           offsets[last + 1] - offsets[first] < k_names_at_once)
      ++last;
    start_ = offsets[first];
    const std::uint64_t want =
        std::min<std::uint64_t>(strings_.size - start_, offsets[last] - start_ + k_usual_longest_name);
    buffer_.resize(want);
    const auto count = file_.read_at(strings_.offset + start_, buffer_);
    if (!count) return tl::unexpected(count.error());
    buffer_.resize(*count);
    return {};
  }

  const RandomAccessFile& file_;
  const ElfTable& strings_;
  std::uint64_t start_ = 0;
  std::string buffer_;
};

class Symbols final : public ElfSymbols {
 public:
  Symbols(std::shared_ptr<const RandomAccessFile> file, const ElfImage& image)
      : file_(std::move(file)), tables_(image.tables) {
    for (const ElfVersion& version : image.needed_versions) needed_versions_.emplace(version.index, version);
    for (const ElfVersion& version : image.defined_versions) defined_versions_.emplace(version.index, version.version);
  }

  Result<void> prepare(const ElfImage& image) {
    count_ = tables_.symbols.size / sizeof(Elf64_Sym);
    const bool told = std::any_of(image.sections.begin(), image.sections.end(), [&](const ElfSection& section) {
      return section.type == SHT_DYNSYM && section.offset == tables_.symbols.offset;
    });
    if (told && count_ > k_most_symbols)
      return malformed_file(*file_, "claims " + std::to_string(count_) + " dynamic symbols");
    if (told) return {};
    if (const auto read = need_hash_table(); !read) return read;
    count_ = hash_table_ ? std::min(count_, hash_table_->symbol_count()) : 0;
    return {};
  }

  [[nodiscard]] std::uint64_t count() const override { return count_; }

  [[nodiscard]] Result<std::vector<UndefinedSymbol>> undefined() const override {
    if (const auto read = need_hash_table(); !read) return tl::unexpected(read.error());
    std::uint64_t end = count_;
    if (hash_table_ && hash_table_->first_hashed() != 0)
      end = std::min<std::uint64_t>(end, hash_table_->first_hashed());
    struct Found {
      std::uint32_t name;
      std::uint32_t index;
      bool weak;
    };
    std::vector<Found> found;
    const auto visited = for_each(end, [&](std::uint64_t index, const Elf64_Sym& symbol) {
      const unsigned binding = ELF64_ST_BIND(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0 && binding != STB_LOCAL)
        found.push_back({symbol.st_name, static_cast<std::uint32_t>(index), binding == STB_WEAK});
      return true;
    });
    if (!visited) return tl::unexpected(visited.error());
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.name < b.name; });
    std::vector<std::uint32_t> offsets;
    offsets.reserve(found.size());
    for (const Found& symbol : found) offsets.push_back(symbol.name);
    auto names = NameReader(*file_, tables_.strings).read(offsets);
    if (!names) return tl::unexpected(names.error());
    const auto versions = version_indexes(end);
    if (!versions) return tl::unexpected(versions.error());
    std::vector<UndefinedSymbol> symbols;
    symbols.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      UndefinedSymbol symbol{std::move((*names)[i]), "", "", found[i].weak};
      const std::uint16_t version = found[i].index < versions->size() ? (*versions)[found[i].index] & 0x7fffU : 0;
      if (const auto needed = needed_versions_.find(version); needed != needed_versions_.end()) {
        symbol.version = needed->second.version;
        symbol.library = needed->second.library;
      }
      symbols.push_back(std::move(symbol));
    }
    return symbols;
  }

  [[nodiscard]] Result<bool> exports(std::string_view name, std::string_view version) const override {
    if (const auto read = need_hash_table(); !read) return tl::unexpected(read.error());
    if (!hash_table_) return false;
    return hash_table_->find(name, [&](std::uint32_t index) -> Result<bool> {
      if (index >= count_) return false;
      const auto symbol =
          read_structure<Elf64_Sym>(*file_, tables_.symbols.offset + index * sizeof(Elf64_Sym), "a symbol");
      if (!symbol) return tl::unexpected(symbol.error());
      if (!is_for_others(*symbol) || !has_name(*symbol, name)) return false;
      return has_version(index, version);
    });
  }

  [[nodiscard]] Result<std::vector<std::string>> exported(std::size_t most) const override {
    std::vector<std::uint32_t> offsets;
    const auto visited = for_each(count_, [&](std::uint64_t, const Elf64_Sym& symbol) {
      if (is_for_others(symbol)) offsets.push_back(symbol.st_name);
      return offsets.size() < most;
    });
    if (!visited) return tl::unexpected(visited.error());
    std::sort(offsets.begin(), offsets.end());
    return NameReader(*file_, tables_.strings).read(offsets);
  }

 private:
  Result<void> need_hash_table() const {
    if (hash_table_was_read_) return {};
    auto table = read_hash_table(*file_, tables_);
    if (!table) return tl::unexpected(table.error());
    hash_table_ = std::move(*table);
    hash_table_was_read_ = true;
    return {};
  }

  /// Calls `visit` with the symbols before `end` until it returns false.
  template <class Visit>
  Result<void> for_each(std::uint64_t end, Visit visit) const {
    for (std::uint64_t first = 1; first < end;) {  // the first one is always empty
      const std::uint64_t count = std::min(end - first, k_symbols_at_once);
      const auto part =
          read_table<Elf64_Sym>(*file_, tables_.symbols.offset + first * sizeof(Elf64_Sym), count, "the symbol table");
      if (!part) return tl::unexpected(part.error());
      for (std::uint64_t i = 0; i < count; ++i)
        if (!visit(first + i, (*part)[i])) return {};
      first += count;
    }
    return {};
  }

  Result<std::vector<std::uint16_t>> version_indexes(std::uint64_t count) const {
    const std::uint64_t there = std::min<std::uint64_t>(count, tables_.symbol_versions.size / sizeof(std::uint16_t));
    return read_table<std::uint16_t>(*file_, tables_.symbol_versions.offset, there, "the symbol versions");
  }

  [[nodiscard]] bool has_name(const Elf64_Sym& symbol, std::string_view name) const {
    if (symbol.st_name >= tables_.strings.size || tables_.strings.size - symbol.st_name <= name.size()) return false;
    scratch_.resize(name.size() + 1);
    const auto count = file_->read_at(tables_.strings.offset + symbol.st_name, scratch_);
    return count && *count == scratch_.size() && scratch_.back() == '\0' &&
           std::string_view(scratch_).substr(0, name.size()) == name;
  }

  [[nodiscard]] Result<bool> has_version(std::uint32_t index, std::string_view version) const {
    const std::uint64_t at = std::uint64_t{index} * sizeof(std::uint16_t);
    if (version.empty() || defined_versions_.empty() || at + sizeof(std::uint16_t) > tables_.symbol_versions.size)
      return true;
    const auto raw = read_structure<std::uint16_t>(*file_, tables_.symbol_versions.offset + at, "a symbol version");
    if (!raw) return tl::unexpected(raw.error());
    const std::uint16_t number = *raw & 0x7fffU;
    if (number < k_first_version) return true;
    const auto defined = defined_versions_.find(number);
    return defined == defined_versions_.end() || defined->second == version;
  }

  std::shared_ptr<const RandomAccessFile> file_;
  ElfTables tables_;
  std::uint64_t count_ = 0;
  std::map<std::uint16_t, ElfVersion> needed_versions_;
  std::map<std::uint16_t, std::string> defined_versions_;
  mutable std::unique_ptr<ElfHashTable> hash_table_;
  mutable bool hash_table_was_read_ = false;
  mutable std::string scratch_;
};

}  // namespace

Result<std::unique_ptr<ElfSymbols>> ElfSymbols::open(std::shared_ptr<const RandomAccessFile> file,
                                                     const ElfImage& image) {
  auto symbols = std::make_unique<Symbols>(std::move(file), image);
  if (const auto ready = symbols->prepare(image); !ready) return tl::unexpected(ready.error());
  return symbols;
}

}  // namespace sparkops::facts
