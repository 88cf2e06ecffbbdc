#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "facts/software/fat_binary.h"

namespace sparkops::facts {

/// A range of a file in which containers stand one after the other.
struct CodeRegion {
  std::string section;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Where the magic number is looked for.
enum class Resync {
  padding,   ///< containers follow each other; zeros may stand between them
  anywhere,  ///< the region holds other things too
};

/// Walks the containers of a region and adds what it finds to `result`. Never reads outside the file; takes time in
/// proportion to the objects, and to the bytes between containers. Errors: input_output only; what is malformed is
/// counted in `result` and passed over.
[[nodiscard]] Result<void> walk_containers(const RandomAccessFile& file, const CodeRegion& region, Resync resync,
                                           const std::function<void(const CodeObject&)>& visit, FatBinary& result);

/// Adds one object to the group it belongs to.
void add_to_groups(FatBinary& result, const std::string& section, const CodeObject& object);

/// The first bytes of a container.
inline constexpr std::uint32_t k_container_magic = 0xBA55ED50;

}  // namespace sparkops::facts
