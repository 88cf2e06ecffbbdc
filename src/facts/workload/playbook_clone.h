#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// A clone of NVIDIA's playbook repository (dgx-spark-playbooks) or one playbook inside it.
struct PlaybookClone {
  std::string directory;               ///< of the clone
  std::vector<std::string> playbooks;  ///< the playbook that was named, or all in the clone
  Known<std::string> commit;           ///< HEAD, from the git files themselves
  Known<Timestamp> commit_time;        ///< unknown when the object is packed and no reflog tells it
  struct StaleText {
    std::string playbook, file;
    int line = 0;
    std::string text;
  };
  std::vector<std::pair<std::string, std::string>> texts;  ///< file, content: README and assets of the named playbooks
};

/// Errors: usage when the directory is no such clone.
[[nodiscard]] Result<PlaybookClone> read_playbook_clone(const std::string& directory);

/// The clone that a workload path lies in, if it lies in one.
[[nodiscard]] Result<PlaybookClone> find_playbook_clone(const std::string& path);

}  // namespace sparkops::facts
