#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random_access_file.h"
#include "base/result.h"
#include "base/root.h"

namespace sparkops::facts {

/// e_machine values that matter here.
enum class ElfMachine : std::uint16_t { none = 0, x86 = 3, arm = 40, x86_64 = 62, aarch64 = 183, cuda = 190 };

/// "aarch64", "x86_64" as `uname -m` has them, "cuda" for a cubin, "machine 243" for others.
[[nodiscard]] std::string to_string(ElfMachine machine);
/// The machine of `uname -m`'s word; none for a word that is not known.
[[nodiscard]] ElfMachine machine_of_architecture(std::string_view architecture);

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size = 0;    ///< bytes; of NOBITS sections none of them are in the file
};

/// A version that a library must define (`needed`) or defines itself (`library` empty).
struct ElfVersion {
  std::string library;  ///< soname
  std::string version;  ///< "GLIBC_2.34"
  std::uint16_t index = 0;
};

/// One file range.
struct ElfTable {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< bytes; 0: there is none
};

/// Where what the loader works with lies in the file.
struct ElfTables {
  ElfTable symbols, strings, gnu_hash, sysv_hash, symbol_versions;
};

/// What an ELF file says of itself. Of other than 64-bit little-endian files only machine, class and kind.
struct ElfImage {
  std::uint64_t file_size = 0;
  ElfMachine machine = ElfMachine::none;
  int bits = 64;
  bool little_endian = true;
  std::uint16_t type = 0;  ///< ET_DYN …
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0;
  bool is_dynamic = false;  ///< has a dynamic section
  std::string soname;       ///< empty: none
  std::vector<std::string> needed;
  std::optional<std::string> rpath, runpath;
  std::vector<ElfVersion> needed_versions, defined_versions;
  std::vector<ElfSection> sections;  ///< empty when they were stripped
  ElfTables tables;
};

/// Whether the first bytes are those of an ELF file.
[[nodiscard]] bool looks_like_elf(std::string_view start);

/// Reads headers, dynamic section and versions; of the file only the pages these lie in. Errors: malformed (no ELF
/// file, cut off, absurd counts), input_output; the message names the file.
[[nodiscard]] Result<ElfImage> read_elf_image(const RandomAccessFile& file);
[[nodiscard]] Result<ElfImage> read_elf_image(const Root& root, std::string_view path);

}  // namespace sparkops::facts
