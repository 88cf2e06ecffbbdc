#include "facts/software/cuda_tool_version.h"

#include <algorithm>
#include <optional>

#include "facts/software/elf_image.h"

namespace sparkops::facts {

namespace {

/// "12.9.86" of "release 12.9, V12.9.86".
std::optional<std::string> version_behind_mark(std::string_view text) {
  const std::size_t v = text.find(", V");
  constexpr std::size_t k_near = 32;
  if (v > k_near) return std::nullopt;  // npos too
  text.remove_prefix(v + 3);
  const std::string_view version = text.substr(0, text.find_first_not_of("0123456789."));
  if (version.empty() || version.size() > k_near) return std::nullopt;
  return std::string(version);
}

}  // namespace

Result<std::string> read_cuda_tool_version(const Root& root, const std::string& path) {
  constexpr std::string_view k_mark = "Cuda compilation tools, release ";
  constexpr std::uint64_t k_largest_section = std::uint64_t{256} << 20;
  constexpr std::size_t k_step = std::size_t{1} << 20, k_overlap = 128;
  const auto file = root.open_file(path);
  if (!file) return tl::unexpected(file.error());
  const auto image = read_elf_image(**file);
  if (!image) return tl::unexpected(image.error());
  for (const ElfSection& section : image->sections) {
    if (section.name != ".rodata" || section.size > k_largest_section) continue;
    std::string buffer;
    for (std::uint64_t at = 0; at < section.size; at += k_step) {
      buffer.resize(std::min<std::uint64_t>(k_step + k_overlap, section.size - at));
      const auto count = (*file)->read_at(section.offset + at, buffer);
      if (!count) return tl::unexpected(count.error());
      buffer.resize(*count);
      const std::size_t mark = buffer.find(k_mark);
      if (mark == std::string::npos) continue;
      if (auto version = version_behind_mark(std::string_view(buffer).substr(mark + k_mark.size()))) return *version;
    }
  }
  return failure(ErrorKind::not_found, (*file)->name() + ": holds no text that tells its CUDA release");
}

}  // namespace sparkops::facts
