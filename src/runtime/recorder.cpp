#include "runtime/recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "runtime/predecessor.h"
#include "store/pid_file.h"
#include "store/report_file.h"

namespace sparkops::runtime {

namespace {

using Clock = Schedule::Clock;
using std::chrono::milliseconds;

/// Hours at 1 Hz, while a disk is full.
constexpr std::size_t k_most_waiting = std::size_t{1} << 20;
/// The driver may need this long for its first answer; a hung one must not hold the clock of short intervals.
constexpr milliseconds k_longest_gpu_patience{500};

std::string pid_file_of(const std::string& log) {
  return log + ".pid";
}

}  // namespace

Recorder::Recorder(Options options)
    : options_(std::move(options)), sampler_({std::min(k_longest_gpu_patience, options_.interval / 2)}) {
  ::sigemptyset(&ending_signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ending_signals_, signal);
}

Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::open(Options options) {
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(options)));
  // Before any thread exists that would inherit another mask.
  ::pthread_sigmask(SIG_BLOCK, &recorder->ending_signals_, nullptr);
  if (!recorder->options_.log.empty())
    if (const auto begun = recorder->begin_log(); !begun) return tl::unexpected(begun.error());
  if (const auto started = recorder->box_.start(); !started) return tl::unexpected(started.error());
  recorder->record_sample(recorder->sampler_.take());
  return recorder;
}

Result<void> Recorder::begin_log() {
  const std::string& log = options_.log;
  auto stopped = stop_predecessor(pid_file_of(log));
  if (!stopped) return tl::unexpected(stopped.error());
  predecessor_ = *stopped;
  struct stat status{};
  if (::stat(log.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return failure(ErrorKind::usage, log + ": is a directory; name a file");
    if (S_ISREG(status.st_mode) && ::rename(log.c_str(), (log + ".1").c_str()) != 0)
      return tl::unexpected(system_error(log + ": keeping the old log as " + log + ".1", errno));
  }
  constexpr mode_t k_mode = 0644;
  FileDescriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, k_mode));
  if (!file.valid()) return tl::unexpected(system_error(log, errno));
  // A pipe would make the recorder wait for whoever reads it.
  if (::fstat(file.get(), &status) == 0 && S_ISFIFO(status.st_mode))
    return failure(ErrorKind::usage, log + ": is a pipe; name a file");
  const auto mark = own_mark();
  if (!mark) return tl::unexpected(mark.error());
  if (const auto written = store::write_pid_file(pid_file_of(log), *mark); !written)
    return tl::unexpected(written.error());
  log_ = box_.add(std::move(file), log, BlackBox::Content::lines, k_most_waiting);
  box_.append(*log_, store::csv_header(options_.columns));
  return {};
}

void Recorder::record_sample(store::Sample sample) {
  sample[store::Reading::sync_lag] = box_.sync_lag_ms();
  if (log_) {
    line_.clear();
    store::append_csv_line(line_, sample, options_.columns, store::Units::written);
    box_.append(*log_, line_);
  }
  if (!options_.textfile_directory.empty()) write_textfile(sample);
  if (options_.on_sample) options_.on_sample(sample, sampler_.gpu());
  for (const std::string& problem : box_.take_problems())
    if (options_.tell) options_.tell(problem);
}

/// A file that is replaced as a whole, as the textfile collector wants it.
void Recorder::write_textfile(const store::Sample& sample) {
  const auto written =
      store::write_report_file(options_.textfile_directory + "/sparkops.prom", store::metrics_text(sample));
  if (!written && !textfile_failed_ && options_.tell) options_.tell(written.error().message);
  textfile_failed_ = !written;
}

bool Recorder::wait_until(Clock::time_point deadline) const {
  constexpr long k_ns_per_s = 1'000'000'000;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
    if (left <= 0) return true;
    const timespec wait{left / k_ns_per_s, left % k_ns_per_s};
    if (::sigtimedwait(&ending_signals_, nullptr, &wait) > 0) return false;
  }
}

void Recorder::run() {
  const auto begin = Clock::now();  // the first sample has been taken
  const Schedule schedule(begin, options_.interval);
  const auto end = options_.duration ? begin + *options_.duration : Clock::time_point::max();
  while (true) {
    const auto next = schedule.next_after(Clock::now());
    if (!wait_until(std::min(next, end)) || next > end) break;
    record_sample(sampler_.take());
  }
  box_.stop();
  if (options_.log.empty()) return;
  const auto mark = own_mark();
  if (mark && store::read_pid_file(pid_file_of(options_.log)) == *mark) ::unlink(pid_file_of(options_.log).c_str());
}

}  // namespace sparkops::runtime
