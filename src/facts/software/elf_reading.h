#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random_access_file.h"
#include "base/result.h"

/// Reading structures out of a file by ranges, with every bound checked.
namespace sparkops::facts {

[[nodiscard]] inline tl::unexpected<Error> malformed_file(const RandomAccessFile& file, const std::string& what) {
  return failure(ErrorKind::malformed, file.name() + ": " + what);
}

/// Exactly `buffer.size()` bytes. `what` is for the message.
[[nodiscard]] inline Result<void> read_exactly(const RandomAccessFile& file, std::uint64_t offset,
                                               std::span<char> buffer, const char* what) {
  const auto count = file.read_at(offset, buffer);
  if (!count) return tl::unexpected(count.error());
  if (*count != buffer.size()) return malformed_file(file, std::string("cut off in ") + what);
  return {};
}

/// One structure. The file has this machine's byte order (little-endian on all that are supported).
template <class T>
[[nodiscard]] Result<T> read_structure(const RandomAccessFile& file, std::uint64_t offset, const char* what) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  const auto read = read_exactly(file, offset, bytes, what);
  if (!read) return tl::unexpected(read.error());
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// `count` structures in a row; the caller has bounded `count`, and what does not fit the file is refused before
/// anything is allocated.
template <class T>
[[nodiscard]] Result<std::vector<T>> read_table(const RandomAccessFile& file, std::uint64_t offset, std::uint64_t count,
                                                const char* what) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T))
    return malformed_file(file, std::string(what) + " reaches beyond the end of the file");
  std::vector<T> values(count);
  if (count == 0) return values;
  std::vector<char> bytes(count * sizeof(T));
  const auto read = read_exactly(file, offset, bytes, what);
  if (!read) return tl::unexpected(read.error());
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The text that ends in NUL at `offset`, which must end before `end`. Errors: malformed when it is longer than 16 KiB.
[[nodiscard]] Result<std::string> read_string(const RandomAccessFile& file, std::uint64_t offset, std::uint64_t end,
                                              const char* what);

}  // namespace sparkops::facts
