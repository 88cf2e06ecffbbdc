#include "verdicts/memory/holders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "verdicts/memory/tenants.h"

namespace sparkops::verdicts {

namespace {

using facts::Process;

/// A container's memory was seen to come back up to about a minute after its end (beyond-ten.md, memory-not-released).
constexpr std::int64_t k_late_release_ms = 120'000;
constexpr std::int64_t k_ms_per_s = 1000;

Known<std::string> owner_of(const Process& process) {
  if (process.owner_name) return process.owner_name;
  return process.owner.derive([](std::uint32_t user) { return fmt::format("user {}", user); });
}

/// What bounds the tenant that a process belongs to.
std::map<std::int64_t, std::string> caps_by_pid(const facts::Machine& machine, const RunningTenants& running) {
  const Known<Bytes> pool = machine.memory ? machine.memory->info.total : Known<Bytes>(machine.memory.as_unknown());
  std::map<std::int64_t, std::string> caps;
  for (const Tenant& tenant : running.tenants) {
    const Claim claim = claim_of(tenant, pool);
    const std::string text = claim.text.empty() ? "no cap" : claim.text;
    for (const std::int64_t pid : tenant.pids) caps[pid] = text;
  }
  return caps;
}

PoolHolder holder_of(const Process& process, const std::map<std::int64_t, std::string>& caps,
                     const knowledge::Tables& tables) {
  PoolHolder holder;
  holder.pid = process.pid;
  Process without_container = process;  // it has a column of its own
  without_container.container = unknown("");
  holder.name = name_of_running(without_container, tables);
  holder.owner = owner_of(process);
  holder.container = process.container.value_or("");
  holder.gpu = process.gpu_memory;
  holder.anonymous = process.anonymous;
  holder.shared = process.shared;
  holder.file_backed = process.file_backed;
  holder.swapped = process.swapped;
  holder.started = process.started;
  if (const auto cap = caps.find(process.pid); cap != caps.end()) holder.cap = cap->second;
  return holder;
}

/// torchrun and its like tell every worker its rank; multiprocessing names itself in the command line.
bool is_worker(const Process& process) {
  if (process.environment)
    for (const auto& [name, value] : *process.environment)
      if (name == "LOCAL_RANK") return true;
  if (!process.command_line) return false;
  return std::any_of(process.command_line->begin(), process.command_line->end(),
                     [](const std::string& word) { return contains(word, "multiprocessing."); });
}

/// Those who lose their parent go to process 1, or to the user's own systemd.
bool lost_its_parent(const Process& process) {
  constexpr std::int64_t k_init = 1;
  return process.parent == k_init || process.parent_name.value_or("") == "systemd";
}

void find_lost_workers(const facts::ProcessTable& table, const knowledge::Tables& tables, Orphans& orphans) {
  for (const Process& process : table.processes) {
    const bool named_already =
        process.command_line && !process.command_line->empty() && process.command_line->front().starts_with("VLLM::");
    if (named_already || !process.on_gpu || !is_worker(process) || !lost_its_parent(process)) continue;
    orphans.clauses.push_back(
        fmt::format("{} is a worker whose launcher is gone{}", name_of_running(process, tables),
                    process.gpu_memory ? " and holds " + format_size(*process.gpu_memory) + " on the GPU" : ""));
    orphans.fixes.push_back({.run = fmt::format("kill {}", process.pid),
                             .instruction = "ends the worker that was left behind",
                             .needs_root = false,
                             .changes = "ends that process",
                             .verify = "sparkops memory"});
  }
}

/// Only workers of what computes here: a shell that does not collect its children costs nobody memory.
void find_zombies(const facts::Machine& machine, const knowledge::Tables& tables, Orphans& orphans) {
  for (const facts::Zombie& zombie : machine.processes->zombies) {
    const auto& processes = machine.processes->processes;
    const auto is_parent = [&](const Process& process) { return process.pid == zombie.parent; };
    const auto parent = std::find_if(processes.begin(), processes.end(), is_parent);
    const bool python = zombie.name.starts_with("python") || zombie.name.starts_with("pt_");
    if (parent == processes.end() && !(python && zombie.parent_name.starts_with("python"))) continue;
    const std::string by = parent != processes.end() ? name_of_running(*parent, tables)
                                                     : fmt::format("{} (pid {})", zombie.parent_name, zombie.parent);
    orphans.clauses.push_back(fmt::format(
        "worker {} (pid {}) has ended and {} has not collected it: that job is broken", zombie.name, zombie.pid, by));
  }
}

void find_stopped_containers(const facts::Machine& machine, Orphans& orphans) {
  if (!machine.stopped_containers) {
    if (contains(machine.stopped_containers.reason(), "needs root"))
      orphans.could_not.push_back(machine.stopped_containers.reason());
    return;
  }
  if (!machine.taken) return;
  for (const facts::StoppedContainer& container : *machine.stopped_containers) {
    const std::int64_t age_ms = machine.taken->unix_ms - container.finished.unix_ms;
    if (age_ms < 0 || age_ms >= k_late_release_ms) continue;
    orphans.clauses.push_back(
        fmt::format("container {} stopped {} s ago: its GPU memory may come back up to two minutes late",
                    container.name, age_ms / k_ms_per_s));
    orphans.fixes.push_back({.run = "sparkops preflight --wait-headroom 2m",
                             .instruction = "waits for the memory to come back",
                             .needs_root = false,
                             .changes = "",
                             .verify = "sparkops memory"});
  }
}

}  // namespace

Bytes PoolHolder::in_pool() const {
  return gpu.value_or(Bytes{0}) + anonymous.value_or(Bytes{0}) + shared.value_or(Bytes{0});
}

std::vector<PoolHolder> pool_holders(const facts::Machine& machine, const knowledge::Tables& tables) {
  std::vector<PoolHolder> holders;
  if (!machine.processes) return holders;
  const auto caps = caps_by_pid(machine, tenants_of_machine(machine, tables));
  for (const auto* const list : {&machine.processes->processes, &machine.processes->other_holders})
    for (const Process& process : *list) holders.push_back(holder_of(process, caps, tables));
  std::stable_sort(holders.begin(), holders.end(), [](const PoolHolder& a, const PoolHolder& b) {
    return a.in_pool() != b.in_pool() ? a.in_pool() > b.in_pool()
                                      : a.swapped.value_or(Bytes{0}) > b.swapped.value_or(Bytes{0});
  });
  return holders;
}

Orphans find_orphans(const facts::Machine& machine, const knowledge::Tables& tables) {
  const RunningTenants running = tenants_of_machine(machine, tables);
  Orphans orphans{running.orphans, running.orphan_fixes, {}};
  if (machine.processes) {
    find_lost_workers(*machine.processes, tables, orphans);
    find_zombies(machine, tables, orphans);
  }
  find_stopped_containers(machine, orphans);
  return orphans;
}

}  // namespace sparkops::verdicts
