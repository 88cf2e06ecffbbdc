#pragma once

#include <termios.h>

#include <atomic>

#include "runtime/child.h"
#include "runtime/console.h"

namespace sparkops::runtime {

/// Our terminal while the job has one of its own: keys go through unread, so that the job's terminal decides what ^C,
/// ^D and line editing mean. ^Z stops the job and us, as the shell expects; fg goes on with both.
class Keyboard {
 public:
  Keyboard(const Child& child, Console& console);
  ~Keyboard();  ///< the terminal is as it was
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// Passes keys on until finish(); for a thread of its own.
  void run();
  void finish() { finished_ = true; }
  /// Our window has changed its size.
  void pass_on_size() const;

 private:
  void enter_raw();
  void leave_raw();
  void suspend();
  [[nodiscard]] static bool in_foreground();

  const Child& child_;
  Console& console_;
  termios saved_{};
  bool has_saved_ = false;
  std::atomic<bool> raw_ = false, finished_ = false;
};

}  // namespace sparkops::runtime
