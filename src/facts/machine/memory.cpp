#include "facts/machine/memory.h"

#include <linux/magic.h>
#include <sys/statfs.h>

#include <algorithm>

#include "base/text.h"
#include "facts/machine/capture_files.h"
#include "facts/machine/identity.h"
#include "facts/machine/memory_cached_files.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_page_cache_size_cap = std::size_t{16} << 20;

/// The content of a file, parsed; a malformed one is named in the error.
template <class Parse>
auto read_and_parse(const Root& root, const char* path, Parse parse) -> decltype(parse(std::string_view{})) {
  const auto text = root.read(path);
  if (!text) return tl::unexpected(text.error());
  return parse(std::string_view(*text));
}

/// Every field unknown for one reason.
MemoryInfo memory_info_unknown(const Error& error) {
  const Known<Bytes> size = unknown(error);
  const Known<std::int64_t> count = unknown(error);
  MemoryInfo info;
  for (const auto member : {&MemoryInfo::total,
                            &MemoryInfo::free,
                            &MemoryInfo::available,
                            &MemoryInfo::buffers,
                            &MemoryInfo::cached,
                            &MemoryInfo::swap_cached,
                            &MemoryInfo::anonymous,
                            &MemoryInfo::mapped,
                            &MemoryInfo::shared,
                            &MemoryInfo::dirty,
                            &MemoryInfo::writeback,
                            &MemoryInfo::unevictable,
                            &MemoryInfo::locked,
                            &MemoryInfo::slab_reclaimable,
                            &MemoryInfo::slab_unreclaimable,
                            &MemoryInfo::kernel_stack,
                            &MemoryInfo::page_tables,
                            &MemoryInfo::swap_total,
                            &MemoryInfo::swap_free,
                            &MemoryInfo::cma_total,
                            &MemoryInfo::cma_free,
                            &MemoryInfo::huge_page_size})
    info.*member = size;
  info.huge_pages_total = count;
  info.huge_pages_free = count;
  return info;
}

Known<FreeBlocks> read_free_blocks(const Root& root) {
  const Known<long> page_size = read_page_size(root);
  if (!page_size) return unknown("the size of a page is not known: " + page_size.reason());
  auto zones = read_and_parse(root, "proc/buddyinfo", parse_buddyinfo);
  if (!zones) return unknown(zones.error());
  return as_read(FreeBlocks{std::move(*zones), *page_size});
}

/// The first of the two readings that a capture holds, so that rates can be told.
Known<VmCounters> read_earlier_counters(const Root& root) {
  if (root.is_live()) return unknown("only one reading of vmstat, a rate needs two");
  const auto taken = read_capture_notes(root).vmstat_earlier;
  if (!taken) return unknown("only one reading of vmstat (" + taken.reason() + ")");
  return as_read(read_and_parse(root, "sparkops/vmstat-earlier",
                                [&](std::string_view text) { return parse_vmstat(text, *taken); }));
}

/// When the counters were read: now, or when the capture was taken.
Timestamp time_of_reading(const Root& root) {
  if (root.is_live()) return Timestamp::now();
  if (const auto notes = read_capture_notes(root); notes.taken) return *notes.taken;
  const auto status = root.status("proc/vmstat");
  return status ? status->modified : Timestamp{};
}

Known<Pressure> read_pressure(const Root& root, const char* path) {
  auto pressure = read_and_parse(root, path, parse_pressure);
  if (pressure) return as_read(std::move(*pressure));
  const bool switched_off =
      pressure.error().kind == ErrorKind::not_found || pressure.error().kind == ErrorKind::unsupported;
  return unknown(pressure.error().message + (switched_off ? " (kernel parameter psi=1 switches it on)" : ""));
}

Known<Bytes> read_min_free(const Root& root) {
  const auto text = root.read("proc/sys/vm/min_free_kbytes");
  if (!text) return unknown(text.error());
  const auto kib = parse_integer(trim(*text));
  constexpr std::int64_t k_most_kib = std::int64_t{1} << 40;
  if (!kib || *kib < 0 || *kib > k_most_kib) return unknown("proc/sys/vm/min_free_kbytes: not a number of KiB");
  return as_read(kibibytes(*kib));
}

