#include "verdicts/memory/picture.h"

#include <algorithm>

#include "base/text.h"
#include "verdicts/memory/tenants.h"

namespace sparkops::verdicts {

namespace {

/// With this much to be had, a flush is what to do next.
constexpr Bytes k_flush_worth_proposing = gibibytes(4);
constexpr std::size_t k_files_to_flush = 3;

Known<LargestBlock> largest_block(const Known<facts::FreeBlocks>& blocks) {
  if (!blocks) return blocks.as_unknown();
  const int order = blocks->largest_order();
  if (order < 0) return as_derived(LargestBlock{});
  constexpr int k_most_order = 30;
  LargestBlock largest{Bytes{static_cast<std::int64_t>(blocks->page_size) << std::min(order, k_most_order)}, 0};
  for (const facts::BuddyZone& zone : blocks->zones)
    if (zone.free_blocks.size() > static_cast<std::size_t>(order))
      largest.count += std::min(zone.free_blocks[static_cast<std::size_t>(order)], std::int64_t{1} << 40);
  return as_derived(largest);
}

Known<Bytes> difference(const Known<Bytes>& whole, const Known<Bytes>& part) {
  if (!whole) return whole.as_unknown();
  if (!part) return part.as_unknown();
  return as_derived(std::max(*whole - *part, Bytes{0}));
}

std::string why_nobody_is_named(const facts::Machine& machine) {
  if (!machine.processes) return machine.processes.reason();
  return machine.processes->process_count ? "" : machine.processes->process_count.reason();
}

std::vector<std::string> gaps(const facts::Machine& machine, const RunningTenants& running, const Orphans& orphans) {
  std::vector<std::string> gaps = running.unseen;
  if (running.list_is_blind)
    gaps.emplace_back(
        "who computes on the GPU, and with how much: the list is empty inside a container; run it on the host");
  const bool inside = machine.container && machine.container->inside.value_or(false);
  if (inside)
    gaps.emplace_back("processes and files of the host: start the container with --pid=host, or run it on the host");
  if (machine.processes)
    for (const std::string& what : machine.processes->could_not)
      if (!contains(what, "environment")) gaps.push_back(what);
  gaps.insert(gaps.end(), orphans.could_not.begin(), orphans.could_not.end());
  return gaps;
}

/// What may be flushed without root comes first: files that are known to hold the cache.
void choose_next(MemoryPicture& picture) {
  const bool worth = picture.pool.flush_gives && *picture.pool.flush_gives >= k_flush_worth_proposing;
  std::vector<std::string> words{"sparkops", "flush"};
  Bytes held{0};
  if (picture.files)
    for (const facts::CachedFile& file : *picture.files)
      if (words.size() < 2 + k_files_to_flush && file.cached.value > 0) {
        words.push_back(file.path);
        held += file.cached;
      }
  if (worth && held >= k_flush_worth_proposing) {
    picture.next_command = shell_quoted(words);
    picture.next_reason = "gives back what these files hold, without root";
  } else if (worth) {
    picture.next_command = "sudo sparkops flush --all";
    picture.next_reason = "gives back the page cache; between runs only";
  } else {
    picture.next_command = "sparkops preflight --only G3,G6";
    picture.next_reason = "is the pool fit for the next run?";
  }
}

}  // namespace

MemoryPicture picture_memory(const facts::Machine& machine, const knowledge::Tables& tables, Bytes reserve) {
  MemoryPicture picture;
  picture.taken = machine.taken;
  picture.pool = attribute_pool(machine);
  if (machine.memory) {
    const facts::Memory& memory = *machine.memory;
    picture.budget = as_derived(memory_budget(memory.info, reserve));
    picture.used = difference(memory.info.total, memory.info.free);
    picture.largest_block = largest_block(memory.free_blocks);
    picture.swap_total = memory.info.swap_total;
    picture.swap_used = difference(memory.info.swap_total, memory.info.swap_free);
    picture.swapping = swap_rates(memory);
    picture.pressure = memory.pressure_memory;
    picture.files = memory.cached_files;
    picture.files_scope = memory.cached_files_scope;
  } else {
    const Unknown why = machine.memory.as_unknown();
    picture.budget = why;
    picture.used = picture.swap_total = picture.swap_used = why;
    picture.largest_block = why;
    picture.swapping = why;
    picture.pressure = why;
    picture.files = why;
  }
  picture.holders = pool_holders(machine, tables);
  picture.holders_unknown = why_nobody_is_named(machine);
  picture.orphans = find_orphans(machine, tables);
  picture.could_not = gaps(machine, tenants_of_machine(machine, tables), picture.orphans);
  choose_next(picture);
  return picture;
}

}  // namespace sparkops::verdicts
