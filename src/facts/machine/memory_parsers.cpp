#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "facts/machine/memory.h"

namespace sparkops::facts {

namespace {

/// Orders above this are no buddy allocator's: 64 KiB pages stop at order 13 (512 MiB), 4 KiB pages at 10.
constexpr std::size_t k_most_orders = 20;

tl::unexpected<Error> malformed(std::string_view file, std::string_view line) {
  constexpr std::size_t k_shown = 80;
  return failure(ErrorKind::malformed, std::string(file) + ": cannot read the line '" + printable(line, k_shown) + "'");
}

/// A number that is not negative and, times `unit`, still fits.
std::optional<std::int64_t> parse_count(std::string_view text, std::int64_t unit = 1) {
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > std::numeric_limits<std::int64_t>::max() / unit) return std::nullopt;
  return *number * unit;
}

Known<std::int64_t> field(const MemoryInfo& info, std::string_view name) {
  const auto found = info.fields.find(name);
  if (found == info.fields.end()) return unknown(std::string(name) + " is not in meminfo");
  return as_read(found->second);
}

Known<Bytes> size_field(const MemoryInfo& info, std::string_view name) {
  const auto value = field(info, name);
  if (!value) return value.as_unknown();
  return as_read(Bytes{*value});
}

/// Figures that no kernel writes are no figures: a budget must never rest on them.
void drop_impossible_figures(MemoryInfo& info) {
  if (info.total && info.total->value == 0) info.total = unknown("meminfo: MemTotal is 0");
  if (!info.total) return;
  const Bytes total = *info.total;
  for (const auto member : {&MemoryInfo::free, &MemoryInfo::available, &MemoryInfo::cached, &MemoryInfo::anonymous})
    if (info.*member && *(info.*member) > total) info.*member = unknown("meminfo: a part is larger than MemTotal");
  if (!info.huge_pages_total || !info.huge_page_size || info.huge_page_size->value == 0) return;
  const std::int64_t most = total.value / info.huge_page_size->value;
  if (*info.huge_pages_total <= most && info.huge_pages_free.value_or(0) <= *info.huge_pages_total) return;
  info.huge_pages_free = unknown("meminfo: more huge pages than memory");
  info.huge_page_size = unknown("meminfo: more huge pages than memory");
}

void fill_named_fields(MemoryInfo& info) {
  constexpr std::array<std::pair<const char*, Known<Bytes> MemoryInfo::*>, 22> k_sizes{{
      {"MemTotal", &MemoryInfo::total},
      {"MemFree", &MemoryInfo::free},
      {"MemAvailable", &MemoryInfo::available},
      {"Buffers", &MemoryInfo::buffers},
      {"Cached", &MemoryInfo::cached},
      {"SwapCached", &MemoryInfo::swap_cached},
      {"AnonPages", &MemoryInfo::anonymous},
      {"Mapped", &MemoryInfo::mapped},
      {"Shmem", &MemoryInfo::shared},
      {"Dirty", &MemoryInfo::dirty},
      {"Writeback", &MemoryInfo::writeback},
      {"Unevictable", &MemoryInfo::unevictable},
      {"Mlocked", &MemoryInfo::locked},
      {"SReclaimable", &MemoryInfo::slab_reclaimable},
      {"SUnreclaim", &MemoryInfo::slab_unreclaimable},
      {"KernelStack", &MemoryInfo::kernel_stack},
      {"PageTables", &MemoryInfo::page_tables},
      {"SwapTotal", &MemoryInfo::swap_total},
      {"SwapFree", &MemoryInfo::swap_free},
      {"CmaTotal", &MemoryInfo::cma_total},
      {"CmaFree", &MemoryInfo::cma_free},
      {"Hugepagesize", &MemoryInfo::huge_page_size},
  }};
  for (const auto& [name, member] : k_sizes) info.*member = size_field(info, name);
  info.huge_pages_total = field(info, "HugePages_Total");
  info.huge_pages_free = field(info, "HugePages_Free");
  drop_impossible_figures(info);
}

/// "avg10=0.12" → 0.12 for the key "avg10".
std::optional<std::string_view> value_of(std::string_view word, std::string_view key) {
  if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=') return std::nullopt;
  return word.substr(key.size() + 1);
}

std::optional<double> parse_percentage(std::string_view word, std::string_view key) {
  const auto text = value_of(word, key);
  const auto number = text ? parse_number(*text) : std::nullopt;
  return number && *number >= 0 && *number <= 100 ? number : std::nullopt;
}

std::optional<PressureLine> parse_pressure_line(const std::vector<std::string_view>& words) {
  constexpr std::size_t k_words = 5;
  if (words.size() != k_words) return std::nullopt;
  const auto ten = parse_percentage(words[1], "avg10");
  const auto sixty = parse_percentage(words[2], "avg60");
  const auto three_hundred = parse_percentage(words[3], "avg300");
  const auto total = value_of(words[4], "total");
  const auto total_us = total ? parse_count(*total) : std::nullopt;
  if (!ten || !sixty || !three_hundred || !total_us) return std::nullopt;
  return PressureLine{*ten, *sixty, *three_hundred, *total_us};
}

bool is_octal_digit(char c) {
  return c >= '0' && c <= '7';
}

/// The kernel writes blanks in paths as \040.
std::string without_octal_escapes(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '\\' && at + 3 < text.size() && text[at + 1] <= '3' &&
                        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                    text.begin() + static_cast<std::ptrdiff_t>(at) + 4, is_octal_digit);
    if (!escape) {
      result += text[at];
      continue;
    }
    result += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
    at += 3;
  }
  return result;
}

