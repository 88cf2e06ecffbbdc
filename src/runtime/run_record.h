#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "runtime/black_box.h"
#include "runtime/output_log.h"
#include "runtime/sampler.h"
#include "store/run_directory.h"
#include "verdicts/events/run_watch.h"

namespace sparkops::runtime {

/// The files of one run directory, and the sampler that fills them at 1 Hz on a thread of its own. A file that cannot
/// be written is a problem that is told, never the end of the run.
class RunRecorder {
 public:
  using Tell = std::function<void(const Finding&)>;

  /// Creates the files in `directory` (empty: there is none, nothing is recorded, events are still told). `tell` hears
  /// every event from the sampler's thread.
  RunRecorder(std::string directory, store::RunRecord record, Tell tell);
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  /// Begins to sample. Errors: unsupported, when no thread can be had; then nothing is recorded.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] OutputLog& output() { return output_; }

  /// Ends sampling, makes everything durable, and writes the end into run.json.
  void finish(store::RunRecord::End end);

  /// Lowest available memory seen, bytes.
  [[nodiscard]] Known<std::int64_t> lowest_available() const;
  /// What could not be recorded so far.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  [[nodiscard]] std::optional<BlackBox::FileNumber> add_file(const char* name, BlackBox::Content content,
                                                             std::size_t most_waiting);
  void write_run_json();
  void note(std::string problem);
  void run_sampler();
  void take_sample();
  void write_event(const Finding& finding);

  std::string directory_;
  store::RunRecord record_;
  Tell tell_;
  BlackBox box_;
  std::optional<BlackBox::FileNumber> thermal_, samples_, events_, log_, index_;
  OutputLog output_;
  Sampler sampler_;
  verdicts::RunWatch watch_;
  std::string thermal_line_, samples_line_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false, ending_ = false, sampler_done_ = false;
  std::optional<std::int64_t> lowest_available_;
  std::vector<std::string> problems_;
};

}  // namespace sparkops::runtime
