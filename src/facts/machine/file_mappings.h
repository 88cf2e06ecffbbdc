#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantities.h"
#include "base/root.h"

namespace sparkops::facts {

/// A file mapped into one process, from proc/PID/maps or proc/PID/smaps.
struct MappedRegion {
  unsigned device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;  ///< never 0: regions without a file are left out
  std::string path;         ///< as the kernel writes it, printable
  Bytes resident, locked;   ///< of this region, in this process; smaps only
};

/// The regions of files in the text; lines that are none are passed over.
[[nodiscard]] std::vector<MappedRegion> parse_mappings(std::string_view text);

/// A file to look for.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;  ///< as stat(2) says; inode 0: not to be looked for
  std::string path;
};

/// One process that maps one of the files.
struct FileMapping {
  std::size_t file = 0;  ///< index into the files asked for
  std::int64_t pid = 0;
  std::string name;        ///< proc/PID/comm
  Bytes resident, locked;  ///< of the file, in that process
};

struct FileMappings {
  std::vector<FileMapping> mappings;
  std::int64_t not_permitted = 0;  ///< processes of other users whose mappings cannot be read without root
};

/// Who maps these files. Btrfs and overlays give mappings another device than stat: there the path decides.
[[nodiscard]] FileMappings read_mappings(const Root& root, const std::vector<FileIdentity>& files);

}  // namespace sparkops::facts
