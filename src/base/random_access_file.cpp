#include "base/random_access_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace sparkops {

namespace {

constexpr std::uint64_t k_longest_run = std::uint64_t{128} << 10;  // bytes that are fetched from disk at once

/// How it can be told whether a page was in the page cache before it was read.
enum class Residency {
  by_attempt,  ///< preadv2(RWF_NOWAIT) refuses to fetch
  by_mincore,  ///< the file system does not know that flag, but we may ask about this file
  untold,      ///< then nothing is given back: it may be somebody else's
};

/// mincore(2) over the whole file; nothing of the mapping is ever touched, so a file that shrinks does no harm.
class PageMap {
 public:
  PageMap(int file, std::uint64_t size) : size_(size) {
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (address != MAP_FAILED) address_ = static_cast<unsigned char*>(address);
  }
  ~PageMap() {
    if (address_ != nullptr) ::munmap(address_, size_);
  }
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  [[nodiscard]] bool usable() const { return address_ != nullptr; }
  [[nodiscard]] bool resident(std::uint64_t page, std::uint64_t page_size) const {
    unsigned char answer = 1;
    const bool told = ::mincore(address_ + page * page_size, page_size, &answer) == 0;
    return !told || (answer & 1U) != 0;
  }

 private:
  std::uint64_t size_;
  unsigned char* address_ = nullptr;
};

class DiskFile final : public RandomAccessFile {
 public:
  DiskFile(FileDescriptor file, std::string name, const struct stat& status)
      : file_(std::move(file)),
        name_(std::move(name)),
        size_(static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0))),
        page_size_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))),
        may_ask_(status.st_uid == ::geteuid() || ::geteuid() == 0) {
    ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_RANDOM);
  }
  ~DiskFile() override { give_back(); }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= size_) return std::size_t{0};
    const std::uint64_t end = offset + std::min<std::uint64_t>(buffer.size(), size_ - offset);
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
  [[nodiscard]] ssize_t read_cached(std::uint64_t offset, std::span<char> buffer) const {
    const iovec part{buffer.data(), buffer.size()};
    return ::preadv2(file_.get(), &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  }

  [[nodiscard]] Result<std::size_t> read_some(std::uint64_t offset, std::span<char> buffer) const {
    if (residency_ == Residency::by_attempt) {
      const ssize_t count = read_cached(offset, buffer);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EAGAIN && errno != EINTR) ask_otherwise();
    }
    return fetch(offset, buffer.subspan(0, missing_run(offset, buffer.size())));
  }

  /// The flag is not known here (an overlay, an emulator).
  void ask_otherwise() const {
    residency_ = Residency::untold;
    if (!may_ask_) return;
    pages_ = std::make_unique<PageMap>(file_.get(), size_);
    if (pages_->usable()) residency_ = Residency::by_mincore;
  }

  [[nodiscard]] bool is_resident(std::uint64_t page) const {
    if (residency_ == Residency::by_mincore) return pages_->resident(page, page_size_);
    char byte = 0;
    return read_cached(page * page_size_, {&byte, 1}) >= 0;
  }

  /// How many of the wanted bytes lie in pages that have to be fetched; these pages are remembered as ours. All of
  /// them where residency cannot be told or the first page turns out to be resident.
  [[nodiscard]] std::uint64_t missing_run(std::uint64_t offset, std::uint64_t wanted) const {
    if (residency_ == Residency::untold) return wanted;
    const std::uint64_t end = offset + std::min(wanted, k_longest_run);
    std::uint64_t page = offset / page_size_;
    if (residency_ == Residency::by_mincore && is_resident(page))
      return std::min(end, (page + 1) * page_size_) - offset;
    do {
      fetched_pages_.push_back(page++);
    } while (page * page_size_ < end && !is_resident(page));
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
    std::sort(fetched_pages_.begin(), fetched_pages_.end());
    for (std::size_t i = 0; i < fetched_pages_.size();) {
      const std::uint64_t first = fetched_pages_[i];
      std::uint64_t last = first;
      while (i < fetched_pages_.size() && fetched_pages_[i] <= last + 1) last = fetched_pages_[i++];
      ::posix_fadvise(file_.get(), static_cast<off_t>(first * page_size_),
                      static_cast<off_t>((last - first + 1) * page_size_), POSIX_FADV_DONTNEED);
    }
  }

  FileDescriptor file_;
  std::string name_;
  std::uint64_t size_;
  std::uint64_t page_size_;
  bool may_ask_;  ///< the kernel answers mincore(2) truthfully only to those who could write the file
  mutable Residency residency_ = Residency::by_attempt;
  mutable std::unique_ptr<PageMap> pages_;
  mutable std::vector<std::uint64_t> fetched_pages_;
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
