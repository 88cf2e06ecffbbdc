#include "facts/machine/file_residency.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file_descriptor.h"
#include "base/text.h"

namespace sparkops::facts {

namespace {

/// cachestat(2): Linux 6.5, the same number on every architecture; older C libraries do not name it.
constexpr long k_cachestat_call = 451;

/// As the kernel defines them in linux/mman.h since 6.5.
struct CachestatRange {
  std::uint64_t offset, length;  ///< length 0: to the end of the file
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;  ///< pages
};

constexpr const char* k_needs_root = "a file of another user: needs root";

/// Whether the kernel answers truthfully about this file (its own rule for both calls).
bool may_know_residency(int file, const struct stat& status) {
  if (::geteuid() == 0 || status.st_uid == ::geteuid()) return true;
  return ::faccessat(file, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

/// False when this kernel has no such call.
bool count_by_cachestat(int file, FileResidency& residency) {
  CachestatRange range{0, 0};
  Cachestat result{};
  if (::syscall(k_cachestat_call, file, &range, &result, 0U) != 0) {
    if (errno == ENOSYS) return false;
    residency.needs_root = errno == EPERM;
    residency.cached = residency.needs_root ? unknown(k_needs_root) : unknown(system_error("cachestat", errno));
    residency.dirty = residency.cached.as_unknown();
    return true;
  }
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const auto bytes = [page](std::uint64_t pages) { return Bytes{static_cast<std::int64_t>(pages) * page}; };
  residency.cached = as_measured(bytes(result.cached));
  residency.dirty = as_measured(bytes(result.dirty + result.writeback));
  residency.how = "cachestat";
  return true;
}

/// One part of the file after the other, so that the table of pages stays small.
void count_by_mincore(int file, FileResidency& residency) {
  constexpr std::int64_t k_part = k_gib;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> resident;
  std::int64_t pages = 0;
  for (std::int64_t offset = 0; offset < residency.size.value; offset += k_part) {
    const std::int64_t length = std::min(k_part, residency.size.value - offset);
    resident.assign(static_cast<std::size_t>((length + page - 1) / page), 0);
    void* const mapping = ::mmap(nullptr, static_cast<std::size_t>(length), PROT_NONE, MAP_SHARED, file, offset);
    const bool counted =
        mapping != MAP_FAILED && ::mincore(mapping, static_cast<std::size_t>(length), resident.data()) == 0;
    const int code = errno;
    if (mapping != MAP_FAILED) ::munmap(mapping, static_cast<std::size_t>(length));
    if (!counted) {
      residency.cached = unknown(system_error("mincore", code));
      return;
    }
    pages += std::count_if(resident.begin(), resident.end(), [](unsigned char state) { return (state & 1U) != 0; });
  }
  residency.cached = as_measured(Bytes{pages * page});
  residency.how = "mincore";
}

PageHome home_of(int file) {
  struct statfs status{};
  if (::fstatfs(file, &status) != 0) return PageHome::disk;
  const auto type = static_cast<std::uint64_t>(status.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == HUGETLBFS_MAGIC ? PageHome::memory : PageHome::disk;
}

}  // namespace

Result<FileResidency> read_residency(int file, const std::string& path) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return tl::unexpected(system_error(printable(path), errno));
  if (!S_ISREG(status.st_mode)) return failure(ErrorKind::not_a_regular_file, printable(path) + ": not a regular file");
  FileResidency residency;
  residency.size = Bytes{status.st_size};
  residency.home = home_of(file);
  residency.device = status.st_dev;
  residency.inode = status.st_ino;
  residency.dirty = unknown("mincore does not tell");
  if (!may_know_residency(file, status)) {
    residency.needs_root = true;
    residency.cached = residency.dirty = unknown(k_needs_root);
  } else if (!count_by_cachestat(file, residency)) {
    count_by_mincore(file, residency);
  }
  return residency;
}

Result<FileResidency> read_residency(const std::string& path) {
  // O_NONBLOCK: opening a FIFO by mistake must not hang.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return tl::unexpected(system_error(printable(path), errno));
  return read_residency(file.get(), path);
}

}  // namespace sparkops::facts