/// The size= option of the tmpfs mounted on dev/shm, from the mount table.
Known<Bytes> size_in_mount_table(const Root& root) {
  auto table = root.read("proc/mounts");
  if (!table) table = root.read("proc/self/mounts");
  if (!table) return unknown(table.error());
  constexpr std::size_t k_options_column = 3;
  for (const std::string_view line : split_lines(*table)) {
    const auto words = split_words(line);
    if (words.size() <= k_options_column || words[1] != "/dev/shm") continue;
    for (const std::string_view option : split(words[k_options_column], ',')) {
      if (!option.starts_with("size=")) continue;
      const auto size = parse_size(option.substr(std::string_view("size=").size()), Bytes{1});
      if (size && size->value >= 0) return as_read(Bytes{*size});
    }
    return unknown("the mount table names no size for dev/shm");
  }
  return unknown("dev/shm is not in the mount table");
}

Known<SharedMemoryMount> read_shared_memory(const Root& root) {
  constexpr const char* k_path = "/dev/shm";
  if (!root.is_live()) {
    const Known<Bytes> size = size_in_mount_table(root);
    if (!size) return size.as_unknown();
    return as_read(SharedMemoryMount{k_path, size, unknown("a capture does not tell what is used")});
  }
  struct statfs status{};
  if (::statfs(k_path, &status) != 0) return unknown(system_error(k_path, errno));
  if (status.f_type != TMPFS_MAGIC) return unknown(std::string(k_path) + ": not a tmpfs");
  const auto bytes = [&](auto blocks) { return Bytes{static_cast<std::int64_t>(blocks) * status.f_bsize}; };
  // A tmpfs without a limit says zero blocks.
  const Known<Bytes> size =
      status.f_blocks == 0 ? Known<Bytes>(unknown("mounted without a limit")) : as_read(bytes(status.f_blocks));
  const Known<Bytes> used = status.f_blocks == 0 ? Known<Bytes>(unknown("mounted without a limit"))
                                                 : as_read(bytes(status.f_blocks - status.f_bfree));
  return as_read(SharedMemoryMount{k_path, size, used});
}

void read_captured_page_cache(const Root& root, Memory& memory) {
  const auto text = root.read("sparkops/pagecache.json", k_page_cache_size_cap);
  auto page_cache = text ? parse_captured_page_cache(*text) : tl::unexpected(text.error());
  if (!page_cache) {
    memory.cached_files = unknown(page_cache.error());
    memory.cached_files_scope = "not part of this capture";
    return;
  }
  auto& files = page_cache->files;
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.cached > b.cached; });
  memory.cached_files_scope =
      std::to_string(files.size()) + " files of the capture" + (page_cache->how.empty() ? "" : ", " + page_cache->how);
  memory.cached_files = as_read(std::move(files));
}

void read_cached_files_into(Memory& memory, const Root& root, const std::vector<std::string>& candidate_files) {
  if (!root.is_live()) return read_captured_page_cache(root, memory);
  if (candidate_files.empty()) {
    memory.cached_files = unknown("no files were looked at");
    memory.cached_files_scope = "none";
    return;
  }
  auto [files, scope] = read_cached_files(candidate_files);
  memory.cached_files = std::move(files);
  memory.cached_files_scope = std::move(scope);
}

}  // namespace

Memory read_memory(const Root& root, const std::vector<std::string>& candidate_files) {
  Memory memory;
  auto info = read_and_parse(root, "proc/meminfo", parse_meminfo);
  memory.info = info ? std::move(*info) : memory_info_unknown(info.error());
  memory.free_blocks = read_free_blocks(root);
  const Timestamp taken = time_of_reading(root);
  memory.counters =
      as_read(read_and_parse(root, "proc/vmstat", [&](std::string_view text) { return parse_vmstat(text, taken); }));
  memory.earlier_counters = read_earlier_counters(root);
  memory.pressure_memory = read_pressure(root, "proc/pressure/memory");
  memory.pressure_io = read_pressure(root, "proc/pressure/io");
  memory.pressure_cpu = read_pressure(root, "proc/pressure/cpu");
  memory.swap_devices = as_read(read_and_parse(root, "proc/swaps", parse_swaps));
  memory.min_free = read_min_free(root);
  memory.shared_memory = read_shared_memory(root);
  read_cached_files_into(memory, root, candidate_files);
  return memory;
}

}  // namespace sparkops::facts
