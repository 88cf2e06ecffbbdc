#include "facts/machine/file_mappings.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// A process with a hundred thousand regions writes ten megabytes of maps, and ten times as much of smaps.
constexpr std::size_t k_maps_cap = std::size_t{16} << 20;
constexpr std::size_t k_smaps_cap = std::size_t{128} << 20;

constexpr std::size_t k_words_before_path = 5;

/// "7f1c…-7f1d… r--s 00000000 fd:00 131 /models/a.gguf"; nothing for a line of another form.
std::optional<MappedRegion> parse_header(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() <= k_words_before_path || !contains(words[0], "-")) return std::nullopt;
  const auto device = split(words[3], ':');
  const auto inode = parse_integer(words[4]);
  if (device.size() != 2 || !inode || *inode <= 0) return std::nullopt;
  const auto major_number = parse_hexadecimal(device[0]);
  const auto minor_number = parse_hexadecimal(device[1]);
  constexpr std::uint64_t k_most = std::numeric_limits<unsigned>::max();
  if (!major_number || !minor_number || *major_number > k_most || *minor_number > k_most) return std::nullopt;
  MappedRegion region;
  region.device_major = static_cast<unsigned>(*major_number);
  region.device_minor = static_cast<unsigned>(*minor_number);
  region.inode = static_cast<std::uint64_t>(*inode);
  region.path = printable(line.substr(static_cast<std::size_t>(words[k_words_before_path].data() - line.data())));
  return region;
}

/// "Rss:    1024 kB"
std::optional<Bytes> size_of_line(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  const auto words = split_words(line.substr(key.size()));
  const auto count = words.size() == 2 && words[1] == "kB" ? parse_integer(words[0]) : std::nullopt;
  if (!count || *count < 0 || *count > std::numeric_limits<std::int64_t>::max() / k_kib) return std::nullopt;
  return kibibytes(*count);
}

bool is_same_file(const MappedRegion& region, const FileIdentity& file) {
  if (region.inode != file.inode) return false;
  return (region.device_major == ::major(file.device) && region.device_minor == ::minor(file.device)) ||
         region.path == file.path;
}

std::string name_of(const Root& root, const std::string& directory) {
  const auto name = root.read(directory + "/comm");
  return name ? printable(trim(*name), 64) : "?";
}

void add_saturating(Bytes& sum, Bytes part) {
  if (__builtin_add_overflow(sum.value, part.value, &sum.value)) sum.value = std::numeric_limits<std::int64_t>::max();
}

/// The files by their inode; those without one are looked for by nobody.
using FilesByInode = std::multimap<std::uint64_t, std::size_t>;

/// What one process maps of the files, by the file's index; `text` is of maps or smaps.
std::map<std::size_t, FileMapping> mappings_in(std::string_view text, const std::vector<FileIdentity>& files,
                                               const FilesByInode& by_inode) {
  std::map<std::size_t, FileMapping> found;
  for (const MappedRegion& region : parse_mappings(text)) {
    const auto [first, last] = by_inode.equal_range(region.inode);
    for (auto at = first; at != last; ++at) {
      if (!is_same_file(region, files[at->second])) continue;
      FileMapping& mapping = found[at->second];
      add_saturating(mapping.resident, region.resident);
      add_saturating(mapping.locked, region.locked);
    }
  }
  return found;
}

}  // namespace

std::vector<MappedRegion> parse_mappings(std::string_view text) {
  std::vector<MappedRegion> regions;
  bool inside = false;  // behind the header of a region that is kept
  for (const std::string_view line : split_lines(text)) {
    // Fields start with a capital letter, addresses with a hexadecimal digit in lower case.
    const bool is_field = !line.empty() && line[0] >= 'A' && line[0] <= 'Z';
    if (!is_field) {
      auto region = parse_header(line);
      inside = region.has_value();
      if (region) regions.push_back(std::move(*region));
      continue;
    }
    if (!inside) continue;
    if (const auto resident = size_of_line(line, "Rss:")) regions.back().resident = *resident;
    if (const auto locked = size_of_line(line, "Locked:")) regions.back().locked = *locked;
  }
  return regions;
}

FileMappings read_mappings(const Root& root, const std::vector<FileIdentity>& files) {
  FileMappings result;
  FilesByInode by_inode;
  for (std::size_t index = 0; index < files.size(); ++index)
    if (files[index].inode != 0) by_inode.emplace(files[index].inode, index);
  const auto entries = by_inode.empty() ? Result<std::vector<DirectoryEntry>>{} : root.list("proc");
  if (!entries) return result;
  for (const DirectoryEntry& entry : *entries) {
    const auto pid = parse_integer(entry.name);
    if (!pid || *pid <= 0) continue;
    const std::string directory = "proc/" + entry.name;
    const auto maps = root.read(directory + "/maps", k_maps_cap);
    if (!maps) {
      if (maps.error().kind == ErrorKind::permission_denied) ++result.not_permitted;
      continue;
    }
    auto found = mappings_in(*maps, files, by_inode);
    if (found.empty()) continue;
    // Only the second, slower file tells how many pages, and whether they are locked.
    if (const auto smaps = root.read(directory + "/smaps", k_smaps_cap)) {
      auto in_detail = mappings_in(*smaps, files, by_inode);
      if (!in_detail.empty()) found = std::move(in_detail);
    }
    for (auto& [index, mapping] : found) {
      mapping.file = index;
      mapping.pid = *pid;
      mapping.name = name_of(root, directory);
      result.mappings.push_back(std::move(mapping));
    }
  }
  return result;
}

}  // namespace sparkops::facts
