#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace sparkops::runtime {

/// What sparkops itself says while a job runs, on stderr: between two lines of the job, never inside one.
class Console {
 public:
  /// "sparkops: <text>" at the job's next line end, at once when it is at one.
  void say(std::string_view text);

  /// The job wrote `content` to a terminal that we share with it.
  void job_wrote(std::string_view content);

  /// What still waits, on a line of its own: for an end, or a job that stays inside a line.
  void flush();

  /// Our terminal does not turn line ends into a new line at the left margin meanwhile.
  void set_raw(bool raw) { raw_ = raw; }

 private:
  void write_waiting();

  std::mutex mutex_;
  std::string waiting_;
  std::atomic<bool> something_waits_ = false, at_line_start_ = true, raw_ = false;
};

}  // namespace sparkops::runtime
