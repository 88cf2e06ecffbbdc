#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/black_box.h"
#include "runtime/sampler.h"
#include "runtime/schedule.h"
#include "store/sample_csv.h"

namespace sparkops::runtime {

/// The sampler alone, with its log: what `record` does.
class Recorder {
 public:
  struct Options {
    std::chrono::milliseconds interval{30'000};
    std::string log;                                    ///< empty: no file
    store::Columns columns = store::thermal_columns();  ///< of the log
    std::optional<std::chrono::milliseconds> duration;  ///< nothing: until a signal ends it
    std::string textfile_directory;                     ///< empty: none
    std::function<void(const store::Sample&, const Known<facts::GpuSample>&)> on_sample;
    std::function<void(std::string_view)> tell;  ///< one sentence about a trouble that is no reason to stop
  };

  /// Ends a recorder on the same log, keeps an older log as LOG.1, begins the new one with its header and takes the
  /// first sample. SIGTERM, SIGINT and SIGHUP stay blocked for this thread from here on.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> open(Options options);
  ~Recorder();

  /// Samples until the duration is over or a signal came; then everything is on disk and the pid file is gone.
  void run();

  [[nodiscard]] const Known<std::string>& gpu_name() const { return sampler_.gpu_name(); }
  /// The recorder that had to end for this one.
  [[nodiscard]] const std::optional<std::int64_t>& predecessor() const { return predecessor_; }

 private:
  explicit Recorder(Options options);
  [[nodiscard]] Result<void> begin_log();
  void record_sample(store::Sample sample);
  void write_textfile(const store::Sample& sample);
  /// False when a signal asked for the end.
  [[nodiscard]] bool wait_until(Schedule::Clock::time_point deadline) const;

  Options options_;
  sigset_t ending_signals_{};
  Sampler sampler_;
  BlackBox box_;
  std::optional<BlackBox::FileNumber> log_;
  std::optional<std::int64_t> predecessor_;
  std::string line_;
  bool textfile_failed_ = false;
};

}  // namespace sparkops::runtime
