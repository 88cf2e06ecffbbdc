#include "facts/software/loader_cache.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace sparkops::facts {

namespace {

// glibc, sysdeps/generic/dl-cache.h: struct cache_file, file_entry, cache_file_new, file_entry_new. Facts of the
// format.
constexpr std::string_view k_old_magic = "ld.so-1.7.0";
constexpr std::string_view k_new_magic = "glibc-ld.so.cache1.1";
constexpr std::size_t k_old_header = 16, k_old_entry = 12;
constexpr std::size_t k_new_header = 48, k_new_entry = 24;
constexpr std::size_t k_alignment = 8;
constexpr std::uint32_t k_kind_mask = 0xff00;
constexpr std::uint32_t k_libc6_mask = 0x00ff, k_libc6 = 0x0003;
constexpr std::uint32_t k_x86_64 = 0x0300, k_aarch64 = 0x0a00;
constexpr std::uint64_t k_hwcap_extension = std::uint64_t{1} << 62;

std::uint32_t number_at(std::string_view text, std::size_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, text.data() + offset, sizeof value);
  return value;
}

std::optional<std::string> string_at(std::string_view text, std::uint32_t offset) {
  if (offset >= text.size()) return std::nullopt;
  const std::size_t end = text.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(offset, end - offset));
}

bool is_for(ElfMachine machine, std::uint32_t flags) {
  if ((flags & k_libc6_mask) != k_libc6) return false;
  const std::uint32_t kind = flags & k_kind_mask;
  return (machine == ElfMachine::x86_64 && kind == k_x86_64) || (machine == ElfMachine::aarch64 && kind == k_aarch64);
}

}  // namespace

Result<std::vector<LoaderCacheEntry>> parse_loader_cache(std::string_view text, ElfMachine machine,
                                                         const std::string& name) {
  const auto wrong = [&](const std::string& what) { return failure(ErrorKind::malformed, name + ": " + what); };
  if (text.starts_with(k_old_magic)) {
    if (text.size() < k_old_header) return wrong("cut off in its header");
    const std::size_t entries = number_at(text, 12);
    if (entries > (text.size() - k_old_header) / k_old_entry) return wrong("claims more entries than it can hold");
    const std::size_t end = k_old_header + entries * k_old_entry;
    const std::size_t newer = (end + k_alignment - 1) / k_alignment * k_alignment;
    if (newer >= text.size()) return wrong("only the format that glibc no longer reads");
    text.remove_prefix(newer);
  }
  if (!text.starts_with(k_new_magic) || text.size() < k_new_header) return wrong("no cache of the dynamic loader");
  const std::size_t count = number_at(text, k_new_magic.size());
  if (count > (text.size() - k_new_header) / k_new_entry) return wrong("claims more entries than it can hold");
  std::vector<LoaderCacheEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = k_new_header + i * k_new_entry;
    if (!is_for(machine, number_at(text, at))) continue;
    auto soname = string_at(text, number_at(text, at + 4));
    auto path = string_at(text, number_at(text, at + 8));
    if (!soname || !path) return wrong("an entry without its text");
    std::uint64_t hwcap = 0;
    std::memcpy(&hwcap, text.data() + at + 16, sizeof hwcap);
    entries.push_back({std::move(*soname), std::move(*path), (hwcap & k_hwcap_extension) != 0});
  }
  return entries;
}

}  // namespace sparkops::facts