using CounterMember = Known<std::int64_t> VmCounters::*;

constexpr std::array<std::pair<const char*, CounterMember>, 11> k_counters{{
    {"pswpin", &VmCounters::pages_swapped_in},
    {"pswpout", &VmCounters::pages_swapped_out},
    {"pgmajfault", &VmCounters::major_faults},
    {"workingset_refault_anon", &VmCounters::refaults_anonymous},
    {"workingset_refault_file", &VmCounters::refaults_file},
    {"pgsteal_direct", &VmCounters::direct_reclaim_pages},
    {"pgsteal_kswapd", &VmCounters::kswapd_reclaim_pages},
    {"compact_stall", &VmCounters::compaction_stalls},
    {"compact_fail", &VmCounters::compaction_failures},
    {"compact_success", &VmCounters::compaction_successes},
    {"oom_kill", &VmCounters::oom_kills},
}};

bool only_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<MemoryInfo> parse_meminfo(std::string_view text) {
  MemoryInfo info;
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).empty()) continue;
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return malformed("meminfo", line);
    const auto words = split_words(line.substr(colon + 1));
    const bool in_kib = words.size() == 2 && words[1] == "kB";
    // A size without its unit is the end of a file that was cut off.
    const bool is_count = words.size() == 1 && line.starts_with("HugePages_");
    if (!is_count && !in_kib) return malformed("meminfo", line);
    const auto value = parse_count(words[0], in_kib ? k_kib : 1);
    if (!value) return malformed("meminfo", line);
    if (!info.fields.emplace(line.substr(0, colon), *value).second) return malformed("meminfo (named twice)", line);
  }
  if (info.fields.empty()) return failure(ErrorKind::malformed, "meminfo: empty");
  fill_named_fields(info);
  return info;
}

Result<std::vector<BuddyZone>> parse_buddyinfo(std::string_view text) {
  std::vector<BuddyZone> zones;
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).empty()) continue;
    // "Node 0, zone   Normal   1046   527 …"
    const auto words = split_words(line);
    constexpr std::size_t k_words_before_counts = 4;
    if (words.size() <= k_words_before_counts || words.size() > k_words_before_counts + k_most_orders ||
        words[0] != "Node" || !words[1].ends_with(',') || words[2] != "zone")
      return malformed("buddyinfo", line);
    const auto node = parse_count(words[1].substr(0, words[1].size() - 1));
    if (!node || *node > std::numeric_limits<int>::max()) return malformed("buddyinfo", line);
    BuddyZone zone{static_cast<int>(*node), std::string(words[3]), {}};
    for (std::size_t i = k_words_before_counts; i < words.size(); ++i) {
      const auto count = parse_count(words[i]);
      if (!count) return malformed("buddyinfo", line);
      zone.free_blocks.push_back(*count);
    }
    zones.push_back(std::move(zone));
  }
  if (zones.empty()) return failure(ErrorKind::malformed, "buddyinfo: empty");
  return zones;
}

