#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "facts/machine/nvml_recording.h"

namespace sparkops::facts {

/// Where the thread that calls NVML writes its answers down, one by one, so that another thread can take what is
/// there while a call hangs.
class NvmlNotebook {
 public:
  using Clock = std::chrono::steady_clock;

  /// Makes one call and writes its answer into `page`. `page` is written under the notebook's lock only.
  NvmlAnswer ask(NvmlAnswers& page, std::string call, const std::function<NvmlAnswer()>& question);

  /// The same for one call that answers several questions; `calls` are their keys.
  void ask_many(NvmlAnswers& page, const std::string& call, const std::vector<std::string>& calls,
                const std::function<std::vector<NvmlAnswer>()>& question);

  /// Runs `access` under the lock, for whoever reads or prepares the pages.
  template <class Access>
  auto locked(Access access) const {
    const std::lock_guard lock(mutex_);
    return access();
  }

  /// The call being made now, as an answer of kind no_return with its age.
  struct Pending {
    std::string call;
    NvmlAnswer answer;
  };
  [[nodiscard]] std::optional<Pending> pending() const;

 private:
  struct Running {
    std::string call;
    Clock::time_point since;
  };
  mutable std::mutex mutex_;
  std::optional<Running> running_;
};

}  // namespace sparkops::facts
