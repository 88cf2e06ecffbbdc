#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/known.h"
#include "base/root.h"
#include "facts/machine/gpu.h"
#include "store/sample_csv.h"

namespace sparkops::runtime {

/// Takes samples of this machine. The driver is asked on a thread of its own: when a call hangs, the sample has no GPU
/// readings and says how old the newest ones are. Not for use by several threads at once.
class Sampler {
 public:
  struct Options {
    /// How long a sample waits for the driver; a call that takes longer is waited for by nobody.
    std::chrono::milliseconds gpu_patience{500};
  };

  explicit Sampler(const Options& options);
  Sampler();
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  [[nodiscard]] store::Sample take();

  /// The GPU readings of the last sample as the driver gave them, for judging. Unknown with the reason: no library, no
  /// GPU, a call that does not return.
  [[nodiscard]] const Known<facts::GpuSample>& gpu() const { return gpu_; }

  /// The name of the GPU that is sampled, or why there is none.
  [[nodiscard]] const Known<std::string>& gpu_name() const { return gpu_name_; }

 private:
  class GpuReader;
  void take_memory(store::Sample& sample) const;

  Root root_ = Root::live();

  std::unique_ptr<GpuReader> reader_;
  bool in_container_ = false;
  Known<facts::GpuSample> gpu_;
  Known<std::string> gpu_name_;
};

}  // namespace sparkops::runtime
