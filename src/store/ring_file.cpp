#include "store/ring_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace sparkops::store {

namespace {

constexpr std::uint32_t k_magic = 0x52505331;  // "1SPR"

/// In front of each slot's text; both machines this runs on are little-endian.
struct SlotHeader {
  std::uint32_t magic;
  std::uint32_t checksum;  ///< of everything behind it up to the end of the text
  std::uint64_t sequence;
  std::int64_t unix_ms;
  std::uint32_t length;
  std::uint32_t reserved;
};
static_assert(sizeof(SlotHeader) == RingFile::k_slot_size - RingFile::k_longest_text);

/// FNV-1a, 32 bits.
std::uint32_t checksum(std::string_view bytes) {
  constexpr std::uint32_t k_offset = 2166136261U;
  constexpr std::uint32_t k_prime = 16777619U;
  std::uint32_t sum = k_offset;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * k_prime;
  return sum;
}

constexpr std::size_t k_checked_from = 2 * sizeof(std::uint32_t);

using Slot = std::array<char, RingFile::k_slot_size>;

Result<void> write_at(int file, const Slot& slot, std::size_t index) {
  const ssize_t written = ::pwrite(file, slot.data(), slot.size(), static_cast<off_t>(index * slot.size()));
  if (written == static_cast<ssize_t>(slot.size())) return {};
  return tl::unexpected(system_error("ring.bin", written < 0 ? errno : ENOSPC));
}

}  // namespace

Result<RingFile> RingFile::create(const std::string& path) {
  constexpr mode_t k_mode = 0644;
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, k_mode));
  if (!file.valid()) return tl::unexpected(system_error(path, errno));
  for (std::size_t i = 0; i < k_slots; ++i)
    if (const auto written = write_at(file.get(), Slot{}, i); !written) return tl::unexpected(written.error());
  if (::fsync(file.get()) != 0) return tl::unexpected(system_error(path, errno));
  return RingFile(std::move(file));
}

Result<void> RingFile::append(Timestamp taken, std::string_view text) {
  text = text.substr(0, k_longest_text);
  Slot slot{};
  SlotHeader header{k_magic, 0, ++sequence_, taken.unix_ms, static_cast<std::uint32_t>(text.size()), 0};
  std::memcpy(slot.data() + sizeof header, text.data(), text.size());
  std::memcpy(slot.data(), &header, sizeof header);
  header.checksum = checksum({slot.data() + k_checked_from, sizeof header - k_checked_from + text.size()});
  std::memcpy(slot.data(), &header, sizeof header);
  return write_at(file_.get(), slot, (sequence_ - 1) % k_slots);
}

std::vector<RingEntry> parse_ring(std::string_view bytes) {
  std::vector<RingEntry> entries;
  for (std::size_t i = 0; i < RingFile::k_slots && bytes.size() >= RingFile::k_slot_size;
       ++i, bytes.remove_prefix(RingFile::k_slot_size)) {
    SlotHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != k_magic || header.length > RingFile::k_longest_text) continue;
    const std::string_view checked = bytes.substr(k_checked_from, sizeof header - k_checked_from + header.length);
    if (checksum(checked) != header.checksum) continue;
    entries.push_back({header.sequence, {header.unix_ms}, std::string(bytes.substr(sizeof header, header.length))});
  }
  std::sort(entries.begin(), entries.end(),
            [](const RingEntry& a, const RingEntry& b) { return a.sequence < b.sequence; });
  return entries;
}

}  // namespace sparkops::store
