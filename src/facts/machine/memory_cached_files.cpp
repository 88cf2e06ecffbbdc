#include "facts/machine/memory_cached_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file_descriptor.h"
#include "base/text.h"

namespace sparkops::facts {

namespace {

using Clock = std::chrono::steady_clock;

/// cachestat(2): Linux 6.5, the same number on every architecture; older C libraries do not name it.
constexpr long k_cachestat_call = 451;

/// As the kernel defines them in linux/mman.h since 6.5.
struct CachestatRange {
  std::uint64_t offset, length;  ///< length 0: to the end of the file
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;  ///< pages
};

/// Counting the pages of a fully cached model takes milliseconds; a disk that does not answer must not take seconds.
constexpr std::chrono::milliseconds k_time_for_all_files{1000};

/// Files of a few pages would only blur the list.
constexpr Bytes k_smallest_shown = mebibytes(1);

struct Tally {
  std::vector<CachedFile> files;
  int looked_at = 0, not_permitted = 0, not_opened = 0, out_of_time = 0;
};

/// Whether the kernel answers truthfully about this file (its own rule for both calls).
bool may_know_residency(int file, const struct stat& status) {
  if (::geteuid() == 0 || status.st_uid == ::geteuid()) return true;
  return ::faccessat(file, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

enum class Answer { counted, unsupported, not_permitted, failed };
struct CachedBytes {
  Answer answer = Answer::failed;
  Bytes cached;
};

CachedBytes cached_by_cachestat(int file) {
  CachestatRange range{0, 0};
  Cachestat result{};
  if (::syscall(k_cachestat_call, file, &range, &result, 0U) != 0) {
    if (errno == ENOSYS) return {Answer::unsupported, {}};
    return {errno == EPERM ? Answer::not_permitted : Answer::failed, {}};
  }
  return {Answer::counted, {static_cast<std::int64_t>(result.cached) * ::sysconf(_SC_PAGESIZE)}};
}

/// One part of the file after the other, so that the table of pages stays small.
CachedBytes cached_by_mincore(int file, std::int64_t size) {
  constexpr std::int64_t k_part = k_gib;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> resident;
  std::int64_t pages = 0;
  for (std::int64_t offset = 0; offset < size; offset += k_part) {
    const std::int64_t length = std::min(k_part, size - offset);
    resident.assign(static_cast<std::size_t>((length + page - 1) / page), 0);
    void* const mapping = ::mmap(nullptr, static_cast<std::size_t>(length), PROT_NONE, MAP_SHARED, file, offset);
    if (mapping == MAP_FAILED) return {Answer::failed, {}};
    const int failed = ::mincore(mapping, static_cast<std::size_t>(length), resident.data());
    ::munmap(mapping, static_cast<std::size_t>(length));
    if (failed != 0) return {Answer::failed, {}};
    pages += std::count_if(resident.begin(), resident.end(), [](unsigned char page_state) { return page_state & 1; });
  }
  return {Answer::counted, {pages * page}};
}

void look_at(const std::string& path, Tally& tally) {
  // O_NONBLOCK: opening a FIFO by mistake must not hang.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    ++tally.not_opened;
    return;
  }
  if (!may_know_residency(file.get(), status)) {
    ++tally.not_permitted;
    return;
  }
  CachedBytes reading = cached_by_cachestat(file.get());
  const char* how = "cachestat";
  if (reading.answer == Answer::unsupported) {
    how = "mincore";
    reading = cached_by_mincore(file.get(), status.st_size);
  }
  if (reading.answer == Answer::not_permitted) ++tally.not_permitted;
  if (reading.answer == Answer::failed) ++tally.not_opened;
  if (reading.answer != Answer::counted) return;
  ++tally.looked_at;
  if (reading.cached >= k_smallest_shown)
    tally.files.push_back({printable(path), Bytes{status.st_size}, reading.cached, how});
}

std::string scope_of(const Tally& tally) {
  std::string scope = std::to_string(tally.looked_at) + " files looked at";
  if (tally.not_permitted > 0)
    scope += ", " + std::to_string(tally.not_permitted) + " of other users unknown (needs root)";
  if (tally.not_opened > 0) scope += ", " + std::to_string(tally.not_opened) + " could not be opened";
  if (tally.out_of_time > 0) scope += ", " + std::to_string(tally.out_of_time) + " left out after 1 s";
  return scope;
}

}  // namespace

CachedFilesReading read_cached_files(const std::vector<std::string>& paths) {
  const auto deadline = Clock::now() + k_time_for_all_files;
  Tally tally;
  for (const std::string& path : paths) {
    if (Clock::now() < deadline)
      look_at(path, tally);
    else
      ++tally.out_of_time;
  }
  CachedFilesReading reading{unknown("no file whose cached part may be counted"), scope_of(tally)};
  if (tally.looked_at == 0) {
    reading.files =
        unknown("none of the " + std::to_string(paths.size()) + " files could be counted (" + reading.scope + ")");
    return reading;
  }
  std::sort(tally.files.begin(), tally.files.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.cached > b.cached; });
  reading.files = as_measured(std::move(tally.files));
  return reading;
}

}  // namespace sparkops::facts
