#include "facts/software/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "facts/software/elf_dynamic.h"
#include "facts/software/elf_reading.h"

namespace sparkops::facts {

namespace {

// More than any library has; a file that claims more is refused before anything is allocated.
constexpr std::uint64_t k_most_sections = 200'000;
constexpr std::uint64_t k_most_segments = 4'096;
constexpr std::uint64_t k_longest_name_table = std::uint64_t{32} << 20;

constexpr std::size_t k_string_step = 256;
constexpr std::size_t k_longest_string = std::size_t{16} << 10;

std::uint16_t swapped(std::uint16_t value) {
  return static_cast<std::uint16_t>((value << 8U) | (value >> 8U));
}

/// Names are short: the whole table of them is read at once.
Result<std::string> read_name_table(const RandomAccessFile& file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_size > k_longest_name_table)
    return malformed_file(file, "a section name table of " + std::to_string(section.sh_size) + " bytes");
  const auto bytes = read_table<char>(file, section.sh_offset, section.sh_size, "the section names");
  if (!bytes) return tl::unexpected(bytes.error());
  return std::string(bytes->begin(), bytes->end());
}

std::string name_at(const std::string& names, std::uint32_t offset) {
  if (offset >= names.size()) return "";
  const std::size_t end = names.find('\0', offset);
  return names.substr(offset,
                      std::min(end == std::string::npos ? names.size() : end, offset + k_longest_string) - offset);
}

/// The counts in the header overflow into the first section header (SHN_XINDEX).
Result<std::vector<ElfSection>> read_sections(const RandomAccessFile& file, const Elf64_Ehdr& header) {
  std::vector<ElfSection> sections;
  if (header.e_shoff == 0) return sections;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return malformed_file(file, "section headers of an unknown size");
  std::uint64_t count = header.e_shnum;
  std::uint64_t names_index = header.e_shstrndx;
  if (count == 0 || names_index == SHN_XINDEX) {
    const auto first = read_structure<Elf64_Shdr>(file, header.e_shoff, "the first section header");
    if (!first) return tl::unexpected(first.error());
    if (count == 0) count = first->sh_size;
    if (names_index == SHN_XINDEX) names_index = first->sh_link;
  }
  if (count > k_most_sections) return malformed_file(file, "claims " + std::to_string(count) + " sections");
  const auto headers = read_table<Elf64_Shdr>(file, header.e_shoff, count, "the section headers");
  if (!headers) return tl::unexpected(headers.error());
  std::string names;
  if (names_index < headers->size()) {
    auto table = read_name_table(file, (*headers)[names_index]);
    if (!table) return tl::unexpected(table.error());
    names = std::move(*table);
  }
  sections.reserve(headers->size());
  for (const Elf64_Shdr& section : *headers)
    sections.push_back({name_at(names, section.sh_name), section.sh_type, section.sh_flags, section.sh_addr,
                        section.sh_offset, section.sh_size});
  return sections;
}

Result<std::vector<Elf64_Phdr>> read_segments(const RandomAccessFile& file, const Elf64_Ehdr& header) {
  if (header.e_phoff == 0 || header.e_phnum == 0) return std::vector<Elf64_Phdr>{};
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return malformed_file(file, "program headers of an unknown size");
  if (header.e_phnum > k_most_segments)
    return malformed_file(file, "claims " + std::to_string(header.e_phnum) + " program headers");
  return read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum, "the program headers");
}

}  // namespace

std::string to_string(ElfMachine machine) {
  switch (machine) {
    case ElfMachine::none: return "no machine";
    case ElfMachine::x86: return "i386";
    case ElfMachine::arm: return "arm";
    case ElfMachine::x86_64: return "x86_64";
    case ElfMachine::aarch64: return "aarch64";
    case ElfMachine::cuda: return "cuda";
  }
  return "machine " + std::to_string(static_cast<unsigned>(machine));
}

ElfMachine machine_of_architecture(std::string_view architecture) {
  if (architecture == "aarch64" || architecture == "arm64") return ElfMachine::aarch64;
  if (architecture == "x86_64" || architecture == "amd64") return ElfMachine::x86_64;
  return ElfMachine::none;
}

bool looks_like_elf(std::string_view start) {
  return start.starts_with(std::string_view(ELFMAG, SELFMAG));
}

Result<std::string> read_string(const RandomAccessFile& file, std::uint64_t offset, std::uint64_t end,
                                const char* what) {
  std::string text;
  std::array<char, k_string_step> buffer{};
  while (offset < end && text.size() < k_longest_string) {
    const auto count =
        file.read_at(offset, std::span<char>(buffer).subspan(0, std::min<std::uint64_t>(buffer.size(), end - offset)));
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) break;
    const std::string_view part(buffer.data(), *count);
    const std::size_t nul = part.find('\0');
    text += part.substr(0, nul);
    if (nul != std::string_view::npos) return text;
    offset += *count;
  }
  return malformed_file(file, std::string(what) + " without an end");
}

Result<ElfImage> read_elf_image(const RandomAccessFile& file) {
  std::array<char, sizeof(Elf64_Ehdr)> start{};
  const auto count = file.read_at(0, start);
  if (!count) return tl::unexpected(count.error());
  if (*count < EI_NIDENT + 4 || !looks_like_elf({start.data(), *count})) return malformed_file(file, "not an ELF file");
  ElfImage image;
  image.file_size = file.size();
  image.bits = start[EI_CLASS] == ELFCLASS64 ? 64 : 32;
  image.little_endian = start[EI_DATA] != ELFDATA2MSB;
  image.os_abi = static_cast<std::uint8_t>(start[EI_OSABI]);
  image.abi_version = static_cast<std::uint8_t>(start[EI_ABIVERSION]);
  Elf64_Ehdr header{};
  std::memcpy(&header, start.data(), start.size());
  image.type = image.little_endian ? header.e_type : swapped(header.e_type);
  image.machine = static_cast<ElfMachine>(image.little_endian ? header.e_machine : swapped(header.e_machine));
  if (image.bits != 64 || !image.little_endian) return image;
  if (*count < sizeof header) return malformed_file(file, "cut off in the ELF header");
  image.flags = header.e_flags;

  auto sections = read_sections(file, header);
  if (!sections) return tl::unexpected(sections.error());
  image.sections = std::move(*sections);
  const auto segments = read_segments(file, header);
  if (!segments) return tl::unexpected(segments.error());
  if (const auto read = read_elf_dynamic(file, *segments, image); !read) return tl::unexpected(read.error());
  return image;
}

Result<ElfImage> read_elf_image(const Root& root, std::string_view path) {
  const auto file = root.open_file(path);
  if (!file) return tl::unexpected(file.error());
  return read_elf_image(**file);
}

}  // namespace sparkops::facts
