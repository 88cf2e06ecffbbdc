#include "verdicts/memory/pool.h"

#include <algorithm>

#include "verdicts/clocks/clock_state.h"

namespace sparkops::verdicts {

namespace {

Known<Bytes> gpu_bytes(const facts::Machine& machine) {
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

}  // namespace

PoolAttribution attribute_pool(const facts::Machine& machine) {
  PoolAttribution pool;
  pool.gpu = gpu_bytes(machine);
  if (!machine.memory) {
    const Unknown why = machine.memory.as_unknown();
    pool.page_cache = pool.anonymous = pool.shared = pool.kernel = pool.huge_pages = pool.unexplained = why;
    return pool;
  }
  const facts::MemoryInfo& info = machine.memory->info;
  // Shmem is counted in Cached but no flush gives it back: without it the page cache is not known.
  const Known<Bytes> cache = sum_of({&info.cached, &info.buffers, &info.swap_cached});
  pool.page_cache = info.shared ? cache.derive([&](Bytes bytes) { return std::max(bytes - *info.shared, Bytes{0}); })
                                : Known<Bytes>(info.shared.as_unknown());
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

}  // namespace sparkops::verdicts
