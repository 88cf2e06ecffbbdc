#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/known.h"
#include "base/result.h"
#include "facts/machine/nvml_recording.h"

namespace sparkops::facts {

/// One open NVML library. All its calls are made by one thread of its own, because a call into a stuck driver does not
/// return and NVML has no time-outs: the caller waits until a deadline and takes the answers obtained so far. The
/// thread is joined by nobody; while it is stuck, later readings say so with the age of the call, and once the call
/// returns the session works again. Errors after which NVML wants a new start (GPU lost, driver reloaded) make the
/// next sample begin with one. Not for use by several threads at once.
class NvmlSession {
 public:
  /// Loads libnvidia-ml.so.1. Errors: not_found when there is no such library, unsupported when it cannot be loaded.
  /// Makes no NVML call.
  [[nodiscard]] static Result<NvmlSession> open();

  /// Initialises NVML and asks for everything that does not change. The recording has no samples. What was not
  /// answered before the deadline is missing in it, and the call that did not return is marked.
  [[nodiscard]] NvmlRecording identify(std::chrono::milliseconds deadline);

  /// One sample of every GPU that `identify` found, in its order. Empty when it found none (or
  /// could not look): then identify again.
  [[nodiscard]] std::vector<NvmlSampleRecord> sample(std::chrono::milliseconds deadline);

  NvmlSession(NvmlSession&&) noexcept;
  NvmlSession& operator=(NvmlSession&&) noexcept;
  ~NvmlSession();

 private:
  class Worker;
  explicit NvmlSession(std::shared_ptr<Worker> worker);
  std::shared_ptr<Worker> worker_;
};

/// Appends one sample per GPU to a recording.
void append_samples(NvmlRecording& recording, std::vector<NvmlSampleRecord> samples);

/// Everything NVML says, with `samples` (at least 1) samples of each GPU `interval` apart: for captures. Unknown
/// without a library; a driver that does not answer is a recording that says so.
[[nodiscard]] Known<NvmlRecording> record_nvml(int samples, std::chrono::milliseconds interval,
                                               std::chrono::milliseconds deadline = std::chrono::seconds(2));

}  // namespace sparkops::facts
