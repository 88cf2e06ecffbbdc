#include "verdicts/memory/pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "verdicts/clocks/clock_state.h"
#include "verdicts/memory/tenants.h"

namespace sparkops::verdicts {

namespace {

/// The machine's own buses say that no NVIDIA GPU is there: then no library has to say it too.
bool has_no_nvidia_gpu(const facts::Machine& machine) {
  return machine.identity && machine.identity->nvidia_devices && machine.identity->nvidia_devices->empty();
}

Known<Bytes> gpu_bytes(const facts::Machine& machine) {
  if (!machine.gpus && has_no_nvidia_gpu(machine)) return as_derived(Bytes{0});
  if (!machine.gpus) return machine.gpus.as_unknown();
  if (machine.gpus->gpus.empty()) return as_read(Bytes{0});
  const bool inside = machine.container && machine.container->inside.value_or(false);
  Bytes sum{0};
  for (const facts::Gpu& gpu : machine.gpus->gpus) {
    const auto& processes = gpu.latest().processes;
    if (!processes) return processes.as_unknown();
    if (processes->empty() && inside) return unknown("NVML's process list is empty inside a container");
    for (const facts::GpuProcess& process : *processes) {
      if (!process.used_memory) return process.used_memory.as_unknown();
      sum += *process.used_memory;
    }
  }
  return as_derived(sum);
}

/// HugePages_Total × Hugepagesize; a kernel without huge pages sets none aside.
Known<Bytes> huge_page_bytes(const facts::MemoryInfo& info) {
  if (info.huge_pages_total.value_or(0) == 0) return as_derived(Bytes{0});
  if (!info.huge_page_size) return info.huge_page_size.as_unknown();
  return as_derived(Bytes{*info.huge_pages_total * info.huge_page_size->value});
}

Known<Bytes> sum_of(std::initializer_list<const Known<Bytes>*> parts) {
  Bytes sum{0};
  for (const Known<Bytes>* const part : parts) {
    if (!*part) return part->as_unknown();
    sum += **part;
  }
  return as_derived(sum);
}

/// The parts of the page cache; `info.shared` and `page_cache` are known.
void divide_page_cache(const facts::MemoryInfo& info, PoolAttribution& pool) {
  pool.swap_cache = info.swap_cached;
  if (!pool.page_cache) {
    pool.mapped_files = pool.flush_gives = pool.page_cache.as_unknown();
    return;
  }
  const Bytes without_swap_cache = std::max(*pool.page_cache - *info.swap_cached, Bytes{0});
  pool.mapped_files = info.mapped.derive([&](Bytes mapped) { return std::min(mapped, without_swap_cache); });
  pool.flush_gives = pool.mapped_files.derive([&](Bytes mapped) { return without_swap_cache - mapped; });
}

}  // namespace

PoolAttribution attribute_pool(const facts::Machine& machine) {
  PoolAttribution pool;
  pool.gpu = gpu_bytes(machine);
  if (!machine.memory) {
    const Unknown why = machine.memory.as_unknown();
    pool.mapped_files = pool.swap_cache = pool.flush_gives = why;
    pool.page_cache = pool.anonymous = pool.shared = pool.kernel = pool.huge_pages = pool.unexplained = why;
    return pool;
  }
  const facts::MemoryInfo& info = machine.memory->info;
  // Shmem is counted in Cached but no flush gives it back: without it the page cache is not known.
  const Known<Bytes> cache = sum_of({&info.cached, &info.buffers, &info.swap_cached});
  pool.page_cache = info.shared ? cache.derive([&](Bytes bytes) { return std::max(bytes - *info.shared, Bytes{0}); })
                                : Known<Bytes>(info.shared.as_unknown());
  divide_page_cache(info, pool);
  pool.anonymous = info.anonymous;
  pool.shared = info.shared;
  pool.huge_pages = huge_page_bytes(info);
  pool.kernel = sum_of({&info.slab_reclaimable, &info.slab_unreclaimable, &info.page_tables, &info.kernel_stack});
  const Known<Bytes> attributed =
      sum_of({&pool.page_cache, &pool.anonymous, &pool.shared, &pool.kernel, &pool.huge_pages, &pool.gpu});
  const Known<Bytes> used = !info.total  ? Known<Bytes>(info.total.as_unknown())
                            : !info.free ? Known<Bytes>(info.free.as_unknown())
                                         : as_derived(*info.total - *info.free);
  if (!used || !attributed)
    pool.unexplained = used ? attributed.as_unknown() : used.as_unknown();
  else
    pool.unexplained = as_derived(std::max(*used - *attributed, Bytes{0}));
  return pool;
}

bool gpu_job_is_running(const facts::Machine& machine) {
  const facts::Gpu* const gpu = machine.gpu();
  if (gpu == nullptr) return false;
  const facts::GpuSample& sample = gpu->latest();
  const bool compute_process =
      sample.processes &&
      std::any_of(sample.processes->begin(), sample.processes->end(),
                  [](const facts::GpuProcess& process) { return process.kind != facts::GpuProcess::Kind::graphics; });
  return compute_process || (sample.utilization && sample.utilization->value >= k_busy_utilization);
}

namespace {

std::string clause_of(const facts::GpuProcess& process, const facts::Machine& machine,
                      const knowledge::Tables& tables) {
  std::string name = fmt::format("pid {}", process.pid);
  if (machine.processes)
    for (const facts::Process& known : machine.processes->processes)
      if (known.pid == process.pid) name = name_of_running(known, tables);
  return process.used_memory ? fmt::format("{} holds {}", name, format_size(*process.used_memory)) : name;
}

}  // namespace

Known<std::vector<std::string>> gpu_jobs(const facts::Machine& machine, const knowledge::Tables& tables) {
  std::vector<std::string> jobs;
  const facts::Gpu* const gpu = machine.gpu();
  if (gpu == nullptr) {
    if (!machine.gpus && !has_no_nvidia_gpu(machine)) return machine.gpus.as_unknown();
    return as_read(std::move(jobs));
  }
  if (gpu->samples.empty()) return unknown("the GPU gave no reading");
  const facts::GpuSample& sample = gpu->latest();
  if (sample.processes)
    for (const facts::GpuProcess& process : *sample.processes)
      if (process.kind != facts::GpuProcess::Kind::graphics) jobs.push_back(clause_of(process, machine, tables));
  const bool busy = sample.utilization && sample.utilization->value >= k_busy_utilization;
  if (jobs.empty() && busy) jobs.push_back(fmt::format("the GPU is {:.0f} % busy", sample.utilization->value));
  if (jobs.empty() && !sample.processes && !sample.utilization) return sample.processes.as_unknown();
  return as_read(std::move(jobs));
}

}  // namespace sparkops::verdicts
