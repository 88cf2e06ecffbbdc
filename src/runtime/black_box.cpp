#include "runtime/black_box.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <system_error>

namespace sparkops::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// From the first change to the sync: a second may pass until content is durable, and the sync takes its time too.
constexpr std::chrono::milliseconds k_sync_after{300};
/// A full disk is tried again.
constexpr std::chrono::milliseconds k_retry{1000};
/// One write call: small enough that a slow disk does not hold what comes behind for long.
constexpr std::size_t k_write_size = std::size_t{1} << 20;
constexpr std::size_t k_most_ring_entries = 64;

struct RingLine {
  Timestamp taken;
  std::string text;
};

struct File {
  FileDescriptor descriptor;
  std::string name;
  BlackBox::Content content = BlackBox::Content::lines;
  std::size_t most_waiting = 0;
  std::string waiting;         // under the mutex
  std::string being_written;   // the writer's own
  std::size_t in_writing = 0;  // size of the above, under the mutex
  std::int64_t lost = 0, written = 0;
  int last_error = 0;
  bool dirty = false;  // written and not synced
};

}  // namespace

/// Owned by the box and by both threads: a thread that hangs in a disk call is left behind with what it uses.
struct BlackBox::Shared {
  std::mutex mutex;
  std::condition_variable to_writer, to_syncer, to_owner;
  std::deque<File> files;
  std::optional<store::RingFile> ring;
  std::vector<RingLine> ring_waiting;
  bool ring_dirty = false;
  int ring_error = 0;
  std::vector<std::string> problems;
  bool stopping = false, writer_done = false, syncer_done = false;
  // When the oldest content came that is not written / not synced yet.
  std::optional<Clock::time_point> oldest_waiting, oldest_dirty, oldest_in_sync;
  bool failing = false;

  void run_writer();
  void run_syncer();
  [[nodiscard]] bool anything_waits() const;
  void write_ring(std::unique_lock<std::mutex>& lock);
  void write_file(File& file, std::unique_lock<std::mutex>& lock);
  void put_back(File& file, std::size_t done, int error);
};

bool BlackBox::Shared::anything_waits() const {
  return !ring_waiting.empty() ||
         std::any_of(files.begin(), files.end(), [](const File& file) { return !file.waiting.empty(); });
}

void BlackBox::Shared::write_ring(std::unique_lock<std::mutex>& lock) {
  if (!ring || ring_waiting.empty()) return;
  std::vector<RingLine> lines;
  lines.swap(ring_waiting);
  lock.unlock();
  Result<void> result;
  for (const RingLine& line : lines)
    if (auto written = ring->append(line.taken, line.text); !written) result = written;
  lock.lock();
  ring_dirty = true;
  if (!result && ring_error == 0) problems.push_back(result.error().message);
  ring_error = result ? 0 : 1;
}

/// What was not written goes back in front of what came since; a half line at the end of the file is taken back.
void BlackBox::Shared::put_back(File& file, std::size_t done, int error) {
  if (file.content == Content::lines && done > 0) {
    const std::size_t whole = file.being_written.rfind('\n', done - 1);
    const std::size_t keep = whole == std::string::npos ? 0 : whole + 1;
    const off_t end = ::lseek(file.descriptor.get(), 0, SEEK_END);
    if (keep < done && end >= static_cast<off_t>(done - keep) &&
        ::ftruncate(file.descriptor.get(), end - static_cast<off_t>(done - keep)) == 0)
      done = keep;
  }
  file.written += static_cast<std::int64_t>(done);
  file.dirty = file.dirty || done > 0;
  file.waiting.insert(0, file.being_written, done);
  if (error != file.last_error) problems.push_back(system_error(file.name, error).message);
  file.last_error = error;
  failing = true;
}

