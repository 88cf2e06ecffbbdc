#pragma once

#include <string>

#include "base/known.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// Where a git work tree stands, from git's own files.
struct GitHead {
  Known<std::string> commit;    ///< hexadecimal
  Known<Timestamp> moved_here;  ///< when HEAD came to this commit: the newest entry of its reflog
};

/// `work_tree` has a ".git" folder, or a ".git" file that names one (worktrees, submodules).
[[nodiscard]] GitHead read_git_head(const std::string& work_tree);

}  // namespace sparkops::facts
