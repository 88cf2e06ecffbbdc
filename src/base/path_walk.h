#pragma once

#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace sparkops {

/// What a path is opened for.
enum class OpenMode { read_file, list_directory, status_only };

/// Opens `path` inside the directory `root` by following it component by component: what
/// openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) does, for kernels (and emulators) without that call.
/// `shown` is the path as messages name it. Errors: not_found, permission_denied, outside_root (a loop or a magic
/// link), not_a_regular_file (for read_file).
[[nodiscard]] Result<FileDescriptor> open_by_walk(int root, const std::string& path, const std::string& shown,
                                                  OpenMode mode);

/// The flags of open(2) for a mode.
[[nodiscard]] int open_flags(OpenMode mode);

}  // namespace sparkops
