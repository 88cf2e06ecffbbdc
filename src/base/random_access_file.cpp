#include "base/random_access_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace sparkops {

namespace {

constexpr std::uint64_t k_longest_run = std::uint64_t{128} << 10;  // bytes that are fetched from disk at once
constexpr std::uint64_t k_long_run = std::uint64_t{512} << 10;
constexpr std::uint64_t k_largest_snapshot = std::uint64_t{256} << 20;  // of a file; a page of it costs a look-up

/// How it is told which pages were in the page cache before.
enum class Residency {
  all_were,     ///< nothing is to be given back
  none_was,     ///< every page that is touched is ours
  by_snapshot,  ///< some were: which, was asked when the file was opened
  by_attempt,   ///< nobody may ask: preadv2(RWF_NOWAIT) refuses to fetch what is not there
  untold,       ///< the file system knows no such flag; nothing is given back, it may be somebody else's
};

// cachestat(2) of Linux 6.5, whose headers are newer than those of the systems this is built on.
struct CacheRange {
  std::uint64_t offset, length;
};
struct CacheStatistics {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};
constexpr long k_cachestat = 451;

/// mincore(2) over a file; nothing of the mapping is ever touched, so a file that shrinks does no harm. Empty where it
/// cannot be had.
std::vector<unsigned char> resident_pages(int file, std::uint64_t size, std::uint64_t page_size) {
  std::vector<unsigned char> pages((size + page_size - 1) / page_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) return {};
  const bool told = ::mincore(address, size, pages.data()) == 0;
  ::munmap(address, size);
  return told ? pages : std::vector<unsigned char>{};
}

class DiskFile final : public RandomAccessFile {
 public:
  DiskFile(FileDescriptor file, std::string name, const struct stat& status)
      : file_(std::move(file)),
        name_(std::move(name)),
        size_(static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0))),
        page_size_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {
    ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_RANDOM);
    // The kernel answers truthfully only those who could write the file.
    may_ask_ = size_ > 0 && (status.st_uid == ::geteuid() || ::geteuid() == 0);
  }
  ~DiskFile() override { give_back(); }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= size_) return std::size_t{0};
    const std::uint64_t end = offset + std::min<std::uint64_t>(buffer.size(), size_ - offset);
    run_starts_at_ = offset == run_ends_at_ ? run_starts_at_ : offset;
    run_ends_at_ = end;
    // Reading on and on makes the kernel read ahead where somebody else's reading had left its mark: then attempts tell
    // nothing any more.
    if (run_ends_at_ - run_starts_at_ >= k_long_run) ask_what_is_resident();
    std::uint64_t at = offset;
    while (at < end) {
      const auto count = read_some(at, buffer.subspan(at - offset, end - at));
      if (!count) return tl::unexpected(count.error());
      if (*count == 0) break;  // it became shorter meanwhile
      at += *count;
    }
    return static_cast<std::size_t>(at - offset);
  }

 private:
  /// Asked once, and only when it matters: the answer costs time in proportion to the pages that are there.
  void ask_what_is_resident() const {
    if (!std::exchange(may_ask_, false) || residency_ != Residency::by_attempt) return;
    CacheRange range{0, 0};  // all of it
    CacheStatistics statistics{};
    const std::uint64_t pages = (size_ + page_size_ - 1) / page_size_;
    const bool told = ::syscall(k_cachestat, file_.get(), &range, &statistics, 0) == 0;
    if (told && statistics.cached == 0) residency_ = Residency::none_was;
    if (told && statistics.cached >= pages) residency_ = Residency::all_were;
    if (residency_ != Residency::by_attempt || size_ > k_largest_snapshot) return;
    snapshot_ = resident_pages(file_.get(), size_, page_size_);
    if (!snapshot_.empty()) residency_ = Residency::by_snapshot;
  }

  [[nodiscard]] ssize_t read_cached(std::uint64_t offset, std::span<char> buffer) const {
    const iovec part{buffer.data(), buffer.size()};
    return ::preadv2(file_.get(), &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  }

  [[nodiscard]] Result<std::size_t> read_some(std::uint64_t offset, std::span<char> buffer) const {
    if (residency_ == Residency::by_attempt) {
      const ssize_t count = read_cached(offset, buffer);
      if (count >= 0) return static_cast<std::size_t>(count);
      const bool is_missing = errno == EAGAIN || errno == EINTR;
      ask_what_is_resident();
      if (!is_missing && residency_ == Residency::by_attempt) residency_ = Residency::untold;
    }
    if (residency_ == Residency::by_attempt) buffer = buffer.subspan(0, missing_run(offset, buffer.size()));
    if (residency_ == Residency::none_was || residency_ == Residency::by_snapshot) note_pages(offset, buffer.size());
    return fetch(offset, buffer);
  }

  void note_pages(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t last = (offset + size - 1) / page_size_;
    for (std::uint64_t page = offset / page_size_; page <= last; ++page) {
      const bool was_there = page < snapshot_.size() && (snapshot_[page] & 1U) != 0;
      if (!was_there) note_page(page);
    }
  }

  void note_page(std::uint64_t page) const {
    if (!ours_.empty() && page <= ours_.back().last + 1 && page >= ours_.back().first)
      ours_.back().last = std::max(ours_.back().last, page);
    else
      ours_.push_back({page, page});
  }

  /// The first wanted page is not there. How many of the wanted bytes lie in pages like that; these are remembered.
  [[nodiscard]] std::uint64_t missing_run(std::uint64_t offset, std::uint64_t wanted) const {
    const std::uint64_t end = offset + std::min(wanted, k_longest_run);
    std::uint64_t page = offset / page_size_;
    char byte = 0;
    do {
      note_page(page++);
    } while (page * page_size_ < end && read_cached(page * page_size_, {&byte, 1}) < 0);
    return std::min(end, page * page_size_) - offset;
  }

  [[nodiscard]] Result<std::size_t> fetch(std::uint64_t offset, std::span<char> buffer) const {
    while (true) {
      const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return tl::unexpected(system_error(name_, errno));
    }
  }

  void give_back() {
    std::sort(ours_.begin(), ours_.end(), [](const Pages& a, const Pages& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < ours_.size();) {
      Pages run = ours_[i];
      while (i < ours_.size() && ours_[i].first <= run.last + 1) run.last = std::max(run.last, ours_[i++].last);
      ::posix_fadvise(file_.get(), static_cast<off_t>(run.first * page_size_),
                      static_cast<off_t>((run.last - run.first + 1) * page_size_), POSIX_FADV_DONTNEED);
    }
  }

  struct Pages {
    std::uint64_t first, last;
  };

  FileDescriptor file_;
  std::string name_;
  std::uint64_t size_;
  std::uint64_t page_size_;
  mutable bool may_ask_ = false;
  mutable std::uint64_t run_starts_at_ = 0, run_ends_at_ = 0;  ///< of reads that follow each other
  mutable Residency residency_ = Residency::by_attempt;
  mutable std::vector<unsigned char> snapshot_;
  mutable std::vector<Pages> ours_;
};

class BytesFile final : public RandomAccessFile {
 public:
  BytesFile(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= bytes_.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(buffer.size(), bytes_.size() - offset);
    std::memcpy(buffer.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_;
  std::string name_;
};

}  // namespace

Result<std::shared_ptr<const RandomAccessFile>> open_disk_file(FileDescriptor file, std::string name) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return tl::unexpected(system_error(name, errno));
  return std::make_shared<const DiskFile>(std::move(file), std::move(name), status);
}

std::shared_ptr<const RandomAccessFile> open_bytes(std::string bytes, std::string name) {
  return std::make_shared<const BytesFile>(std::move(bytes), std::move(name));
}

}  // namespace sparkops