void BlackBox::Shared::write_file(File& file, std::unique_lock<std::mutex>& lock) {
  if (file.waiting.empty()) return;
  file.being_written.swap(file.waiting);
  file.in_writing = file.being_written.size();
  lock.unlock();
  std::size_t done = 0;
  int error = 0;
  while (done < file.being_written.size() && error == 0) {
    const ssize_t count = ::write(file.descriptor.get(), file.being_written.data() + done,
                                  std::min(k_write_size, file.being_written.size() - done));
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  lock.lock();
  if (error != 0) {
    put_back(file, done, error);
  } else {
    file.written += static_cast<std::int64_t>(done);
    file.dirty = true;
    file.last_error = 0;
  }
  // A burst may have made it large: what is idle keeps little.
  file.being_written.clear();
  if (file.being_written.capacity() > 2 * k_write_size) file.being_written.shrink_to_fit();
  file.in_writing = 0;
}

void BlackBox::Shared::run_writer() {
  // A log may be a pipe, and a disk may have a quota: both are answers here, not reasons to die.
  sigset_t answers{};
  ::sigemptyset(&answers);
  ::sigaddset(&answers, SIGPIPE);
  ::sigaddset(&answers, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &answers, nullptr);
  std::unique_lock lock(mutex);
  while (true) {
    to_writer.wait(lock, [&] { return stopping || anything_waits(); });
    if (failing && !stopping) to_writer.wait_for(lock, k_retry, [&] { return stopping; });
    failing = false;
    if (!oldest_dirty) oldest_dirty = oldest_waiting;
    oldest_waiting.reset();
    write_ring(lock);
    for (File& file : files) write_file(file, lock);
    to_syncer.notify_all();
    if (stopping && (failing || !anything_waits())) break;
    if (failing && !oldest_waiting) oldest_waiting = Clock::now();
  }
  writer_done = true;
  to_syncer.notify_all();
}

void BlackBox::Shared::run_syncer() {
  std::unique_lock lock(mutex);
  const auto is_dirty = [&] {
    return ring_dirty || std::any_of(files.begin(), files.end(), [](const File& file) { return file.dirty; });
  };
  while (true) {
    to_syncer.wait(lock, [&] { return writer_done || is_dirty(); });
    if (!is_dirty() && writer_done) break;
    to_syncer.wait_for(lock, k_sync_after, [&] { return writer_done; });
    oldest_in_sync = std::exchange(oldest_dirty, std::nullopt);
    std::vector<int> descriptors;
    std::vector<int> large;
    if (std::exchange(ring_dirty, false)) descriptors.push_back(ring->descriptor());
    for (File& file : files) {
      if (!std::exchange(file.dirty, false)) continue;
      descriptors.push_back(file.descriptor.get());
      if (file.content == Content::bytes) large.push_back(file.descriptor.get());
    }
    lock.unlock();
    int error = 0;
    // A pipe or a device cannot be synced: that is no failure.
    for (const int descriptor : descriptors)
      if (::fdatasync(descriptor) != 0 && errno != EINVAL && errno != EROFS) error = errno;
    // The job's output must not fill the pool as page cache.
    for (const int descriptor : large) (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    lock.lock();
    oldest_in_sync.reset();
    if (error != 0) problems.push_back(system_error("fdatasync", error).message);
  }
  syncer_done = true;
  to_owner.notify_all();
}

BlackBox::BlackBox() : shared_(std::make_shared<Shared>()) {}

BlackBox::~BlackBox() {
  stop();
}

BlackBox::FileNumber BlackBox::add(FileDescriptor file, std::string name, Content content, std::size_t most_waiting) {
  File& added = shared_->files.emplace_back();
  added.descriptor = std::move(file);
  added.name = std::move(name);
  added.content = content;
  added.most_waiting = most_waiting;
  return shared_->files.size() - 1;
}

void BlackBox::add_ring(store::RingFile ring) {
  shared_->ring = std::move(ring);
}

Result<void> BlackBox::start() {
  try {
    std::thread([shared = shared_] { shared->run_writer(); }).detach();
    started_ = true;
    std::thread([shared = shared_] { shared->run_syncer(); }).detach();
  } catch (const std::system_error& error) {
    shared_->syncer_done = true;
    return failure(ErrorKind::unsupported, std::string("no thread for the record: ") + error.what());
  }
  return {};
}

bool BlackBox::append(FileNumber number, std::string_view content) {
  const std::lock_guard lock(shared_->mutex);
  File& file = shared_->files[number];
  if (file.waiting.size() + file.in_writing + content.size() > file.most_waiting) {
    if (file.lost == 0) shared_->problems.push_back(file.name + ": the disk is too slow or full, content is lost");
    file.lost += static_cast<std::int64_t>(content.size());
    return false;
  }
  file.waiting.append(content);
  if (!shared_->oldest_waiting) shared_->oldest_waiting = Clock::now();
  shared_->to_writer.notify_one();
  return true;
}

void BlackBox::append_to_ring(Timestamp taken, std::string_view text) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->ring || shared_->ring_waiting.size() >= k_most_ring_entries) return;
  shared_->ring_waiting.push_back({taken, std::string(text)});
  if (!shared_->oldest_waiting) shared_->oldest_waiting = Clock::now();
  shared_->to_writer.notify_one();
}

double BlackBox::sync_lag_ms() const {
  const std::lock_guard lock(shared_->mutex);
  const auto now = Clock::now();
  double lag = 0;
  for (const auto& since : {shared_->oldest_waiting, shared_->oldest_dirty, shared_->oldest_in_sync})
    if (since) lag = std::max(lag, std::chrono::duration<double, std::milli>(now - *since).count());
  return lag;
}

std::vector<std::string> BlackBox::take_problems() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->problems, {});
}

std::int64_t BlackBox::lost_bytes(FileNumber file) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->files[file].lost;
}

std::int64_t BlackBox::written_bytes(FileNumber file) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->files[file].written;
}

void BlackBox::stop(std::chrono::milliseconds patience) {
  if (!std::exchange(started_, false)) return;
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->to_writer.notify_all();
  shared_->to_owner.wait_for(lock, patience, [&] { return shared_->syncer_done; });
  for (File& file : shared_->files) file.lost += static_cast<std::int64_t>(file.waiting.size());
}

}  // namespace sparkops::runtime
