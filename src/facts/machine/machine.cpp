#include "facts/machine/machine.h"

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "facts/machine/capture_files.h"
#include "facts/machine/timed_part.h"

namespace sparkops::facts {

namespace {

using Clock = std::chrono::steady_clock;

/// Below this no flush would help anyone, and looking for the files costs system calls.
constexpr Bytes k_large_page_cache = gibibytes(4);

/// The table of processes is read without NVML's list rather than not at all: this much of the deadline is kept for it.
constexpr std::chrono::milliseconds k_kept_for_processes{500};

/// A rate over less than this says little.
constexpr std::int64_t k_shortest_rate_window_ms = 500;
/// … but the picture of memory is not to be late for it: the counters are exact at any moment.
constexpr std::int64_t k_shortest_picture_window_ms = 100;

Known<Timestamp> time_of_machine(const Root& root) {
  return root.is_live() ? as_measured(Timestamp::now()) : read_capture_notes(root).taken;
}

/// The page cache that a flush could give back: shared memory counts as cached and stays.
Known<Bytes> page_cache_size(const Root& root) {
  const auto text = root.read("proc/meminfo");
  if (!text) return unknown(text.error());
  const auto info = parse_meminfo(*text);
  if (!info) return unknown(info.error());
  if (!info->cached || !info->shared) return unknown("meminfo names no page cache");
  return as_derived(*info->cached - *info->shared);
}

Memory read_memory_part(const Root& root, const MachineReadOptions& options) {
  if (!root.is_live()) return read_memory(root);
  if (options.memory_picture && options.cached_files)
    return read_memory(root, likely_cached_files(root, LikelyFiles::thorough));
  const Known<Bytes> cache = page_cache_size(root);
  const bool is_large = cache && *cache >= k_large_page_cache;
  if (is_large && options.cached_files) return read_memory(root, likely_cached_files(root));
  Memory memory = read_memory(root);
  if (cache && !is_large)
    memory.cached_files = unknown("not looked for: the page cache is only " + format_size(*cache));
  return memory;
}

/// NVML's processes of all GPUs.
Known<std::vector<GpuProcess>> gpu_processes_of(const Known<GpuInventory>& inventory) {
  if (!inventory) return inventory.as_unknown();
  std::vector<GpuProcess> processes;
  for (const Gpu& gpu : inventory->gpus) {
    if (gpu.samples.empty()) return unknown("NVML gave no sample of " + gpu.name);
    const auto& of_gpu = gpu.latest().processes;
    if (!of_gpu) return of_gpu.as_unknown();
    processes.insert(processes.end(), of_gpu->begin(), of_gpu->end());
  }
  return as_read(std::move(processes));
}

/// Swapping stalls somebody, and PSI remembers it for ten seconds: without a stall there is no rate worth waiting for.
bool somebody_waited_for_memory(const Memory& memory) {
  constexpr double k_noticeable_percent = 0.1;
  return memory.pressure_memory && memory.pressure_memory->some.average_10s >= k_noticeable_percent;
}

/// A second look at the counters, so that rates can be told: for nothing when reading the other parts took long
/// enough, and after a short wait when the first look shows that memory was waited for.
void read_counters_again(const Root& root, const MachineReadOptions& options, Known<Memory>& memory) {
  if (!root.is_live() || !memory || !memory->counters || memory->earlier_counters) return;
  const std::int64_t age_ms = Timestamp::now().unix_ms - memory->counters->taken.unix_ms;
  const std::int64_t shortest_ms = options.memory_picture ? k_shortest_picture_window_ms : k_shortest_rate_window_ms;
  if (age_ms < shortest_ms) {
    if (!options.memory_picture && !somebody_waited_for_memory(*memory)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(shortest_ms - age_ms));
  }
  const Timestamp now = Timestamp::now();
  const auto text = root.read("proc/vmstat");
  if (!text) return;
  auto counters = parse_vmstat(*text, now);
  if (!counters) return;
  Memory with_both = *memory;
  with_both.earlier_counters = memory->counters;
  with_both.counters = as_read(std::move(*counters));
  memory = as_read(std::move(with_both));
}

/// A part that is a plain value when its reader comes back.
template <class T, class Read>
TimedPart<T> start(std::string name, Read read) {
  return TimedPart<T>(std::move(name), [read = std::move(read)]() -> Known<T> { return as_read(read()); });
}

/// A part that is left out where it was not asked for.
template <class T, class Read>
std::optional<TimedPart<T>> start_if(bool wanted, std::string name, Read read) {
  if (!wanted) return std::nullopt;
  return start<T>(std::move(name), std::move(read));
}

template <class T>
Known<T> result_of(const std::optional<TimedPart<T>>& part, Clock::time_point deadline) {
  return part ? part->wait_until(deadline) : Known<T>(unknown("not asked for"));
}

}  // namespace

const Gpu* Machine::gpu() const {
  if (!gpus || gpus->gpus.empty()) return nullptr;
  const auto is_gb10 = [](const Gpu& gpu) {
    return contains(gpu.name, "GB10") || (gpu.pci_id && *gpu.pci_id == k_gb10_pci_id);
  };
  const auto found = std::find_if(gpus->gpus.begin(), gpus->gpus.end(), is_gb10);
  return found == gpus->gpus.end() ? &gpus->gpus.front() : &*found;
}

Machine read_machine(const Root& root, const MachineReadOptions& options) {
  const auto deadline = Clock::now() + options.deadline;
  const auto list_deadline = deadline - std::min(k_kept_for_processes, options.deadline / 2);
  Machine machine;
  machine.root_name = root.name();
  machine.is_live = root.is_live();
  machine.taken = time_of_machine(root);

  // Every closure owns a copy of the root and of its options: its thread may outlive this call.
  const TimedPart<GpuInventory> gpus("NVML",
                                     [root, gpu_options = options.gpu] { return read_gpus(root, gpu_options); });
  const auto which = options.memory_picture ? Processes::with_holders : Processes::that_matter;
  const auto processes = start<ProcessTable>("the process table", [root, gpus, list_deadline, which] {
    return read_processes(root, gpu_processes_of(gpus.wait_until(list_deadline)), which);
  });
  const auto kernel_log =
      start_if<KernelLog>(options.kernel_log, "the kernel log", [root] { return read_kernel_log(root); });
  const auto memory = start<Memory>("the memory reading", [root, options] { return read_memory_part(root, options); });
  const auto identity = start<Identity>("the identity reading", [root] { return read_identity(root); });
  const auto sensors = start<Sensors>("the sensor reading", [root] { return read_sensors(root); });
  const auto network_links = start_if<NetworkLinks>(options.network_links, "the reading of network links",
                                                    [root] { return read_network_links(root); });
  const auto container = start<Container>("the container reading", [root] { return read_container(root); });

  if (options.memory_picture)
    machine.stopped_containers = read_stopped_containers(root);
  else
    machine.stopped_containers = unknown("not asked for");
  machine.identity = identity.wait_until(deadline);
  machine.container = container.wait_until(deadline);
  machine.memory = memory.wait_until(deadline);
  machine.sensors = sensors.wait_until(deadline);
  machine.network_links = result_of(network_links, deadline);
  machine.kernel_log = result_of(kernel_log, deadline);
  machine.gpus = gpus.wait_until(deadline);
  // A capture whose answers are missing or unreadable says nothing about the GPU itself.
  machine.gpu_was_asked = root.is_live() || machine.gpus || !contains(machine.gpus.reason(), "sparkops/nvml.json");
  machine.processes = processes.wait_until(deadline);
  read_counters_again(root, options, machine.memory);
  return machine;
}

}  // namespace sparkops::facts
