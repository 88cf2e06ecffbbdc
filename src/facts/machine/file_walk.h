#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sparkops::facts {

/// The regular files that a person's path stands for.
struct WalkedFiles {
  std::vector<std::string> files;       ///< each file once, also one with several names
  std::int64_t symlinks = 0;            ///< inside a directory; not followed
  std::int64_t other_file_systems = 0;  ///< mount points; not entered
  std::int64_t unreadable = 0;          ///< directories
  bool all = true;                      ///< false: there are more than k_most_walked_files, or they lie too deep
};

inline constexpr std::size_t k_most_walked_files = 200'000;
inline constexpr int k_deepest_walk = 64;

/// A file as it is (a symlink that the person named is followed); of a directory everything below it on the same file
/// system, without following symlinks. On this machine only. Errors: not_found, permission_denied,
/// not_a_regular_file (a device, a socket …).
[[nodiscard]] Result<WalkedFiles> walk_files(const std::vector<std::string>& paths);

}  // namespace sparkops::facts
