#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/root.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// proc/meminfo, every field. Counts of huge pages are kept as plain numbers.
struct MemoryInfo {
  Known<Bytes> total, free, available, buffers, cached, swap_cached;
  Known<Bytes> anonymous, mapped, shared, dirty, writeback, unevictable, locked;
  Known<Bytes> slab_reclaimable, slab_unreclaimable, kernel_stack, page_tables;
  Known<Bytes> swap_total, swap_free;
  Known<Bytes> cma_total, cma_free;
  Known<std::int64_t> huge_pages_total, huge_pages_free;  ///< counts
  Known<Bytes> huge_page_size;
  std::map<std::string, std::int64_t, std::less<>>
      fields;  ///< every line as it stands: kB lines in bytes, others as counts
};

/// Free blocks of one zone: free_blocks[order] counts blocks of page_size << order bytes (proc/buddyinfo).
struct BuddyZone {
  int node = 0;
  std::string zone;
  std::vector<std::int64_t> free_blocks;
};

/// Physical fragmentation. A box can have 118 GiB available and not one block of 32 MiB (gb10-facts §2.6).
struct FreeBlocks {
  std::vector<BuddyZone> zones;
  long page_size = 4096;  ///< bytes

  [[nodiscard]] int largest_order() const;  ///< −1 when nothing is free
  [[nodiscard]] std::int64_t count_at_least(
      Bytes block) const;  ///< free blocks of at least this size, in units of `block`
};

/// Counters of proc/vmstat, cumulative since boot. Rates need two readings: see rates_between.
struct VmCounters {
  Timestamp taken;
  Known<std::int64_t> pages_swapped_in, pages_swapped_out;                           ///< pswpin, pswpout
  Known<std::int64_t> major_faults;                                                  ///< pgmajfault
  Known<std::int64_t> refaults_anonymous, refaults_file;                             ///< workingset_refault_*
  Known<std::int64_t> direct_reclaim_pages, kswapd_reclaim_pages;                    ///< pgsteal_direct, pgsteal_kswapd
  Known<std::int64_t> allocation_stalls;                                             ///< sum of allocstall_*
  Known<std::int64_t> compaction_stalls, compaction_failures, compaction_successes;  ///< compact_*
  Known<std::int64_t> oom_kills;                                                     ///< oom_kill
};

/// One line of a PSI file: shares of time in percent, and the total in microseconds.
struct PressureLine {
  double average_10s = 0, average_60s = 0, average_300s = 0;
  std::int64_t total_us = 0;
};

/// proc/pressure/memory (and io, cpu). `full` means that nobody could run meanwhile.
struct Pressure {
  PressureLine some;
  Known<PressureLine> full;
};

struct SwapDevice {
  std::string path, type;
  Bytes size, used;
  std::int64_t priority = 0;
};

/// What stands under a mount of tmpfs such as dev/shm: it lives in the same pool.
struct SharedMemoryMount {
  std::string path;
  Known<Bytes> size, used;
};

/// A file with pages in the page cache.
struct CachedFile {
  std::string path;
  Bytes size;
  Bytes cached;
  std::string how;  ///< "cachestat", "mincore" or "capture"
};

/// Everything the memory verdicts look at.
struct Memory {
  MemoryInfo info;
  Known<FreeBlocks> free_blocks;
  Known<VmCounters> counters;
  Known<VmCounters> earlier_counters;  ///< a first reading, so that rates can be told; unknown: only one reading exists
  Known<Pressure> pressure_memory, pressure_io, pressure_cpu;
  Known<std::vector<SwapDevice>> swap_devices;
  Known<Bytes> min_free;                   ///< vm.min_free_kbytes
  Known<SharedMemoryMount> shared_memory;  ///< dev/shm
  /// Files that hold the page cache, largest first; which were looked at stands in `cached_files_scope`.
  Known<std::vector<CachedFile>> cached_files;
  std::string cached_files_scope;
};

/// Parsers of one file's text; a malformed line is an error that names it.
[[nodiscard]] Result<MemoryInfo> parse_meminfo(std::string_view text);
[[nodiscard]] Result<std::vector<BuddyZone>> parse_buddyinfo(std::string_view text);
[[nodiscard]] Result<VmCounters> parse_vmstat(std::string_view text, Timestamp taken);
[[nodiscard]] Result<Pressure> parse_pressure(std::string_view text);
[[nodiscard]] Result<std::vector<SwapDevice>> parse_swaps(std::string_view text);

/// Reads what can be read; parts that cannot are unknown with their reason. One vmstat reading on a live machine: the
/// caller fills `earlier_counters` when it has waited anyway. `cached_files` comes from sparkops/pagecache.json in a
/// capture; on a live machine it is looked up for `candidate_files` (and left unknown when there are none).
[[nodiscard]] Memory read_memory(const Root& root, const std::vector<std::string>& candidate_files = {});

/// Files that often hold the cache on a machine that runs models: the largest files (≥ 256 MiB, at most 2,000 looked
/// at, no directory deeper than 8) in the Hugging Face, Ollama and vLLM caches of this user, and files opened by the
/// running processes that may be looked at.
/// `thorough` takes a few times as long and also finds files from 16 MiB on, those that processes have mapped, and
/// checkpoints: large files in and right below the working directories of python processes.
enum class LikelyFiles { quick, thorough };
[[nodiscard]] std::vector<std::string> likely_cached_files(const Root& root, LikelyFiles look = LikelyFiles::quick);

}  // namespace sparkops::facts
