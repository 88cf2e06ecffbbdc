#include "facts/machine/nvml_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/timestamp.h"
#include "facts/machine/nvml_library.h"
#include "facts/machine/nvml_notebook.h"
#include "facts/machine/nvml_questions.h"

namespace sparkops::facts {
namespace {

/// More GPUs than one machine holds; a larger count is not believed.
constexpr std::uint32_t k_max_devices = 64;
/// How long the end of a session waits for nvmlShutdown.
constexpr std::chrono::milliseconds k_shutdown_wait{500};

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Codes after which handles are worthless and NVML wants shutdown and init.
bool wants_new_start(const NvmlAnswers& answers) {
  constexpr std::array k_codes = {nvml_code::k_uninitialized, nvml_code::k_driver_not_loaded, nvml_code::k_gpu_is_lost,
                                  nvml_code::k_version_mismatch, nvml_code::k_gpu_not_found};
  return std::any_of(answers.begin(), answers.end(), [&](const auto& entry) {
    return entry.second.kind == NvmlAnswer::Kind::returned &&
           std::find(k_codes.begin(), k_codes.end(), entry.second.code) != k_codes.end();
  });
}

std::string text_value(const NvmlAnswers& answers, const std::string& call) {
  const auto found = answers.find(call);
  if (found == answers.end()) return {};
  const auto* const text = std::get_if<std::string>(&found->second.value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

/// Owned by the session and by its thread: whichever lives longer keeps it.
class NvmlSession::Worker {
 public:
  explicit Worker(NvmlLibrary library) : library_(library), questions_(library_, notebook_) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  enum class Task { none, identify, sample, finish };

  enum class Outcome {
    done,
    timed_out,  ///< still at it
    refused,    ///< still at an earlier task
  };

  /// What the thread does until its session ends.
  void run();
  /// Gives the thread a task and waits for it.
  Outcome perform(Task task, std::chrono::milliseconds deadline);
  /// The thread ends when it can, without further calls.
  void abandon();

  [[nodiscard]] NvmlRecording recording() const;
  [[nodiscard]] std::vector<NvmlSampleRecord> samples() const;
  /// What a caller gets that could not even hand over its task.
  [[nodiscard]] std::vector<NvmlSampleRecord> stuck_samples() const;

 private:
  void do_task(Task task);
  void identify();
  void sample();
  void start_again();

  // Used by the thread alone; questions_ refers to the two above it.
  NvmlLibrary library_;
  NvmlNotebook notebook_;
  NvmlQuestions questions_;
  std::vector<NvmlLibrary::Device> handles_;
  bool initialised_ = false;
  bool new_start_wanted_ = false;
  std::optional<SlowdownCounterFields> counters_;

  // Pages: written by the thread under the notebook's lock.
  NvmlRecording recording_{k_nvml_library, {}, {}};
  std::vector<NvmlSampleRecord> samples_;
  std::size_t samples_complete_ = 0;

  // The handing over of tasks, under mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  Task task_ = Task::none;
  bool abandoned_ = false;
};

NvmlSession::Worker::Outcome NvmlSession::Worker::perform(Task task, std::chrono::milliseconds deadline) {
  std::unique_lock lock(mutex_);
  if (task_ != Task::none) return Outcome::refused;
  task_ = task;
  changed_.notify_all();
  const bool done = changed_.wait_for(lock, deadline, [&] { return task_ == Task::none; });
  return done ? Outcome::done : Outcome::timed_out;
}

void NvmlSession::Worker::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

void NvmlSession::Worker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return task_ != Task::none || abandoned_; });
    if (abandoned_) return;
    const Task task = task_;
    lock.unlock();
    do_task(task);
    lock.lock();
    task_ = Task::none;
    changed_.notify_all();
    if (task == Task::finish) return;
  }
}

void NvmlSession::Worker::do_task(Task task) {
  if (task == Task::identify) identify();
  if (task == Task::sample) sample();
  if (task == Task::finish && initialised_) questions_.shut_down();
}

void NvmlSession::Worker::identify() {
  if (std::exchange(initialised_, false)) questions_.shut_down();
  notebook_.locked([&] { recording_ = {k_nvml_library, {}, {}}; });
  handles_.clear();
  new_start_wanted_ = false;
  initialised_ = questions_.initialise(recording_.system);
  if (!initialised_) return;
  questions_.ask_versions(recording_.system);
  counters_ = slowdown_counter_fields(text_value(recording_.system, "nvmlSystemGetDriverVersion"));
  const std::optional<std::uint32_t> count = questions_.count_devices(recording_.system);
  if (!count) return;
  notebook_.locked([&] { recording_.devices.resize(std::min(*count, k_max_devices)); });
  for (std::uint32_t index = 0; index < recording_.devices.size(); ++index) {
    NvmlAnswers& page = recording_.devices[index].identity;
    handles_.push_back(questions_.find_device(index, page));
    if (handles_.back() != nullptr) questions_.ask_identity(handles_.back(), page);
    if (handles_.back() == nullptr || wants_new_start(page)) new_start_wanted_ = true;
  }
}

