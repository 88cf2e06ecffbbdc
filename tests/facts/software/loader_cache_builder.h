#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sparkops::testing {

/// The bytes of an ld.so.cache with these sonames and paths, marked as for aarch64.
inline std::string loader_cache_bytes(const std::vector<std::pair<std::string, std::string>>& entries,
                                      bool with_older_format = false) {
  const auto number = [](std::string& out, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
  };
  std::string table, texts;
  const std::size_t texts_at = 48 + entries.size() * 24;
  for (const auto& [soname, path] : entries) {
    number(table, 0x0a03, 4);
    for (const std::string& text : {soname, path}) {
      number(table, texts_at + texts.size(), 4);
      texts += text + '\0';
    }
    number(table, 0, 4);
    number(table, 0, 8);
  }
  std::string newer = "glibc-ld.so.cache1.1";
  number(newer, entries.size(), 4);
  number(newer, texts.size(), 4);
  newer.append(20, '\0');
  newer += table + texts;
  if (!with_older_format) return newer;
  std::string older = "ld.so-1.7.0";
  older += '\0';
  number(older, 1, 4);
  older.append(12, '\0');
  while (older.size() % 8 != 0) older += '\0';
  return older + newer;
}

}  // namespace sparkops::testing
