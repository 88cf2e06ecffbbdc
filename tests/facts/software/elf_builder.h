#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facts/software/elf_symbols.h"

namespace sparkops::testing {

/// The bytes of a shared object, for tests that have no compiler. Addresses equal places in the file.
struct ElfBuilder {
  std::uint16_t machine = EM_AARCH64;
  std::string soname;
  std::vector<std::string> needed;
  std::optional<std::string> rpath, runpath;
  std::vector<std::string> exported, undefined, weak_undefined;
  std::vector<std::pair<std::string, std::string>> sections;  ///< name, content; 8-aligned
  bool with_sections = true;
  bool with_gnu_hash = true;  ///< else the older table

  [[nodiscard]] std::string bytes() const;
};

namespace elf_builder {

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void align(std::string& out) {
  while (out.size() % 8 != 0) out += '\0';
}

class Strings {
 public:
  std::uint32_t add(const std::string& text) {
    const auto at = static_cast<std::uint32_t>(text_.size());
    text_ += text;
    text_ += '\0';
    return at;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_ = std::string(1, '\0');
};

/// One word of filter and a few buckets; `names` are sorted by bucket here, as the table demands.
inline std::string gnu_hash_table(std::vector<std::string>& names, std::uint32_t first) {
  const std::uint32_t buckets = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(names.size() / 3));
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return facts::gnu_hash(a) % buckets < facts::gnu_hash(b) % buckets;
  });
  constexpr std::uint32_t k_shift = 6;
  std::uint64_t filter = 0;
  std::vector<std::uint32_t> starts(buckets, 0), chains;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint32_t hash = facts::gnu_hash(names[i]);
    filter |= std::uint64_t{1} << (hash % 64) | std::uint64_t{1} << ((hash >> k_shift) % 64);
    const bool is_last = i + 1 == names.size() || facts::gnu_hash(names[i + 1]) % buckets != hash % buckets;
    if (starts[hash % buckets] == 0) starts[hash % buckets] = first + static_cast<std::uint32_t>(i);
    chains.push_back((hash & ~1U) | (is_last ? 1U : 0U));
  }
  std::string table;
  for (const std::uint32_t word : {buckets, first, 1U, k_shift}) put(table, word);
  put(table, filter);
  for (const std::uint32_t word : starts) put(table, word);
  for (const std::uint32_t word : chains) put(table, word);
  return table;
}

/// One bucket with everything in it.
inline std::string sysv_hash_table(std::size_t symbols) {
  std::string table;
  put(table, std::uint32_t{1});
  put(table, static_cast<std::uint32_t>(symbols));
  put(table, static_cast<std::uint32_t>(symbols > 1 ? 1 : 0));
  for (std::size_t i = 0; i < symbols; ++i)
    put(table, static_cast<std::uint32_t>(i == 0 || i + 1 == symbols ? 0 : i + 1));
  return table;
}

}  // namespace elf_builder

inline std::string ElfBuilder::bytes() const {
  using namespace elf_builder;
  Strings strings;
  std::vector<Elf64_Sym> symbols(1, Elf64_Sym{});
  const auto add_symbol = [&](const std::string& name, unsigned char binding, std::uint16_t section) {
    Elf64_Sym symbol{};
    symbol.st_name = strings.add(name);
    symbol.st_info = static_cast<unsigned char>((binding << 4U) | STT_FUNC);
    symbol.st_shndx = section;
    symbol.st_value = section == SHN_UNDEF ? 0 : 0x100;
    symbols.push_back(symbol);
  };
  for (const auto& name : undefined) add_symbol(name, STB_GLOBAL, SHN_UNDEF);
  for (const auto& name : weak_undefined) add_symbol(name, STB_WEAK, SHN_UNDEF);
  std::vector<std::string> hashed = exported;
  std::string hash = gnu_hash_table(hashed, static_cast<std::uint32_t>(symbols.size()));
  for (const auto& name : hashed) add_symbol(name, STB_GLOBAL, 1);
  if (!with_gnu_hash) hash = sysv_hash_table(symbols.size());

  std::vector<Elf64_Dyn> dynamic;
  const auto add_dynamic = [&](std::int64_t tag, std::uint64_t value) {
    Elf64_Dyn entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    dynamic.push_back(entry);
  };
  for (const auto& name : needed) add_dynamic(DT_NEEDED, strings.add(name));
  if (!soname.empty()) add_dynamic(DT_SONAME, strings.add(soname));
  if (rpath) add_dynamic(DT_RPATH, strings.add(*rpath));
  if (runpath) add_dynamic(DT_RUNPATH, strings.add(*runpath));

  constexpr std::size_t k_start = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  std::string body;
  const auto place = [&](const std::string& content) {
    align(body);
    const std::size_t at = k_start + body.size();
    body += content;
    return at;
  };
  const std::size_t strings_at = place(strings.text());
  const std::size_t symbols_at =
      place(std::string(reinterpret_cast<const char*>(symbols.data()), symbols.size() * sizeof(Elf64_Sym)));
  const std::size_t hash_at = place(hash);
  add_dynamic(DT_STRTAB, strings_at);
  add_dynamic(DT_STRSZ, strings.text().size());
  add_dynamic(DT_SYMTAB, symbols_at);
  add_dynamic(with_gnu_hash ? DT_GNU_HASH : DT_HASH, hash_at);
  add_dynamic(DT_NULL, 0);
  const std::size_t dynamic_size = dynamic.size() * sizeof(Elf64_Dyn);
  const std::size_t dynamic_at = place(std::string(reinterpret_cast<const char*>(dynamic.data()), dynamic_size));

  Strings names;
  std::vector<Elf64_Shdr> headers(1, Elf64_Shdr{});
  const auto add_section = [&](const std::string& name, std::uint32_t type, std::size_t at, std::size_t size) {
    Elf64_Shdr header{};
    header.sh_name = names.add(name);
    header.sh_type = type;
    header.sh_flags = SHF_ALLOC;
    header.sh_addr = header.sh_offset = at;
    header.sh_size = size;
    headers.push_back(header);
  };
  add_section(".dynsym", SHT_DYNSYM, symbols_at, symbols.size() * sizeof(Elf64_Sym));
  add_section(with_gnu_hash ? ".gnu.hash" : ".hash", with_gnu_hash ? SHT_GNU_HASH : SHT_HASH, hash_at, hash.size());
  for (const auto& [name, content] : sections) add_section(name, SHT_PROGBITS, place(content), content.size());
  add_section(".shstrtab", SHT_STRTAB, 0, 0);
  headers.back().sh_offset = place(names.text());
  headers.back().sh_size = names.text().size();
  align(body);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  if (with_sections) {
    header.e_shoff = k_start + body.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<std::uint16_t>(headers.size());
    header.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);
  }
  Elf64_Phdr load{}, dynamic_segment{};
  load.p_type = PT_LOAD;
  load.p_filesz = load.p_memsz = k_start + body.size();
  dynamic_segment.p_type = PT_DYNAMIC;
  dynamic_segment.p_offset = dynamic_segment.p_vaddr = dynamic_at;
  dynamic_segment.p_filesz = dynamic_segment.p_memsz = dynamic_size;
  std::string out;
  put(out, header);
  put(out, load);
  put(out, dynamic_segment);
  out += body;
  if (with_sections) out.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  return out;
}

}  // namespace sparkops::testing
