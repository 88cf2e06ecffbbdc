#include "facts/software/elf_dynamic.h"

#include <algorithm>

#include "facts/software/elf_reading.h"

namespace sparkops::facts {

namespace {

// More than any library has.
constexpr std::uint64_t k_most_dynamic_entries = 65'536;
constexpr std::size_t k_most_needed = 4'096;
constexpr std::size_t k_most_versions = 16'384;

/// Turns the addresses of the dynamic section into places of the file.
class AddressMap {
 public:
  AddressMap(const std::vector<Elf64_Phdr>& segments, std::uint64_t file_size)
      : segments_(segments), file_size_(file_size) {}

  /// The place, and how many bytes of the file follow it in the same segment.
  [[nodiscard]] std::optional<ElfTable> place_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      const std::uint64_t inside = address - segment.p_vaddr;
      if (inside >= segment.p_filesz || segment.p_offset >= file_size_ || inside >= file_size_ - segment.p_offset)
        continue;
      const std::uint64_t offset = segment.p_offset + inside;
      return ElfTable{offset, std::min(segment.p_filesz - inside, file_size_ - offset)};
    }
    return std::nullopt;
  }

 private:
  const std::vector<Elf64_Phdr>& segments_;
  std::uint64_t file_size_;
};

/// The entries that are used.
struct DynamicEntries {
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> soname, rpath, runpath;
  std::uint64_t strings = 0, strings_size = 0, symbols = 0, gnu_hash = 0, sysv_hash = 0, symbol_versions = 0;
  std::uint64_t needed_versions = 0, needed_version_count = 0, defined_versions = 0, defined_version_count = 0;
};

void put(DynamicEntries& entries, const Elf64_Dyn& entry) {
  const std::uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
    case DT_NEEDED: entries.needed.push_back(value); break;
    case DT_SONAME: entries.soname = value; break;
    case DT_RPATH: entries.rpath = value; break;
    case DT_RUNPATH: entries.runpath = value; break;
    case DT_STRTAB: entries.strings = value; break;
    case DT_STRSZ: entries.strings_size = value; break;
    case DT_SYMTAB: entries.symbols = value; break;
    case DT_GNU_HASH: entries.gnu_hash = value; break;
    case DT_HASH: entries.sysv_hash = value; break;
    case DT_VERSYM: entries.symbol_versions = value; break;
    case DT_VERNEED: entries.needed_versions = value; break;
    case DT_VERNEEDNUM: entries.needed_version_count = value; break;
    case DT_VERDEF: entries.defined_versions = value; break;
    case DT_VERDEFNUM: entries.defined_version_count = value; break;
    default: break;
  }
}

Result<DynamicEntries> read_entries(const RandomAccessFile& file, const Elf64_Phdr& segment) {
  const std::uint64_t count = segment.p_filesz / sizeof(Elf64_Dyn);
  if (count > k_most_dynamic_entries)
    return malformed_file(file, "claims " + std::to_string(count) + " dynamic entries");
  const auto table = read_table<Elf64_Dyn>(file, segment.p_offset, count, "the dynamic section");
  if (!table) return tl::unexpected(table.error());
  DynamicEntries entries;
  for (const Elf64_Dyn& entry : *table) {
    if (entry.d_tag == DT_NULL) break;
    put(entries, entry);
  }
  if (entries.needed.size() > k_most_needed)
    return malformed_file(file, "claims to need " + std::to_string(entries.needed.size()) + " libraries");
  return entries;
}

/// Reads the strings of one file.
class Strings {
 public:
  Strings(const RandomAccessFile& file, const ElfTable& table) : file_(file), table_(table) {}
  [[nodiscard]] Result<std::string> at(std::uint64_t offset, const char* what) const {
    if (offset >= table_.size) return malformed_file(file_, std::string(what) + " outside the string table");
    return read_string(file_, table_.offset + offset, table_.offset + table_.size, what);
  }

 private:
  const RandomAccessFile& file_;
  const ElfTable& table_;
};

Result<void> read_needed_versions(const RandomAccessFile& file, const Strings& strings, const ElfTable& place,
                                  std::uint64_t count, std::vector<ElfVersion>& versions) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count && versions.size() < k_most_versions && at < place.size; ++i) {
    const auto need = read_structure<Elf64_Verneed>(file, place.offset + at, "the needed versions");
    if (!need) return tl::unexpected(need.error());
    auto library = strings.at(need->vn_file, "the name of a needed version");
    if (!library) return tl::unexpected(library.error());
    std::uint64_t inner = at + need->vn_aux;
    for (unsigned j = 0; j < need->vn_cnt && versions.size() < k_most_versions && inner < place.size; ++j) {
      const auto entry = read_structure<Elf64_Vernaux>(file, place.offset + inner, "the needed versions");
      if (!entry) return tl::unexpected(entry.error());
      auto version = strings.at(entry->vna_name, "the name of a needed version");
      if (!version) return tl::unexpected(version.error());
      versions.push_back({*library, std::move(*version), static_cast<std::uint16_t>(entry->vna_other & 0x7fffU)});
      if (entry->vna_next == 0) break;
      inner += entry->vna_next;
    }
    if (need->vn_next == 0) break;
    at += need->vn_next;
  }
  return {};
}

