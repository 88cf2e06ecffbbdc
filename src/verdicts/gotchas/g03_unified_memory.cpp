#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "verdicts/gotchas/g03_workload.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/memory/budget.h"
#include "verdicts/memory/pool.h"
#include "verdicts/memory/rates.h"

namespace sparkops::verdicts {

namespace {

/// A fresh box has hundreds of free blocks of this size, a fragmented one none (gb10-facts §2.6, mechanism 4).
constexpr Bytes k_contiguous_block = mebibytes(32);
/// With less available than this the lack of large blocks is plain shortage, not fragmentation.
constexpr Bytes k_enough_to_expect_blocks = gibibytes(16);
/// The driver's own structures and the kernel's explain a few GiB; leaked CUDA memory was seen at 33 GiB and more.
constexpr Bytes k_large_residue = gibibytes(16);
constexpr std::size_t k_files_named = 3;
/// gb10-facts §2.5: cgroup and RSS ledgers hold none of it.
constexpr const char* k_no_guard =
    "nothing guards this pool: earlyoom, systemd-oomd and cgroup limits do not see CUDA memory, and this version has "
    "no guard";
constexpr const char* k_no_guard_date = "2026-11-30";

struct Reasons {
  std::vector<std::string> warnings;  ///< each a clause of the headline
  std::vector<Fix> fixes;
};

/// Whole GiB, rounded down as the headroom line does.
std::string gib(Bytes bytes) {
  return fmt::format("{:.0f} GiB", std::floor(in_gib(bytes)));
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// `files` come largest first.
std::vector<facts::CachedFile> largest_holders(const std::vector<facts::CachedFile>& files) {
  std::vector<facts::CachedFile> holders;
  for (const facts::CachedFile& file : files)
    if (holders.size() < k_files_named && file.cached.value > 0) holders.push_back(file);
  return holders;
}

Fix give_back(const std::vector<facts::CachedFile>& holders) {
  std::vector<std::string> words{"sparkops", "flush"};
  for (const facts::CachedFile& file : holders) words.push_back(file.path);
  return {.run = shell_quoted(words),
          .instruction = "gives back the page cache of these files",
          .needs_root = false,
          .changes = "the cached pages of these files",
          .verify = "sparkops preflight --only G3"};
}

void judge_headroom(const Budget& budget, const facts::Memory& memory, Reasons& reasons) {
  if (!budget.headroom_now || !budget.headroom_after_flush) return;
  const Bytes gain = *budget.headroom_after_flush - *budget.headroom_now;
  if (*budget.headroom_now >= k_small_headroom || gain < k_worthwhile_flush) return;
  std::string clause = fmt::format("headroom {} now, {} after a flush of the page cache", gib(*budget.headroom_now),
                                   gib(*budget.headroom_after_flush));
  if (memory.cached_files) {
    const std::vector<facts::CachedFile> holders = largest_holders(*memory.cached_files);
    std::vector<std::string> names;
    for (const facts::CachedFile& file : holders)
      names.push_back(fmt::format("{} {}", printable(base_name(file.path), 80), format_size(file.cached)));
    if (!holders.empty()) {
      clause += ", held by " + join(names, ", ");
      reasons.fixes.push_back(give_back(holders));
    }
  } else {
    clause += " (files not named: " + memory.cached_files.reason() + ")";
  }
  reasons.warnings.push_back(clause);
  reasons.fixes.push_back(
      {.run = "sudo sparkops flush --all",
       .instruction = "gives back the whole page cache; between runs, never in the middle of a training",
       .needs_root = true,
       .changes = "everyone's page cache",
       .verify = "sparkops preflight --only G3"});
}

void judge_fragmentation(const facts::Memory& memory, Reasons& reasons, std::vector<Evidence>& evidence) {
  if (!memory.free_blocks) {
    evidence.push_back({"free blocks: unknown (" + memory.free_blocks.reason() + ")", {Origin::read, {}}});
    return;
  }
  const facts::FreeBlocks& blocks = *memory.free_blocks;
  std::size_t orders = 0;
  for (const facts::BuddyZone& zone : blocks.zones) orders = std::max(orders, zone.free_blocks.size());
  if (orders == 0) return;
  const Bytes largest_possible{static_cast<std::int64_t>(blocks.page_size) << (orders - 1)};
  const Bytes block = std::min(k_contiguous_block, largest_possible);
  const std::int64_t count = blocks.count_at_least(block);
  evidence.push_back({fmt::format("free blocks of at least {}: {} (largest order {})", format_size(block), count,
                                  blocks.largest_order()),
                      {Origin::read, {}}});
  if (count > 0 || !memory.info.available || *memory.info.available < k_enough_to_expect_blocks) return;
  reasons.warnings.push_back(
      fmt::format("{} available but no free block of {}: memory is fragmented, large driver "
                  "allocations will fail or stall",
                  gib(*memory.info.available), format_size(block)));
  reasons.fixes.push_back({.run = "sudo sparkops flush --all --compact",
                           .instruction = "empties the page cache and compacts memory; when no large blocks come back, "
                                          "reboot before a long run",
                           .needs_root = true,
                           .changes = "everyone's page cache; moves pages, the box may stall for seconds",
                           .verify = "sparkops preflight --only G3"});
}

/// Pages moved per second between the two readings; nothing without two.
void judge_swapping(const facts::Memory& memory, Reasons& reasons, std::vector<Evidence>& evidence) {
  const Known<SwapRates> rates = swap_rates(memory);
  if (!rates) {
    evidence.push_back({"swap traffic: unknown (" + rates.reason() + ")", {Origin::read, {}}});
    return;
  }
  const double in = rates->in_pages_per_s, out = rates->out_pages_per_s;
  evidence.push_back(
      {fmt::format("swap traffic: {:.0f} pages/s in, {:.0f} out over {:.2f} s", in, out, rates->window_s),
       rates.provenance()});
  if (in + out <= 0) return;
  reasons.warnings.push_back(
      fmt::format("pages are being swapped ({:.0f}/s in, {:.0f}/s out): the working set does not fit", in, out));
  reasons.fixes.push_back({.run = "",
                           .instruction = "stop or shrink what fills the pool before starting another job; on one "
                                          "Spark swapping was seen to cut decode from 37 to 1.8 tokens/s",
                           .needs_root = false,
                           .changes = "",
                           .verify = "vmstat 1 5"});
}

void judge_residue(const PoolAttribution& pool, Reasons& reasons, std::vector<Evidence>& evidence) {
  if (!pool.unexplained) {
    evidence.push_back({"unexplained memory: unknown (" + pool.unexplained.reason() + ")", {Origin::derived, {}}});
    return;
  }
  evidence.push_back(
      {"unexplained (used, attributed to nobody): " + format_size(*pool.unexplained), {Origin::derived, {}}});
  if (*pool.unexplained < k_large_residue) return;
  reasons.warnings.push_back(
      fmt::format("{} are used but belong to no process, cache or kernel table: memory the driver "
                  "did not give back",
                  gib(*pool.unexplained)));
  reasons.fixes.push_back({.run = "",
                           .instruction = "wait two minutes if a server was just stopped; if the figure stays, reboot "
                                          "before a long run",
                           .needs_root = false,
                           .changes = "",
                           .verify = "sparkops preflight --only G3"});
}

void judge_huge_pages(const Budget& budget, const facts::MemoryInfo& info, Reasons& reasons) {
  if (!budget.huge_pages_rule_is_smaller) return;
  reasons.warnings.push_back(
      fmt::format("huge pages are set aside: CUDA can count on {} (HugePages_Free), not on the {} that "
                  "are available",
                  gib(*budget.available), gib(*info.available)));
  reasons.fixes.push_back({.run = "sudo sysctl vm.nr_hugepages=0",
                           .instruction = "releases the huge pages unless something on this box needs them",
                           .needs_root = true,
                           .changes = "huge page reservation",
                           .verify = "sparkops preflight --only G3 --verbose"});
}

/// Lines of the kernel log: none of them decides by itself (healthy loads log NV_ERR_NO_MEMORY too).
void add_log_evidence(const facts::Machine& machine, std::vector<Evidence>& evidence) {
  if (!machine.kernel_log) return;
  const facts::KernelLog& log = *machine.kernel_log;
  const auto count = [&](facts::KernelEventKind kind) {
    std::int64_t lines = 0;
    for (const facts::KernelEvent& event : log.current)
      if (event.kind == kind) lines += event.repeated;
    return lines;
  };
  if (!log.source) {
    evidence.push_back({"kernel log: unknown (" + log.source.reason() + ")", {Origin::read, {}}});
    return;
  }
  evidence.push_back(
      {fmt::format("kernel log of this boot ({}): {} OOM kills, {} NVRM no-memory lines (also logged by "
                   "healthy loads)",
                   *log.source, count(facts::KernelEventKind::oom_kill), count(facts::KernelEventKind::nvrm_no_memory)),
       {Origin::read, {}}});
}

bool previous_boot_ran_a_job(const facts::Machine& machine) {
  if (!machine.kernel_log || !machine.kernel_log->previous) return false;
  const auto& events = *machine.kernel_log->previous;
  return std::any_of(events.begin(), events.end(), [](const facts::KernelEvent& event) {
    return event.kind == facts::KernelEventKind::nvrm_no_memory || event.kind == facts::KernelEventKind::oom_kill;
  });
}

void judge_last_boot(const facts::Machine& machine, Reasons& reasons, std::vector<Evidence>& evidence) {
  if (!machine.identity) return;
  const auto& ended = machine.identity->last_boot_end;
  if (!ended) {
    evidence.push_back({"end of the last boot: unknown (" + ended.reason() + ")", {Origin::read, {}}});
    return;
  }
  if (*ended == facts::BootEnd::shutdown) {
    evidence.push_back({"the last boot ended with a shutdown", ended.provenance()});
    return;
  }
  evidence.push_back({"the last boot ended without a shutdown (freeze, crash or power loss)", ended.provenance()});
  if (!previous_boot_ran_a_job(machine)) return;
  reasons.warnings.push_back("the last boot ended without a shutdown after out-of-memory lines: the pool ran out");
  reasons.fixes.push_back({.run = "sparkops explain uma-freeze",
                           .instruction = "leave 10 to 15 GB available, start with shorter packing",
                           .needs_root = false,
                           .changes = "",
                           .verify = ""});
}

void add_readings(const Budget& budget, const facts::Memory& memory, const PoolAttribution& pool,
                  std::vector<Evidence>& evidence) {
  const auto add = [&](const char* name, const Known<Bytes>& value) {
    evidence.push_back(value ? Evidence{fmt::format("{}: {}", name, format_size(*value)), value.provenance()}
                             : Evidence{fmt::format("{}: unknown ({})", name, value.reason()), {Origin::read, {}}});
  };
  add("pool (MemTotal)", budget.total);
  add("free (MemFree)", budget.free);
  add("available (MemAvailable)", memory.info.available);
  add("page cache", pool.page_cache);
  add("anonymous", pool.anonymous);
  add("shared memory and tmpfs", pool.shared);
  add("huge pages", pool.huge_pages);
  add("GPU processes (NVML)", pool.gpu);
  if (memory.info.cma_total && memory.info.cma_free && *memory.info.cma_free > *memory.info.cma_total)
    evidence.push_back(
        {"CmaFree is above CmaTotal: the CMA accounting bug of kernel 7.0.0-1019 (kho=off or an older "
         "kernel cures it)",
         {Origin::read, {}}});
}

}  // namespace

Finding check_g03_unified_memory(const PreflightFacts& facts) {
  if (facts.judged == JudgedPlatform::gb10) return check_workload_on_gb10(facts);
  if (!facts.machine.memory) return skipped("G3", "memory: " + facts.machine.memory.reason());
  const facts::Memory& memory = *facts.machine.memory;
  const Budget budget = memory_budget(memory.info, facts.reserve, facts.with_swap ? CountSwap::yes : CountSwap::no);
  if (!budget.headroom_now) return skipped("G3", "free memory: " + budget.headroom_now.reason());
  if (!budget.headroom_after_flush) return skipped("G3", "available memory: " + budget.headroom_after_flush.reason());

  Finding finding;
  finding.id = "G3";
  Reasons reasons;
  const PoolAttribution pool = attribute_pool(facts.machine);
  add_readings(budget, memory, pool, finding.evidence);
  const WorkloadFit fit = judge_workload(facts, budget, finding.evidence);
  if (memory.cached_files)
    for (const facts::CachedFile& file : largest_holders(*memory.cached_files))
      finding.evidence.push_back({fmt::format("page cache of {}: {} of {} ({})", printable(file.path),
                                              format_size(file.cached), format_size(file.size), file.how),
                                  memory.cached_files.provenance()});
  finding.evidence.push_back({k_no_guard, {Origin::knowledge, k_no_guard_date}});
  judge_headroom(budget, memory, reasons);
  judge_huge_pages(budget, memory.info, reasons);
  judge_fragmentation(memory, reasons, finding.evidence);
  judge_swapping(memory, reasons, finding.evidence);
  judge_residue(pool, reasons, finding.evidence);
  judge_last_boot(facts.machine, reasons, finding.evidence);
  add_log_evidence(facts.machine, finding.evidence);

  finding.fixes = std::move(reasons.fixes);
  if (fit.judged && fit.status != Status::pass) {
    reasons.warnings.insert(reasons.warnings.begin(), fit.clause);
    finding.fixes.insert(finding.fixes.begin(), fit.fix);
  }
  if (fit.judged && fit.status == Status::fail) {
    finding.status = Status::fail;
    finding.headline = join(reasons.warnings, "; ");
    return finding;
  }
  if (!reasons.warnings.empty()) {
    finding.status = Status::warn;
    finding.headline = join(reasons.warnings, "; ");
    return finding;
  }
  if (fit.judged) {
    finding.status = fit.status;
    finding.headline = fit.clause;
    return finding;
  }
  finding.status = Status::info;
  finding.headline =
      fmt::format("headroom {} now, {} after a flush", gib(*budget.headroom_now), gib(*budget.headroom_after_flush));
  return finding;
}

}  // namespace sparkops::verdicts
