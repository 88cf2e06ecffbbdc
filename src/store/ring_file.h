#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops::store {

/// What one slot of a ring held.
struct RingEntry {
  std::uint64_t sequence = 0;  ///< counts up from 1
  Timestamp taken;
  std::string text;
};

/// The last moments before a box froze: a file of fixed size, written in full once and overwritten in place, so that
/// making an entry durable needs no change of the file's length or place. Each entry lies in one slot of 512 bytes
/// (one sector), with a checksum: a torn one is left out when reading, the others hold.
class RingFile {
 public:
  static constexpr std::size_t k_slot_size = 512;
  static constexpr std::size_t k_slots = 256;  ///< 120 s at 1 Hz, and more while memory falls
  static constexpr std::size_t k_longest_text = k_slot_size - 32;

  /// Creates (or empties) the file and makes its blocks and length durable. Errors name the path.
  [[nodiscard]] static Result<RingFile> create(const std::string& path);

  /// Overwrites the oldest slot; `text` is cut at k_longest_text. Errors: input_output.
  [[nodiscard]] Result<void> append(Timestamp taken, std::string_view text);

  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  explicit RingFile(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
  std::uint64_t sequence_ = 0;
};

/// The whole entries of a ring, oldest first. Takes whatever bytes there are.
[[nodiscard]] std::vector<RingEntry> parse_ring(std::string_view bytes);

}  // namespace sparkops::store