Result<void> read_defined_versions(const RandomAccessFile& file, const Strings& strings, const ElfTable& place,
                                   std::uint64_t count, std::vector<ElfVersion>& versions) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count && versions.size() < k_most_versions && at < place.size; ++i) {
    const auto definition = read_structure<Elf64_Verdef>(file, place.offset + at, "the defined versions");
    if (!definition) return tl::unexpected(definition.error());
    if ((definition->vd_flags & VER_FLG_BASE) == 0 && definition->vd_aux < place.size - at) {
      const auto entry =
          read_structure<Elf64_Verdaux>(file, place.offset + at + definition->vd_aux, "the defined versions");
      if (!entry) return tl::unexpected(entry.error());
      auto version = strings.at(entry->vda_name, "the name of a defined version");
      if (!version) return tl::unexpected(version.error());
      versions.push_back({"", std::move(*version), static_cast<std::uint16_t>(definition->vd_ndx & 0x7fffU)});
    }
    if (definition->vd_next == 0) break;
    at += definition->vd_next;
  }
  return {};
}

/// Symbol tables state no size in the dynamic section: the section headers do, else the end of the segment bounds it.
ElfTable with_section_size(ElfTable table, std::uint32_t type, const ElfImage& image) {
  for (const ElfSection& section : image.sections)
    if (section.type == type && section.offset == table.offset) table.size = std::min(table.size, section.size);
  return table;
}

}  // namespace

Result<void> read_elf_dynamic(const RandomAccessFile& file, const std::vector<Elf64_Phdr>& segments, ElfImage& image) {
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const Elf64_Phdr& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end() || dynamic->p_filesz == 0) return {};
  const auto entries = read_entries(file, *dynamic);
  if (!entries) return tl::unexpected(entries.error());
  const AddressMap addresses(segments, file.size());
  const auto strings_place = addresses.place_of(entries->strings);
  image.is_dynamic = true;
  if (!strings_place) {
    if (entries->needed.empty() && !entries->soname) return {};
    return malformed_file(file, "a dynamic section without its strings (separate debug information?)");
  }
  image.tables.strings = {strings_place->offset, std::min(strings_place->size, entries->strings_size)};
  const Strings strings(file, image.tables.strings);
  for (const std::uint64_t needed : entries->needed) {
    auto name = strings.at(needed, "the name of a needed library");
    if (!name) return tl::unexpected(name.error());
    image.needed.push_back(std::move(*name));
  }
  const auto text_of = [&](const std::optional<std::uint64_t>& offset, const char* what) -> Result<std::string> {
    return offset ? strings.at(*offset, what) : Result<std::string>("");
  };
  auto soname = text_of(entries->soname, "the soname");
  auto rpath = text_of(entries->rpath, "the RPATH");
  auto runpath = text_of(entries->runpath, "the RUNPATH");
  for (const auto* text : {&soname, &rpath, &runpath})
    if (!*text) return tl::unexpected(text->error());
  image.soname = std::move(*soname);
  if (entries->rpath) image.rpath = std::move(*rpath);
  if (entries->runpath) image.runpath = std::move(*runpath);

  const auto place_or_none = [&](std::uint64_t address) {
    return address == 0 ? ElfTable{} : addresses.place_of(address).value_or(ElfTable{});
  };
  image.tables.symbols = with_section_size(place_or_none(entries->symbols), SHT_DYNSYM, image);
  image.tables.gnu_hash = with_section_size(place_or_none(entries->gnu_hash), SHT_GNU_HASH, image);
  image.tables.sysv_hash = with_section_size(place_or_none(entries->sysv_hash), SHT_HASH, image);
  image.tables.symbol_versions = with_section_size(place_or_none(entries->symbol_versions), SHT_GNU_versym, image);
  const auto needed_versions = read_needed_versions(file, strings, place_or_none(entries->needed_versions),
                                                    entries->needed_version_count, image.needed_versions);
  if (!needed_versions) return needed_versions;
  return read_defined_versions(file, strings, place_or_none(entries->defined_versions), entries->defined_version_count,
                               image.defined_versions);
}

}  // namespace sparkops::facts
