#include "facts/software/fat_binary_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "facts/software/elf_reading.h"

namespace sparkops::facts {

namespace {

// NVIDIA publishes no description. What stands here was found in files made by nvcc 12 and 13 and in shipped libraries,
// and agrees with cuobjdump's listings of them.
//
// Container, 8-aligned: u32 magic, u16 version, u16 header size (16), u64 bytes of all entries. Entry: the header
// below, then an extension up to the header size, then the payload; the next entry follows the payload.
struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t entries_size;
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t stored_size;  ///< padded to 8
  std::uint32_t compressed_size;
  std::uint32_t extension_offset;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t arch;
  std::uint32_t identifier_offset;
  std::uint32_t identifier_size;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t uncompressed_size;  ///< 0: not compressed
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint16_t k_container_version = 1;
constexpr std::uint32_t k_largest_header = 4096;
constexpr std::uint64_t k_alignment = 8;
constexpr std::uint16_t k_kind_ptx = 1, k_kind_cubin = 2, k_kind_lto = 8;
constexpr std::uint64_t k_flag_lz4 = 0x2000, k_flag_zstandard = 0x8000;
constexpr std::uint64_t k_flag_specific = 0x100000, k_flag_family = 0x200000;
constexpr std::uint32_t k_largest_arch = 9999;  // sm_121 today; anything beyond is no architecture

constexpr std::size_t k_first_scan_step = 512, k_largest_scan_step = std::size_t{64} << 10;
constexpr std::uint64_t k_longest_scan = std::uint64_t{16} << 30;  // bytes without a container (sparse files have many)
constexpr std::size_t k_most_problems = 8;                         // that are told
constexpr std::uint64_t k_most_malformed = 100'000;                // before the rest is left alone

CodeKind kind_of(std::uint16_t kind) {
  switch (kind) {
    case k_kind_ptx: return CodeKind::ptx;
    case k_kind_cubin: return CodeKind::cubin;
    case k_kind_lto: return CodeKind::lto_ir;
    default: return CodeKind::other;
  }
}

CodeObject object_of(const EntryHeader& header, std::uint64_t offset) {
  CodeObject object;
  object.target.kind = kind_of(header.kind);
  object.target.arch = static_cast<int>(header.arch);
  if ((header.flags & k_flag_specific) != 0)
    object.target.variant = ArchVariant::specific;
  else if ((header.flags & k_flag_family) != 0)
    object.target.variant = ArchVariant::family;
  if ((header.flags & k_flag_zstandard) != 0)
    object.compression = CodeCompression::zstandard;
  else if ((header.flags & k_flag_lz4) != 0)
    object.compression = CodeCompression::lz4;
  if (object.target.kind == CodeKind::ptx) {
    object.isa_major = header.major;
    object.isa_minor = header.minor;
  }
  object.stored_bytes = header.stored_size;
  object.uncompressed_bytes =
      object.compression == CodeCompression::none ? header.stored_size : header.uncompressed_size;
  object.offset = offset;
  return object;
}

class Walk {
 public:
  Walk(const RandomAccessFile& file, const CodeRegion& region, Resync resync,
       const std::function<void(const CodeObject&)>& visit, FatBinary& result)
      : file_(file), region_(region), resync_(resync), visit_(visit), result_(result) {
    const std::uint64_t there = file.size() - std::min(region.offset, file.size());
    end_ = std::min(region.offset, file.size()) + std::min(region.size, there);
  }

  Result<void> run() {
    std::uint64_t at = (region_.offset + k_alignment - 1) / k_alignment * k_alignment;
    while (at < end_ && end_ - at >= sizeof(ContainerHeader) && result_.malformed < k_most_malformed) {
      const auto header = container_at(at);
      if (!header) return tl::unexpected(header.error());
      if (!*header) {
        const auto next = scan(at + k_alignment);
        if (!next) return tl::unexpected(next.error());
        at = *next;
        continue;
      }
      const std::uint64_t first = at + (*header)->header_size;
      if (const auto walked = walk_entries(first, first + (*header)->entries_size); !walked) return walked;
      ++result_.containers;
      at = (first + (*header)->entries_size + k_alignment - 1) / k_alignment * k_alignment;
    }
    return {};
  }

 private:
  /// The header of the container at this place; nothing where there is none.
  Result<std::optional<ContainerHeader>> container_at(std::uint64_t at) {
    // The first entry is read along: one call less for each container.
    std::array<char, sizeof(ContainerHeader) + sizeof(EntryHeader)> bytes{};
    const auto count =
        file_.read_at(at, std::span<char>(bytes).subspan(0, std::min<std::uint64_t>(bytes.size(), end_ - at)));
    if (!count) return tl::unexpected(count.error());
    ContainerHeader header{};
    if (*count < sizeof header) return std::optional<ContainerHeader>();
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != k_container_magic) return std::optional<ContainerHeader>();
    if (header.version != k_container_version || header.header_size != sizeof header) {
      if (resync_ == Resync::padding)
        note(at,
             fmt::format("a container of version {} with a header of {} bytes", header.version, header.header_size));
      return std::optional<ContainerHeader>();
    }
    const std::uint64_t room = end_ - at - sizeof header;
    if (header.entries_size > room) {
      note(at, fmt::format("a container of {} bytes where {} are left", header.entries_size, room));
      return std::optional<ContainerHeader>();
    }
    if (*count == bytes.size()) {
      first_entry_at_ = at + sizeof header;
      std::memcpy(&first_entry_, bytes.data() + sizeof header, sizeof first_entry_);
    }
    return std::optional<ContainerHeader>(header);
  }