void NvmlSession::Worker::sample() {
  notebook_.locked([&] {
    samples_.assign(recording_.devices.size(), {});
    samples_complete_ = 0;
  });
  if (std::exchange(new_start_wanted_, false)) start_again();
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    NvmlSampleRecord& record = samples_[i];
    notebook_.locked([&] {
      record.at_ms = Timestamp::now().unix_ms;
      record.monotonic_s = monotonic_seconds();
    });
    if (handles_[i] != nullptr) questions_.ask_sample(handles_[i], counters_, record.answers);
    if (handles_[i] == nullptr || wants_new_start(record.answers)) new_start_wanted_ = true;
    notebook_.locked([&] { samples_complete_ = i + 1; });
  }
}

/// Shutdown, init and new handles. What fails is written into the samples, as the reason of their emptiness.
void NvmlSession::Worker::start_again() {
  if (std::exchange(initialised_, false)) questions_.shut_down();
  handles_.assign(samples_.size(), nullptr);
  NvmlAnswers page;
  initialised_ = questions_.initialise(page);
  if (!initialised_) {
    notebook_.locked([&] {
      for (NvmlSampleRecord& record : samples_) record.answers = page;
    });
    return;
  }
  for (std::uint32_t index = 0; index < handles_.size(); ++index) {
    handles_[index] = questions_.find_device(index, samples_[index].answers);
  }
}

NvmlRecording NvmlSession::Worker::recording() const {
  NvmlRecording copy = notebook_.locked([&] { return recording_; });
  const auto pending = notebook_.pending();
  if (!pending) return copy;
  if (copy.devices.empty()) copy.system[pending->call] = pending->answer;
  for (NvmlDeviceRecord& device : copy.devices) device.identity.try_emplace(pending->call, pending->answer);
  return copy;
}

std::vector<NvmlSampleRecord> NvmlSession::Worker::samples() const {
  std::vector<NvmlSampleRecord> copy;
  std::size_t complete = 0;
  notebook_.locked([&] {
    copy = samples_;
    complete = samples_complete_;
  });
  const auto pending = notebook_.pending();
  for (std::size_t i = complete; pending && i < copy.size(); ++i) copy[i].answers[pending->call] = pending->answer;
  return copy;
}

std::vector<NvmlSampleRecord> NvmlSession::Worker::stuck_samples() const {
  NvmlSampleRecord record;
  record.at_ms = Timestamp::now().unix_ms;
  record.monotonic_s = monotonic_seconds();
  if (const auto pending = notebook_.pending()) record.answers[pending->call] = pending->answer;
  const std::size_t count = notebook_.locked([&] { return recording_.devices.size(); });
  return std::vector<NvmlSampleRecord>(count, record);
}

NvmlSession::NvmlSession(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}
NvmlSession::NvmlSession(NvmlSession&&) noexcept = default;

NvmlSession& NvmlSession::operator=(NvmlSession&& other) noexcept {
  std::swap(worker_, other.worker_);
  return *this;
}

NvmlSession::~NvmlSession() {
  if (!worker_) return;
  if (worker_->perform(Worker::Task::finish, k_shutdown_wait) == Worker::Outcome::refused) worker_->abandon();
}

Result<NvmlSession> NvmlSession::open() {
  const Result<NvmlLibrary> library = NvmlLibrary::load();
  if (!library) return tl::unexpected<Error>(library.error());
  auto worker = std::make_shared<Worker>(*library);
  try {
    std::thread([worker] { worker->run(); }).detach();
  } catch (const std::system_error& error) {
    return failure(ErrorKind::unsupported, fmt::format("no thread for NVML: {}", error.what()));
  }
  return NvmlSession(std::move(worker));
}

NvmlRecording NvmlSession::identify(std::chrono::milliseconds deadline) {
  worker_->perform(Worker::Task::identify, deadline);
  return worker_->recording();
}

std::vector<NvmlSampleRecord> NvmlSession::sample(std::chrono::milliseconds deadline) {
  const Worker::Outcome outcome = worker_->perform(Worker::Task::sample, deadline);
  return outcome == Worker::Outcome::refused ? worker_->stuck_samples() : worker_->samples();
}

void append_samples(NvmlRecording& recording, std::vector<NvmlSampleRecord> samples) {
  const std::size_t count = std::min(recording.devices.size(), samples.size());
  for (std::size_t i = 0; i < count; ++i) recording.devices[i].samples.push_back(std::move(samples[i]));
}

Known<NvmlRecording> record_nvml(int samples, std::chrono::milliseconds interval, std::chrono::milliseconds deadline) {
  Result<NvmlSession> session = NvmlSession::open();
  if (!session) return unknown(session.error());
  NvmlRecording recording = session->identify(deadline);
  if (recording.devices.empty()) return as_read(std::move(recording));
  auto next = std::chrono::steady_clock::now();
  for (int taken = 0; taken < std::max(samples, 1); ++taken) {
    std::this_thread::sleep_until(next);
    append_samples(recording, session->sample(deadline));
    next += interval;
  }
  return as_read(std::move(recording));
}

}  // namespace sparkops::facts
