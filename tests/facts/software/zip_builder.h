#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sparkops::testing {

/// One file of an archive; `data` are its bytes as they stand in it (already deflated where method is 8).
struct ZipEntry {
  std::string name;
  std::string data;
  std::uint16_t method = 0;
  std::uint64_t size = 0;  ///< unpacked; 0: as many as `data` has
  std::uint16_t flags = 0;
};

inline std::string zip_bytes(const std::vector<ZipEntry>& entries) {
  const auto number = [](std::string& out, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
  };
  std::string out, directory;
  for (const ZipEntry& entry : entries) {
    const std::uint64_t size = entry.size == 0 ? entry.data.size() : entry.size;
    const std::uint64_t offset = out.size();
    const auto common = [&](std::string& to) {
      number(to, 20, 2);
      number(to, entry.flags, 2);
      number(to, entry.method, 2);
      number(to, 0, 8);  // time, date, checksum
      number(to, entry.data.size(), 4);
      number(to, size, 4);
      number(to, entry.name.size(), 2);
      number(to, 0, 2);
    };
    number(out, 0x04034b50, 4);
    common(out);
    out += entry.name + entry.data;
    number(directory, 0x02014b50, 4);
    number(directory, 20, 2);
    common(directory);
    number(directory, 0, 10);  // comment, disk, attributes
    number(directory, offset, 4);
    directory += entry.name;
  }
  const std::uint64_t at = out.size();
  out += directory;
  number(out, 0x06054b50, 4);
  number(out, 0, 4);
  number(out, entries.size(), 2);
  number(out, entries.size(), 2);
  number(out, directory.size(), 4);
  number(out, at, 4);
  number(out, 0, 2);
  return out;
}

}  // namespace sparkops::testing
