#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/file_descriptor.h"
#include "runtime/black_box.h"
#include "runtime/console.h"

namespace sparkops::runtime {

/// output.log and output.idx of a run: the job's bytes as they came, and for line starts "offset unix_ms" (at most one
/// in 10 ms). For use by several threads at once.
class OutputLog {
 public:
  OutputLog(BlackBox& box, std::optional<BlackBox::FileNumber> log, std::optional<BlackBox::FileNumber> index)
      : box_(box), log_(log), index_(index) {}

  void append(std::string_view content);
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  BlackBox& box_;
  std::optional<BlackBox::FileNumber> log_, index_;
  std::mutex mutex_;
  std::int64_t offset_ = 0;  ///< of the next byte in output.log
  bool at_line_start_ = true;
  std::int64_t last_index_ms_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
};

/// Carries the job's output from its pipe or terminal to ours and into the log, on a thread of its own: where our
/// reader is slow the job waits for it as it would without us, and nothing else does.
class Pump {
 public:
  enum class State { reading, writing, done };

  /// `to_terminal`: what is written shares a terminal with the console's lines.
  Pump(FileDescriptor from, int to, OutputLog& log, Console& console, bool to_terminal);

  void run();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// errno of the first write that failed; 0: none did.
  [[nodiscard]] int write_error() const { return write_error_; }

 private:
  void pass_on(std::string_view content);

  FileDescriptor from_;
  int to_;
  OutputLog& log_;
  Console& console_;
  bool to_terminal_;
  std::atomic<State> state_ = State::reading;
  std::atomic<std::int64_t> bytes_ = 0;
  std::atomic<int> write_error_ = 0;
};

}  // namespace sparkops::runtime
