#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace sparkops::actions {

/// Everything by which this program changes the machine. Whoever wants to change it is given one of these, so that a
/// test and --dry-run can pass one that only writes down what it was asked for.
class MachineActions {
 public:
  MachineActions() = default;
  MachineActions(const MachineActions&) = delete;
  MachineActions& operator=(const MachineActions&) = delete;
  virtual ~MachineActions() = default;

  /// Writes the changed pages of an open file to its disk and waits for it: fdatasync(2).
  [[nodiscard]] virtual Result<void> write_back(int file, const std::string& path) = 0;
  /// Gives back the clean pages of an open file that nobody has mapped: posix_fadvise(POSIX_FADV_DONTNEED).
  [[nodiscard]] virtual Result<void> give_back_pages(int file, const std::string& path) = 0;
  /// Writes everything: sync(2).
  [[nodiscard]] virtual Result<void> write_back_everything() = 0;
  /// Gives back everyone's clean page cache and the caches of file names: 3 into proc/sys/vm/drop_caches. Needs root.
  [[nodiscard]] virtual Result<void> drop_caches() = 0;
  /// Moves pages so that large free blocks come about: 1 into proc/sys/vm/compact_memory. Needs root.
  [[nodiscard]] virtual Result<void> compact_memory() = 0;
};

/// The real ones. `tree`: where proc/sys is looked for.
[[nodiscard]] std::unique_ptr<MachineActions> live_actions(std::string tree = "/");

/// Changes nothing and keeps what it was asked for, in order: "write back PATH", "drop caches" …
class RecordingActions : public MachineActions {
 public:
  std::vector<std::string> recorded;
  std::map<std::string, Error> failures;  ///< by the words above: what such a call answers instead of success

  Result<void> write_back(int file, const std::string& path) override;
  Result<void> give_back_pages(int file, const std::string& path) override;
  Result<void> write_back_everything() override;
  Result<void> drop_caches() override;
  Result<void> compact_memory() override;

 private:
  Result<void> record(std::string what);
};

}  // namespace sparkops::actions
