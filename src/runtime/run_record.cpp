#include "runtime/run_record.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "runtime/schedule.h"
#include "store/event_line.h"
#include "store/report_file.h"
#include "store/ring_file.h"

namespace sparkops::runtime {

namespace {

using Clock = Schedule::Clock;
using store::Reading;

constexpr std::chrono::seconds k_interval{1};
/// Hours of samples; a burst of output while a disk is busy.
constexpr std::size_t k_most_waiting_lines = std::size_t{4} << 20;
constexpr std::size_t k_most_waiting_output = std::size_t{64} << 20;
constexpr std::size_t k_most_problems = 100;

std::optional<std::int64_t> free_space(const std::string& directory) {
  struct statvfs status{};
  if (directory.empty() || ::statvfs(directory.c_str(), &status) != 0) return std::nullopt;
  return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
}

}  // namespace

RunRecorder::RunRecorder(std::string directory, store::RunRecord record, Tell tell)
    : directory_(std::move(directory)),
      record_(std::move(record)),
      tell_(std::move(tell)),
      thermal_(add_file("thermal.csv", BlackBox::Content::lines, k_most_waiting_lines)),
      samples_(add_file("samples.csv", BlackBox::Content::lines, k_most_waiting_lines)),
      events_(add_file("events.jsonl", BlackBox::Content::lines, k_most_waiting_lines)),
      log_(add_file("output.log", BlackBox::Content::bytes, k_most_waiting_output)),
      index_(add_file("output.idx", BlackBox::Content::lines, k_most_waiting_lines)),
      output_(box_, log_, index_) {
  if (directory_.empty()) return;
  if (auto ring = store::RingFile::create(directory_ + "/ring.bin"))
    box_.add_ring(std::move(*ring));
  else
    note(ring.error().message);
  write_run_json();
  if (thermal_) box_.append(*thermal_, store::csv_header(store::thermal_columns()));
  if (samples_) box_.append(*samples_, store::csv_header(store::samples_columns()));
}

RunRecorder::~RunRecorder() {
  std::unique_lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !started_ || sampler_done_; });
}

std::optional<BlackBox::FileNumber> RunRecorder::add_file(const char* name, BlackBox::Content content,
                                                          std::size_t most_waiting) {
  if (directory_.empty()) return std::nullopt;
  const std::string path = directory_ + "/" + name;
  constexpr mode_t k_mode = 0644;
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, k_mode));
  if (!file.valid()) {
    note(system_error(path, errno).message);
    return std::nullopt;
  }
  return box_.add(std::move(file), name, content, most_waiting);
}

void RunRecorder::note(std::string problem) {
  const std::lock_guard lock(mutex_);
  if (problems_.size() < k_most_problems) problems_.push_back(std::move(problem));
}

void RunRecorder::write_run_json() {
  if (directory_.empty()) return;
  const auto written = store::write_report_file(directory_ + "/run.json", store::run_json(record_));
  if (!written) note(written.error().message);
}

Result<void> RunRecorder::start() {
  if (const auto started = box_.start(); !started) return started;
  try {
    std::thread([this] { run_sampler(); }).detach();
  } catch (const std::system_error& error) {
    return failure(ErrorKind::unsupported, std::string("no thread for the samples: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  started_ = true;
  return {};
}

void RunRecorder::run_sampler() {
  const Schedule schedule(Clock::now(), k_interval);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    take_sample();
    lock.lock();
    changed_.wait_until(lock, schedule.next_after(Clock::now()), [&] { return ending_; });
  }
  sampler_done_ = true;
  changed_.notify_all();
}

void RunRecorder::take_sample() {
  store::Sample sample = sampler_.take();
  sample[Reading::sync_lag] = box_.sync_lag_ms();
  thermal_line_.clear();
  samples_line_.clear();
  store::append_csv_line(thermal_line_, sample, store::thermal_columns(), store::Units::written);
  store::append_csv_line(samples_line_, sample, store::samples_columns(), store::Units::left_out);
  if (thermal_) box_.append(*thermal_, thermal_line_);
  if (samples_) box_.append(*samples_, samples_line_);
  box_.append_to_ring(sample.taken, samples_line_);

  verdicts::WatchReading reading;
  reading.monotonic_s = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  if (sampler_.gpu()) reading.gpu = *sampler_.gpu();
  reading.available_bytes = sample[Reading::memory_available];
  reading.swap_used_bytes = sample[Reading::swap_used];
  reading.pressure_full_percent = sample[Reading::pressure_full];
  reading.nvml_age_ms = sample[Reading::nvml_age];
  reading.disk_free_bytes = free_space(directory_);
  for (const Finding& finding : watch_.observe(reading)) write_event(finding);
  for (std::string& problem : box_.take_problems()) note(std::move(problem));
  if (!reading.available_bytes) return;
  const std::lock_guard lock(mutex_);
  const auto available = static_cast<std::int64_t>(*reading.available_bytes);
  lowest_available_ = std::min(lowest_available_.value_or(available), available);
}

void RunRecorder::write_event(const Finding& finding) {
  if (events_) box_.append(*events_, store::event_line(finding, Timestamp::now()));
  box_.append_to_ring(Timestamp::now(), finding.id + ": " + finding.headline);
  tell_(finding);
}

void RunRecorder::finish(store::RunRecord::End end) {
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
    // A sample waits half a second for a hung driver at most; a disk call that hangs is left to itself.
    constexpr std::chrono::seconds k_patience{5};
    changed_.wait_for(lock, k_patience, [&] { return !started_ || sampler_done_; });
  }
  box_.stop();
  for (std::string& problem : box_.take_problems()) note(std::move(problem));
  end.lowest_available_bytes = lowest_available();
  end.output_bytes = output_.bytes();
  end.output_lost_bytes = log_ ? box_.lost_bytes(*log_) : output_.bytes();
  end.problems = problems();
  record_.end = std::move(end);
  if (sampler_.gpu_name()) record_.gpu = sampler_.gpu_name();
  write_run_json();
}

Known<std::int64_t> RunRecorder::lowest_available() const {
  const std::lock_guard lock(mutex_);
  if (!lowest_available_) return unknown("proc/meminfo was not read");
  return as_measured(std::int64_t{*lowest_available_});
}

std::vector<std::string> RunRecorder::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace sparkops::runtime
