#include "facts/software/fat_binary.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "facts/software/elf_reading.h"
#include "facts/software/fat_binary_walk.h"

namespace sparkops::facts {

namespace {

constexpr std::array<std::string_view, 2> k_code_sections = {".nv_fatbin", "__nv_relfatbin"};
constexpr std::uint64_t k_smallest_searched_section = std::uint64_t{1} << 20;

/// .nvFatBinSegment: one of these for each container that the program registers.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t data;
  std::uint64_t filename;
};
static_assert(sizeof(Wrapper) == 24);
constexpr std::uint32_t k_wrapper_magic = 0x466243B1;
constexpr std::uint64_t k_most_wrappers = 1'000'000;

bool is_code_section(const ElfSection& section) {
  return std::find(k_code_sections.begin(), k_code_sections.end(), section.name) != k_code_sections.end();
}

Result<std::uint64_t> count_wrappers(const RandomAccessFile& file, const ElfImage& image) {
  std::uint64_t wrappers = 0;
  for (const ElfSection& section : image.sections) {
    if (section.name != ".nvFatBinSegment" || section.type == SHT_NOBITS) continue;
    const std::uint64_t count = std::min(section.size / sizeof(Wrapper), k_most_wrappers);
    const auto table = read_table<Wrapper>(file, section.offset, count, "the registered fat binaries");
    if (!table) return tl::unexpected(table.error());
    wrappers += static_cast<std::uint64_t>(
        std::count_if(table->begin(), table->end(), [](const Wrapper& w) { return w.magic == k_wrapper_magic; }));
  }
  return wrappers;
}

bool holds_nothing_but_stubs(const FatBinary& result) {
  return std::all_of(result.groups.begin(), result.groups.end(),
                     [](const CodeGroup& group) { return group.count == group.stubs; });
}

/// The large sections that are loaded, besides those for code; the whole file where sections were stripped.
std::vector<CodeRegion> other_regions(const ElfImage& image) {
  if (image.sections.empty()) return {{"", 0, image.file_size}};
  std::vector<CodeRegion> regions;
  for (const ElfSection& section : image.sections) {
    const bool loaded = section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0;
    if (loaded && !is_code_section(section) && section.size >= k_smallest_searched_section)
      regions.push_back({section.name, section.offset, section.size});
  }
  return regions;
}

void sort_groups(FatBinary& result) {
  std::sort(result.groups.begin(), result.groups.end(), [](const CodeGroup& a, const CodeGroup& b) {
    return std::tie(a.section, a.target, a.compression, a.isa_major, a.isa_minor) <
           std::tie(b.section, b.target, b.compression, b.isa_major, b.isa_minor);
  });
}

/// CUDA 13: EI_OSABI 0x41 and the architecture in bits 8 to 15 of e_flags. CUDA 12 and older: in bits 0 to 7, and bit
/// 11 for the letter a.
CodeTarget target_of_cubin(const ElfImage& image) {
  constexpr std::uint8_t k_cuda_13_abi = 0x41;
  constexpr std::uint32_t k_arch_mask = 0xff, k_specific = 0x800;
  if (image.os_abi == k_cuda_13_abi)
    return {CodeKind::cubin, static_cast<int>((image.flags >> 8U) & k_arch_mask), ArchVariant::untold};
  return {CodeKind::cubin, static_cast<int>(image.flags & k_arch_mask),
          (image.flags & k_specific) != 0 ? ArchVariant::specific : ArchVariant::plain};
}

FatBinary alone(const CodeObject& object, const std::function<void(const CodeObject&)>& visit) {
  FatBinary result;
  add_to_groups(result, "", object);
  if (visit) visit(object);
  return result;
}

/// ".version 9.0" and ".target sm_121a, debug" at the beginning of a PTX text.
std::optional<CodeObject> parse_ptx_start(std::string_view text) {
  CodeObject object;
  object.target.kind = CodeKind::ptx;
  bool has_version = false;
  for (const std::string_view line : split_lines(text)) {
    const auto words = split_words(trim(line));
    if (words.size() < 2) continue;
    if (words[0] == ".version") {
      const std::size_t dot = words[1].find('.');
      const auto major = parse_integer(words[1].substr(0, dot));
      const auto minor = parse_integer(dot == std::string_view::npos ? "0" : words[1].substr(dot + 1));
      has_version = major && minor && *major > 0 && *major < 100 && *minor >= 0 && *minor < 100;
      if (!has_version) return std::nullopt;
      object.isa_major = static_cast<int>(*major);
      object.isa_minor = static_cast<int>(*minor);
    }
    if (words[0] != ".target" || !has_version) continue;
    std::string_view target = words[1].substr(0, words[1].find(','));
    if (!target.starts_with("sm_")) return std::nullopt;
    target.remove_prefix(3);
    if (target.ends_with('a')) object.target.variant = ArchVariant::specific;
    if (target.ends_with('f')) object.target.variant = ArchVariant::family;
    if (object.target.variant != ArchVariant::plain) target.remove_suffix(1);
    const auto arch = parse_integer(target);
    if (!arch || *arch <= 0 || *arch > 9999) return std::nullopt;
    object.target.arch = static_cast<int>(*arch);
    return object;
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const CodeTarget& target) {
  std::string text;
  switch (target.kind) {
    case CodeKind::ptx: text = "compute_"; break;
    case CodeKind::cubin: text = "sm_"; break;
    case CodeKind::lto_ir: text = "lto_"; break;
    case CodeKind::other: text = "unknown_"; break;
  }
  text += std::to_string(target.arch);
  switch (target.variant) {
    case ArchVariant::plain: break;
    case ArchVariant::specific: text += "a"; break;
    case ArchVariant::family: text += "f"; break;
    case ArchVariant::untold: text += "?"; break;
  }
  return text;
}

Result<FatBinary> read_fat_binary(const RandomAccessFile& file, const ElfImage& image, HiddenContainers hidden,
                                  const std::function<void(const CodeObject&)>& visit) {
  if (image.machine == ElfMachine::cuda) return read_device_code(file, visit);
  FatBinary result;
  for (const std::string_view name : k_code_sections)
    for (const ElfSection& section : image.sections) {
      if (section.name != name || section.type == SHT_NOBITS) continue;
      const auto walked =
          walk_containers(file, {section.name, section.offset, section.size}, Resync::padding, visit, result);
      if (!walked) return tl::unexpected(walked.error());
    }
  const auto wrappers = count_wrappers(file, image);
  if (!wrappers) return tl::unexpected(wrappers.error());
  result.wrappers = *wrappers;
  const bool search = hidden == HiddenContainers::always ||
                      (hidden == HiddenContainers::if_only_stubs && holds_nothing_but_stubs(result));
  result.searched_elsewhere = search;
  if (search)
    for (const CodeRegion& region : other_regions(image)) {
      const auto walked = walk_containers(file, region, Resync::anywhere, visit, result);
      if (!walked) return tl::unexpected(walked.error());
    }
  sort_groups(result);
  return result;
}

Result<FatBinary> read_device_code(const RandomAccessFile& file, const std::function<void(const CodeObject&)>& visit) {
  constexpr std::size_t k_ptx_start = std::size_t{64} << 10;  // comments may stand before the first directives
  std::string start(std::min<std::uint64_t>(k_ptx_start, file.size()), '\0');
  const auto count = file.read_at(0, start);
  if (!count) return tl::unexpected(count.error());
  start.resize(*count);
  std::uint32_t magic = 0;
  if (start.size() >= sizeof magic) std::memcpy(&magic, start.data(), sizeof magic);
  if (magic == k_container_magic) {
    FatBinary result;
    const auto walked = walk_containers(file, {"", 0, file.size()}, Resync::padding, visit, result);
    if (!walked) return tl::unexpected(walked.error());
    if (result.containers == 0 && !result.problems.empty())
      return failure(ErrorKind::malformed, result.problems.front());
    sort_groups(result);
    return result;
  }
  if (looks_like_elf(start)) {
    const auto image = read_elf_image(file);
    if (!image) return tl::unexpected(image.error());
    if (image->machine != ElfMachine::cuda) return malformed_file(file, "a library, not a cubin");
    CodeObject object;
    object.target = target_of_cubin(*image);
    object.stored_bytes = object.uncompressed_bytes = file.size();
    return alone(object, visit);
  }
  if (auto object = parse_ptx_start(start)) {
    object->stored_bytes = object->uncompressed_bytes = file.size();
    return alone(*object, visit);
  }
  return malformed_file(file, "neither a fat binary nor a cubin nor PTX");
}

}  // namespace sparkops::facts
