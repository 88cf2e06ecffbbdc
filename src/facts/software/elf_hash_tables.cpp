#include "facts/software/elf_hash_tables.h"

#include <algorithm>
#include <array>
#include <vector>

#include "facts/software/elf_reading.h"
#include "facts/software/elf_symbols.h"

namespace sparkops::facts {

namespace {

// Far beyond libtorch_cpu's; a table that claims more is refused before it is read.
constexpr std::uint64_t k_most_words = std::uint64_t{16} << 20;

/// Header: buckets, first hashed symbol, Bloom filter words, Bloom shift; then the filter, the buckets, and one hash
/// for each symbol, whose lowest bit ends a chain.
class GnuHashTable final : public ElfHashTable {
 public:
  static Result<std::unique_ptr<ElfHashTable>> read(const RandomAccessFile& file, const ElfTable& place) {
    const auto header = read_structure<std::array<std::uint32_t, 4>>(file, place.offset, "the GNU hash table");
    if (!header) return tl::unexpected(header.error());
    auto table = std::make_unique<GnuHashTable>();
    const auto [buckets, first_hashed, filter_words, shift] = *header;
    if (filter_words == 0 || buckets == 0 || filter_words > k_most_words || buckets > k_most_words)
      return malformed_file(file, "a GNU hash table of impossible size");
    table->first_hashed_ = first_hashed;
    table->shift_ = shift % 32;
    std::uint64_t at = place.offset + sizeof *header;
    auto filter = read_table<std::uint64_t>(file, at, filter_words, "the Bloom filter");
    if (!filter) return tl::unexpected(filter.error());
    at += std::uint64_t{filter_words} * sizeof(std::uint64_t);
    auto bucket_words = read_table<std::uint32_t>(file, at, buckets, "the hash buckets");
    if (!bucket_words) return tl::unexpected(bucket_words.error());
    at += std::uint64_t{buckets} * sizeof(std::uint32_t);
    table->filter_ = std::move(*filter);
    table->buckets_ = std::move(*bucket_words);
    if (const auto read = table->read_chains(file, at, place); !read) return tl::unexpected(read.error());
    return table;
  }

  [[nodiscard]] Result<bool> find(std::string_view name, const Visit& visit) const override {
    const std::uint32_t hash = gnu_hash(name);
    const std::uint64_t word = filter_[(hash / 64U) % filter_.size()];
    if (((word >> (hash % 64U)) & (word >> ((hash >> shift_) % 64U)) & 1U) == 0) return false;
    const std::uint32_t first = buckets_[hash % buckets_.size()];
    if (first < first_hashed_) return false;
    for (std::uint64_t i = first - first_hashed_; i < chains_.size(); ++i) {
      if ((chains_[i] | 1U) == (hash | 1U)) {
        const auto found = visit(static_cast<std::uint32_t>(first_hashed_ + i));
        if (!found || *found) return found;
      }
      if ((chains_[i] & 1U) != 0) break;
    }
    return false;
  }
  [[nodiscard]] std::uint32_t first_hashed() const override { return first_hashed_; }
  [[nodiscard]] std::uint64_t symbol_count() const override { return first_hashed_ + chains_.size(); }

 private:
  /// The table does not say how long it is: the last chain ends it, or the section.
  Result<void> read_chains(const RandomAccessFile& file, std::uint64_t at, const ElfTable& place) {
    const std::uint32_t last = *std::max_element(buckets_.begin(), buckets_.end());
    if (last < first_hashed_) return {};
    const std::uint64_t end = place.offset + place.size;
    const std::uint64_t room = at < end ? (end - at) / sizeof(std::uint32_t) : 0;
    if (last - first_hashed_ >= room) return malformed_file(file, "a GNU hash bucket beyond its table");
    constexpr std::uint64_t k_step = 16'384;
    std::uint64_t target = std::uint64_t{last} - first_hashed_ + 1;  // where the last chain begins
    while (true) {
      const std::size_t before = chains_.size();
      target = std::min({target, room, k_most_words});
      if (before >= target) return {};
      const auto part =
          read_table<std::uint32_t>(file, at + before * sizeof(std::uint32_t), target - before, "the hash chains");
      if (!part) return tl::unexpected(part.error());
      chains_.insert(chains_.end(), part->begin(), part->end());
      for (std::size_t i = std::max<std::size_t>(before, last - first_hashed_); i < chains_.size(); ++i) {
        if ((chains_[i] & 1U) == 0) continue;
        chains_.resize(i + 1);
        return {};
      }
      target = chains_.size() + k_step;
    }
  }

  std::uint32_t first_hashed_ = 0;
  std::uint32_t shift_ = 0;
  std::vector<std::uint64_t> filter_;
  std::vector<std::uint32_t> buckets_;
  std::vector<std::uint32_t> chains_;
};

/// The table of the System V ABI: counts of buckets and chains, then both.
class SysvHashTable final : public ElfHashTable {
 public:
  static Result<std::unique_ptr<ElfHashTable>> read(const RandomAccessFile& file, const ElfTable& place) {
    const auto header = read_structure<std::array<std::uint32_t, 2>>(file, place.offset, "the hash table");
    if (!header) return tl::unexpected(header.error());
    const auto [buckets, chains] = *header;
    if (buckets == 0 || buckets > k_most_words || chains > k_most_words)
      return malformed_file(file, "a hash table of impossible size");
    auto words = read_table<std::uint32_t>(file, place.offset + sizeof *header, std::uint64_t{buckets} + chains,
                                           "the hash table");
    if (!words) return tl::unexpected(words.error());
    auto table = std::make_unique<SysvHashTable>();
    table->chains_.assign(words->begin() + buckets, words->end());
    words->resize(buckets);
    table->buckets_ = std::move(*words);
    return table;
  }

  [[nodiscard]] Result<bool> find(std::string_view name, const Visit& visit) const override {
    std::uint32_t symbol = buckets_[hash(name) % buckets_.size()];
    for (std::size_t steps = 0; symbol != 0 && symbol < chains_.size() && steps < chains_.size(); ++steps) {
      const auto found = visit(symbol);
      if (!found || *found) return found;
      symbol = chains_[symbol];
    }
    return false;
  }
  [[nodiscard]] std::uint32_t first_hashed() const override { return 0; }
  [[nodiscard]] std::uint64_t symbol_count() const override { return chains_.size(); }

 private:
  static std::uint32_t hash(std::string_view name) {
    std::uint32_t value = 0;
    for (const char c : name) {
      value = (value << 4U) + static_cast<unsigned char>(c);
      const std::uint32_t high = value & 0xf0000000U;
      value = (value ^ (high >> 24U)) & ~high;
    }
    return value;
  }

  std::vector<std::uint32_t> buckets_;
  std::vector<std::uint32_t> chains_;
};

}  // namespace

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33U + static_cast<unsigned char>(c);
  return hash;
}

Result<std::unique_ptr<ElfHashTable>> read_hash_table(const RandomAccessFile& file, const ElfTables& tables) {
  if (tables.gnu_hash.size != 0) return GnuHashTable::read(file, tables.gnu_hash);
  if (tables.sysv_hash.size != 0) return SysvHashTable::read(file, tables.sysv_hash);
  return std::unique_ptr<ElfHashTable>();
}

}  // namespace sparkops::facts
