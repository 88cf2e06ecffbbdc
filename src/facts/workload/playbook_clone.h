#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// A copy of NVIDIA's playbook repository (dgx-spark-playbooks) or one playbook inside it. Everything is read from its
/// files; git itself is not run.
struct PlaybookClone {
  std::string directory;               ///< of the clone
  std::vector<std::string> playbooks;  ///< directory names under nvidia/: the one that was named, or all in the clone
  Known<std::string> commit;           ///< HEAD
  Known<Timestamp> commit_time;        ///< when HEAD came to this commit (reflog); the commit itself may be older
  std::vector<std::pair<std::string, std::string>> texts;  ///< file ("nvidia/vllm/README.md"), content: README and
                                                           ///< assets of the playbooks
  std::vector<std::string> not_read;  ///< files that belong to them and could not be read, each with its reason
};

/// `directory` is the clone, its folder nvidia/, one playbook, or a place inside a playbook. Errors: usage when it lies
/// in no such clone.
[[nodiscard]] Result<PlaybookClone> read_playbook_clone(const std::string& directory);

/// The clone that a workload path (file or directory) lies in. Errors: not_found when it lies in none.
[[nodiscard]] Result<PlaybookClone> find_playbook_clone(const std::string& path);

}  // namespace sparkops::facts
