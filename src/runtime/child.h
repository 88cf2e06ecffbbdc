#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace sparkops::runtime {

/// The job: one process started from a command, with its output coming to us.
class Child {
 public:
  enum class Terminal { own, none };

  struct Start {
    std::vector<std::string> command;
    Terminal terminal = Terminal::none;
    /// The signal mask and the disposition of SIGPIPE that this program was started with: the job gets the same.
    sigset_t signal_mask{};
    struct sigaction pipe_action{};
  };

  /// Starts it. Without a terminal of its own it stays in our process group and session (so that job control, Slurm
  /// and `timeout` see what they would see without us), keeps our stdin, and writes into two pipes, or into one where
  /// our stdout and stderr are the same file (the order of both is kept then). Errors: not_found (exit code 127),
  /// permission_denied and others (126), with the command's name.
  [[nodiscard]] static Result<Child> start(const Start& start);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable once it has ended.
  [[nodiscard]] int descriptor() const { return process_.get(); }
  /// The terminal's end of ours; invalid without one.
  [[nodiscard]] int terminal() const { return terminal_.get(); }
  /// The reading ends of its pipes, for one taker. The first is invalid with a terminal, the second where stderr goes
  /// the same way as stdout.
  [[nodiscard]] FileDescriptor take_output() { return std::move(output_); }
  [[nodiscard]] FileDescriptor take_errors() { return std::move(errors_); }

  /// Sends a signal; to its foreground process group where it has a terminal of its own.
  void signal(int number) const;

  struct End {
    int exit_code = 0;  ///< 128+n when it died by signal n
    int signal = 0;     ///< n, or 0
  };
  /// Waits for its end and takes it.
  [[nodiscard]] End reap() const;

 private:
  pid_t pid_ = -1;
  FileDescriptor process_, terminal_, output_, errors_;
};

}  // namespace sparkops::runtime
