#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace sparkops {

/// A regular file that is read by ranges, so that of a library of two gigabytes only the pages that matter are touched.
/// One thread at a time. Pages of the page cache that were not there before are given back when the file is closed.
class RandomAccessFile {
 public:
  RandomAccessFile() = default;
  virtual ~RandomAccessFile() = default;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  /// As messages name it.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Bytes.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `buffer` from `offset`; the count is smaller only where the file ends. Errors: input_output, malformed (of a
  /// compressed file).
  [[nodiscard]] virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const = 0;
};

/// A file on disk, already open; `name` is for messages. Errors: input_output.
[[nodiscard]] Result<std::shared_ptr<const RandomAccessFile>> open_disk_file(FileDescriptor file, std::string name);

/// Bytes in memory.
[[nodiscard]] std::shared_ptr<const RandomAccessFile> open_bytes(std::string bytes, std::string name);

}  // namespace sparkops
