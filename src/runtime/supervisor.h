#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/child.h"
#include "runtime/console.h"
#include "runtime/output_log.h"
#include "runtime/run_record.h"

namespace sparkops::runtime {

/// Runs one command beside its record and gives back how it ended. One per process: it takes over the signals.
class Supervisor {
 public:
  Supervisor(Console& console, OutputLog& log);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Blocks what will be passed on to the job. Before any other thread exists.
  static void prepare_signals(Child::Start& start);

  /// Starts the command; errors as Child::start.
  [[nodiscard]] Result<void> start(const Child::Start& start);

  /// Passes output, keys and signals until the job has ended and its output has been written.
  [[nodiscard]] Child::End wait();

 private:
  void start_pump(FileDescriptor from, int to);
  void handle_signal(int descriptor);
  void wait_for_output();

  Console& console_;
  OutputLog& log_;
  std::unique_ptr<Child> child_;
  class Terminal;
  std::unique_ptr<Terminal> terminal_;
  std::vector<std::shared_ptr<Pump>> pumps_;
  FileDescriptor signals_;
};

}  // namespace sparkops::runtime
