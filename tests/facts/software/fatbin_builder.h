#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facts/software/fat_binary.h"

namespace sparkops::testing {

/// One code object as nvcc's fatbinary tool writes its header; the payload is made of one letter.
struct FatbinEntry {
  std::uint16_t kind = 2;  ///< 1 PTX, 2 cubin, 8 LTO-IR
  std::uint32_t arch = 121;
  std::uint64_t variant_flags = 0;      ///< 0x100000 'a', 0x200000 'f'
  std::uint64_t compression_flags = 0;  ///< 0x2000 LZ4, 0x8000 Zstandard
  std::uint64_t stored = 4096;          ///< multiple of 8
  std::uint64_t uncompressed = 0;       ///< 0 where it is not compressed
  std::uint32_t header_size = 64;
  std::uint16_t major = 1, minor = 8;
};

inline constexpr std::uint64_t k_variant_a = 0x100000, k_variant_f = 0x200000;
inline constexpr std::uint64_t k_lz4 = 0x2000, k_zstandard = 0x8000;

namespace fatbin_builder {
template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
}  // namespace fatbin_builder

inline std::string fatbin_entry(const FatbinEntry& entry) {
  using fatbin_builder::put;
  std::string out;
  put<std::uint16_t>(out, entry.kind);
  put<std::uint16_t>(out, 0x0101);
  put<std::uint32_t>(out, entry.header_size);
  put<std::uint64_t>(out, entry.stored);
  put<std::uint32_t>(out, static_cast<std::uint32_t>(entry.compression_flags == 0 ? 0 : entry.stored - 3));
  put<std::uint32_t>(out, entry.header_size > 64 ? 0x40 : 0);
  put<std::uint16_t>(out, entry.minor);
  put<std::uint16_t>(out, entry.major);
  put<std::uint32_t>(out, entry.arch);
  put<std::uint32_t>(out, 0);
  put<std::uint32_t>(out, 0);
  put<std::uint64_t>(out, 0x11 | entry.variant_flags | entry.compression_flags);
  put<std::uint64_t>(out, 0);
  put<std::uint64_t>(out, entry.uncompressed);
  out.append(entry.header_size > 64 ? entry.header_size - 64 : 0, '\x01');
  out.append(entry.stored, 'c');
  return out;
}

inline std::string fatbin_container(const std::vector<FatbinEntry>& entries) {
  using fatbin_builder::put;
  std::string body;
  for (const FatbinEntry& entry : entries) body += fatbin_entry(entry);
  std::string out;
  put<std::uint32_t>(out, 0xBA55ED50);
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, 16);
  put<std::uint64_t>(out, body.size());
  return out + body;
}

}  // namespace sparkops::testing
