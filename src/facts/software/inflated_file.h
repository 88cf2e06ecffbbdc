#pragma once

#include <cstdint>
#include <memory>

#include "base/random_access_file.h"

namespace sparkops::facts {

/// A range of another file, which must outlive it.
[[nodiscard]] std::shared_ptr<const RandomAccessFile> open_range(std::shared_ptr<const RandomAccessFile> file,
                                                                 std::uint64_t offset, std::uint64_t size,
                                                                 std::string name);

/// The unpacked form of a range that holds raw deflate data and claims to unpack to `size` bytes. Reading backwards
/// starts again from the nearest of the states that are kept every 16 MiB (40 KiB each). Reading fails when the data
/// end before or after `size`.
[[nodiscard]] std::shared_ptr<const RandomAccessFile> open_inflated(std::shared_ptr<const RandomAccessFile> packed,
                                                                    std::uint64_t size, std::string name);

}  // namespace sparkops::facts