Result<VmCounters> parse_vmstat(std::string_view text, Timestamp taken) {
  VmCounters counters;
  counters.taken = taken;
  for (const auto& [name, member] : k_counters) counters.*member = unknown(std::string(name) + " is not in vmstat");
  counters.allocation_stalls = unknown("allocstall_* is not in vmstat");
  std::int64_t stalls = 0;
  bool any_line = false;
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).empty()) continue;
    const auto words = split_words(line);
    // Gauges may wrap below zero for a moment and print as 2⁶⁴−n: only the counters of interest must fit.
    if (words.size() != 2 || !only_digits(words[1])) return malformed("vmstat", line);
    any_line = true;
    const auto known_counter =
        std::find_if(k_counters.begin(), k_counters.end(), [&](const auto& entry) { return words[0] == entry.first; });
    const bool is_stall = words[0].starts_with("allocstall");
    if (known_counter == k_counters.end() && !is_stall) continue;
    const auto value = parse_count(words[1]);
    if (!value || (is_stall && __builtin_add_overflow(stalls, *value, &stalls))) return malformed("vmstat", line);
    if (is_stall)
      counters.allocation_stalls = as_read(std::int64_t{stalls});
    else
      counters.*(known_counter->second) = as_read(std::int64_t{*value});
  }
  if (!any_line) return failure(ErrorKind::malformed, "vmstat: empty");
  return counters;
}

Result<Pressure> parse_pressure(std::string_view text) {
  Known<PressureLine> some = unknown("no line 'some'");
  Known<PressureLine> full = unknown("the kernel writes no line 'full' here");
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).empty()) continue;
    const auto words = split_words(line);
    const auto parsed = parse_pressure_line(words);
    if (!parsed || (words[0] != "some" && words[0] != "full")) return malformed("pressure", line);
    (words[0] == "some" ? some : full) = as_read(PressureLine{*parsed});
  }
  if (!some) return failure(ErrorKind::malformed, "pressure: no line 'some'");
  return Pressure{*some, full};
}

Result<std::vector<SwapDevice>> parse_swaps(std::string_view text) {
  const auto lines = split_lines(text);
  if (lines.empty() || !lines.front().starts_with("Filename"))
    return failure(ErrorKind::malformed, "swaps: no header line");
  std::vector<SwapDevice> devices;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    constexpr std::size_t k_columns = 5;
    const auto words = split_words(lines[i]);
    if (words.size() != k_columns) return malformed("swaps", lines[i]);
    const auto size = parse_count(words[2], k_kib);
    const auto used = parse_count(words[3], k_kib);
    const auto priority = parse_integer(words[4]);
    if (!size || !used || !priority) return malformed("swaps", lines[i]);
    devices.push_back(
        {printable(without_octal_escapes(words[0])), std::string(words[1]), Bytes{*size}, Bytes{*used}, *priority});
  }
  return devices;
}

int FreeBlocks::largest_order() const {
  int largest = -1;
  for (const BuddyZone& zone : zones)
    for (std::size_t order = 0; order < zone.free_blocks.size(); ++order)
      if (zone.free_blocks[order] > 0) largest = std::max(largest, static_cast<int>(order));
  return largest;
}

std::int64_t FreeBlocks::count_at_least(Bytes block) const {
  constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
  if (block.value <= 0 || page_size <= 0) return 0;
  std::int64_t count = 0;
  for (const BuddyZone& zone : zones) {
    for (std::size_t order = 0; order < zone.free_blocks.size() && order < k_most_orders; ++order) {
      std::int64_t size = 0;
      if (__builtin_mul_overflow(std::int64_t{page_size}, std::int64_t{1} << order, &size)) return k_most;
      std::int64_t blocks = 0;
      if (__builtin_mul_overflow(zone.free_blocks[order], size / block.value, &blocks) ||
          __builtin_add_overflow(count, blocks, &count))
        return k_most;
    }
  }
  return count;
}

}  // namespace sparkops::facts