  Result<void> walk_entries(std::uint64_t at, std::uint64_t end) {
    while (at < end) {
      if (end - at < sizeof(EntryHeader)) {
        note(at, "an entry that is cut off");
        return {};
      }
      EntryHeader header{};
      if (first_entry_at_ == at) {
        header = first_entry_;
      } else {
        const auto read = read_structure<EntryHeader>(file_, at, "an entry of the fat binary");
        if (!read) return tl::unexpected(read.error());
        header = *read;
      }
      const std::uint64_t room = end - at;
      if (header.header_size < sizeof header || header.header_size > k_largest_header || header.header_size > room ||
          header.stored_size > room - header.header_size || header.arch > k_largest_arch) {
        note(at,
             fmt::format("an entry with a header of {} bytes, {} bytes of code for architecture {}, where {} are left",
                         header.header_size, header.stored_size, header.arch, room));
        return {};
      }
      const CodeObject object = object_of(header, at);
      add_to_groups(result_, region_.section, object);
      if (visit_) visit_(object);
      at += header.header_size + header.stored_size;
    }
    return {};
  }

  /// The next place at or behind `at` where a container may stand; the end of the region where there is none.
  Result<std::uint64_t> scan(std::uint64_t at) {
    std::vector<char> buffer(k_first_scan_step);
    while (at < end_) {
      if (scanned_ > k_longest_scan) {
        note(at, "more than 16 GiB without a container: the rest was not searched");
        return end_;
      }
      const auto count =
          file_.read_at(at, std::span<char>(buffer).subspan(0, std::min<std::uint64_t>(buffer.size(), end_ - at)));
      if (!count) return tl::unexpected(count.error());
      const std::size_t usable = *count / k_alignment * k_alignment;
      if (usable == 0) return end_;
      for (std::size_t i = 0; i < usable; i += k_alignment) {
        std::uint64_t word = 0;
        std::memcpy(&word, buffer.data() + i, sizeof word);
        if (matches(word)) return at + i;
      }
      at += usable;
      scanned_ += usable;
      buffer.resize(std::min(buffer.size() * 2, k_largest_scan_step));
    }
    return end_;
  }

  [[nodiscard]] bool matches(std::uint64_t word) const {
    constexpr std::uint64_t k_start = (std::uint64_t{sizeof(ContainerHeader)} << 48U) |
                                      (std::uint64_t{k_container_version} << 32U) | k_container_magic;
    return resync_ == Resync::anywhere ? word == k_start : static_cast<std::uint32_t>(word) == k_container_magic;
  }

  void note(std::uint64_t at, std::string what) {
    ++result_.malformed;
    if (result_.problems.size() < k_most_problems)
      result_.problems.push_back(fmt::format("{}: offset {}: {}", file_.name(), at, what));
  }

  const RandomAccessFile& file_;
  const CodeRegion& region_;
  Resync resync_;
  const std::function<void(const CodeObject&)>& visit_;
  FatBinary& result_;
  std::uint64_t end_ = 0;
  std::uint64_t scanned_ = 0;
  std::uint64_t first_entry_at_ = 0;  // 0: none; no entry can stand at the start of a file
  EntryHeader first_entry_{};
};

}  // namespace

void add_to_groups(FatBinary& result, const std::string& section, const CodeObject& object) {
  const auto is_alike = [&](const CodeGroup& group) {
    return group.target == object.target && group.compression == object.compression &&
           group.isa_major == object.isa_major && group.isa_minor == object.isa_minor && group.section == section;
  };
  auto group = std::find_if(result.groups.begin(), result.groups.end(), is_alike);
  if (group == result.groups.end()) {
    constexpr std::size_t k_most_groups = 4096;  // hostile files only: real ones have some dozens
    if (result.groups.size() == k_most_groups) return;
    result.groups.push_back(
        {section, object.target, object.compression, object.isa_major, object.isa_minor, 0, 0, 0, 0});
    group = result.groups.end() - 1;
  }
  ++result.objects;
  ++group->count;
  if (object.target.kind == CodeKind::cubin && object.uncompressed_bytes < k_link_stub_bytes) ++group->stubs;
  group->stored_bytes += object.stored_bytes;
  group->uncompressed_bytes += object.uncompressed_bytes;
}

Result<void> walk_containers(const RandomAccessFile& file, const CodeRegion& region, Resync resync,
                             const std::function<void(const CodeObject&)>& visit, FatBinary& result) {
  return Walk(file, region, resync, visit, result).run();
}

}  // namespace sparkops::facts
