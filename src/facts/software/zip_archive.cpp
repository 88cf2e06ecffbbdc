#include "facts/software/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "facts/software/elf_reading.h"
#include "facts/software/inflated_file.h"

namespace sparkops::facts {

namespace {

// PKWARE APPNOTE 6.3: signatures, sizes and offsets of the fixed parts.
constexpr std::uint32_t k_local_header = 0x04034b50, k_central_header = 0x02014b50;
constexpr std::uint32_t k_end = 0x06054b50, k_zip64_end = 0x06064b50, k_zip64_locator = 0x07064b50;
constexpr std::uint64_t k_local_size = 30, k_central_size = 46, k_end_size = 22, k_locator_size = 20;
constexpr std::uint64_t k_zip64_end_size = 56;
constexpr std::uint64_t k_longest_comment = 65'535;
constexpr std::uint16_t k_zip64_field = 1;
constexpr std::uint16_t k_stored = 0, k_deflated = 8;

constexpr std::uint64_t k_most_members = 1'000'000;
constexpr std::uint64_t k_largest_directory = std::uint64_t{256} << 20;
// Deflate reaches 1032 in theory; libraries of device code reach 20, text of zeros a few hundred.
constexpr std::uint64_t k_largest_ratio = 250;
constexpr std::uint64_t k_largest_deflated = std::uint64_t{8} << 30;  // no library is that large
constexpr std::uint64_t k_ratio_matters_from = std::uint64_t{16} << 20;

template <class T>
T number_at(std::string_view bytes, std::uint64_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Directory {
  std::uint64_t offset = 0, size = 0, members = 0;
};

Result<std::string> bytes_at(const RandomAccessFile& file, std::uint64_t offset, std::uint64_t size, const char* what) {
  std::string bytes(size, '\0');
  const auto read = read_exactly(file, offset, bytes, what);
  if (!read) return tl::unexpected(read.error());
  return bytes;
}

/// Archives beyond 4 GiB say where the directory is in a record of their own, in front of the usual one.
Result<void> read_zip64_end(const RandomAccessFile& file, std::uint64_t end_at, Directory& directory) {
  if (end_at < k_locator_size) return {};
  const auto locator = bytes_at(file, end_at - k_locator_size, k_locator_size, "the end of the archive");
  if (!locator) return tl::unexpected(locator.error());
  if (number_at<std::uint32_t>(*locator, 0) != k_zip64_locator) return {};
  const auto record =
      bytes_at(file, number_at<std::uint64_t>(*locator, 8), k_zip64_end_size, "the end of the archive (zip64)");
  if (!record) return tl::unexpected(record.error());
  if (number_at<std::uint32_t>(*record, 0) != k_zip64_end)
    return malformed_file(file, "no zip64 record where it should be");
  directory = {number_at<std::uint64_t>(*record, 48), number_at<std::uint64_t>(*record, 40),
               number_at<std::uint64_t>(*record, 32)};
  return {};
}

Result<Directory> find_directory(const RandomAccessFile& file) {
  const std::uint64_t size = file.size();
  const std::uint64_t tail_size = std::min(size, k_end_size + k_longest_comment);
  const auto tail = bytes_at(file, size - tail_size, tail_size, "the end of the archive");
  if (!tail) return tl::unexpected(tail.error());
  for (std::uint64_t back = k_end_size; back <= tail_size; ++back) {
    const std::uint64_t at = tail_size - back;
    if (number_at<std::uint32_t>(*tail, at) != k_end) continue;
    Directory directory{number_at<std::uint32_t>(*tail, at + 16), number_at<std::uint32_t>(*tail, at + 12),
                        number_at<std::uint16_t>(*tail, at + 10)};
    const auto large = read_zip64_end(file, size - back, directory);
    if (!large) return tl::unexpected(large.error());
    return directory;
  }
  return malformed_file(file, "a zip archive without its end (cut off?)");
}

/// Sizes and offsets that do not fit 32 bits stand in an extra field, in this order, each only where it is needed.
void read_zip64_field(std::string_view extra, ZipMember& member) {
  constexpr std::uint32_t k_elsewhere = 0xffffffff;
  while (extra.size() >= 4) {
    const auto id = number_at<std::uint16_t>(extra, 0);
    const std::size_t size = std::min<std::size_t>(number_at<std::uint16_t>(extra, 2), extra.size() - 4);
    if (id == k_zip64_field) {
      const std::string_view field = extra.substr(4, size);
      std::uint64_t at = 0;
      for (std::uint64_t* const value : {&member.size, &member.compressed_size, &member.header_offset}) {
        if (*value != k_elsewhere || at + 8 > field.size()) continue;
        *value = number_at<std::uint64_t>(field, at);
        at += 8;
      }
    }
    extra.remove_prefix(4 + size);
  }
}

Result<std::vector<ZipMember>> read_members(const RandomAccessFile& file, const Directory& directory) {
  if (directory.size > k_largest_directory || directory.members > k_most_members ||
      directory.members > directory.size / k_central_size)
    return malformed_file(
        file, fmt::format("claims {} members in a directory of {} bytes", directory.members, directory.size));
  if (directory.offset > file.size() || directory.size > file.size() - directory.offset)
    return malformed_file(file, "a directory beyond the end of the archive");
  const auto bytes = bytes_at(file, directory.offset, directory.size, "the directory of the archive");
  if (!bytes) return tl::unexpected(bytes.error());
  std::vector<ZipMember> members;
  members.reserve(directory.members);
  std::string_view rest = *bytes;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (rest.size() < k_central_size || number_at<std::uint32_t>(rest, 0) != k_central_header)
      return malformed_file(file, "its directory is damaged");
    const std::uint64_t name_size = number_at<std::uint16_t>(rest, 28);
    const std::uint64_t extra_size = number_at<std::uint16_t>(rest, 30);
    const std::uint64_t comment_size = number_at<std::uint16_t>(rest, 32);
    if (rest.size() - k_central_size < name_size + extra_size + comment_size)
      return malformed_file(file, "its directory is cut off");
    ZipMember member;
    member.encrypted = (number_at<std::uint16_t>(rest, 8) & 1U) != 0;
    member.method = number_at<std::uint16_t>(rest, 10);
    member.compressed_size = number_at<std::uint32_t>(rest, 20);
    member.size = number_at<std::uint32_t>(rest, 24);
    member.header_offset = number_at<std::uint32_t>(rest, 42);
    member.name = std::string(rest.substr(k_central_size, name_size));
    read_zip64_field(rest.substr(k_central_size + name_size, extra_size), member);
    members.push_back(std::move(member));
    rest.remove_prefix(k_central_size + name_size + extra_size + comment_size);
  }
  return members;
}

/// Members that share bytes or grow beyond belief are how a small archive becomes a large one.
Result<void> refuse_bombs(const RandomAccessFile& file, const std::vector<ZipMember>& members) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  ranges.reserve(members.size());
  for (const ZipMember& member : members) {
    const std::string name = printable(member.name, 200);
    if (member.header_offset > file.size() || member.compressed_size > file.size() - member.header_offset)
      return malformed_file(file, name + " lies beyond the end of the archive");
    if (member.method == k_stored && !member.encrypted && member.size != member.compressed_size)
      return malformed_file(file, name + " is stored and claims two sizes");
    if (member.size > k_ratio_matters_from && member.size / k_largest_ratio > member.compressed_size)
      return malformed_file(file, fmt::format("{} claims to unpack from {} to {} bytes: refused as a zip bomb", name,
                                              member.compressed_size, member.size));
    ranges.emplace_back(member.header_offset, member.header_offset + k_local_size + member.compressed_size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return malformed_file(file, "members that share bytes: refused as a zip bomb");
  return {};
}

}  // namespace

bool looks_like_zip(std::string_view start) {
  return start.size() >= 4 &&
         (number_at<std::uint32_t>(start, 0) == k_local_header || number_at<std::uint32_t>(start, 0) == k_end);
}

Result<ZipArchive> ZipArchive::open(std::shared_ptr<const RandomAccessFile> file) {
  const auto directory = find_directory(*file);
  if (!directory) return tl::unexpected(directory.error());
  auto members = read_members(*file, *directory);
  if (!members) return tl::unexpected(members.error());
  if (const auto safe = refuse_bombs(*file, *members); !safe) return tl::unexpected(safe.error());
  ZipArchive archive;
  archive.file_ = std::move(file);
  archive.members_ = std::move(*members);
  return archive;
}

Result<std::shared_ptr<const RandomAccessFile>> ZipArchive::open_member(const ZipMember& member) const {
  std::string name = file_->name() + ": " + printable(member.name, 200);
  if (member.encrypted) return failure(ErrorKind::unsupported, name + ": encrypted");
  if (member.method != k_stored && member.method != k_deflated)
    return failure(ErrorKind::unsupported,
                   fmt::format("{}: compressed by method {}, which is not known", name, member.method));
  const auto header = bytes_at(*file_, member.header_offset, k_local_size, "a member of the archive");
  if (!header) return tl::unexpected(header.error());
  if (number_at<std::uint32_t>(*header, 0) != k_local_header)
    return malformed_file(*file_, printable(member.name, 200) + " is not where the directory says");
  const std::uint64_t data = member.header_offset + k_local_size + number_at<std::uint16_t>(*header, 26) +
                             number_at<std::uint16_t>(*header, 28);
  if (data > file_->size() || member.compressed_size > file_->size() - data)
    return malformed_file(*file_, printable(member.name, 200) + " is cut off");
  auto range = open_range(file_, data, member.compressed_size, name);
  if (member.method == k_stored) return range;
  if (member.size > k_largest_deflated)
    return failure(ErrorKind::too_large, name + ": unpacks to more than the 8 GiB that are looked through");
  return open_inflated(std::move(range), member.size, std::move(name));
}

}  // namespace sparkops::facts
