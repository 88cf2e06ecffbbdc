#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/root.h"
#include "base/timestamp.h"
#include "facts/machine/gpu.h"
#include "facts/workload/known_programs.h"

namespace sparkops::facts {

using EnvironmentVariables = std::vector<std::pair<std::string, std::string>>;

/// One process that matters to a job on this box: it holds GPU memory, or its command line is that of a known server
/// or trainer.
struct Process {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  Known<std::string> name;                       ///< proc/PID/comm
  Known<std::vector<std::string>> command_line;  ///< empty for kernel threads and zombies
  Known<EnvironmentVariables> environment;       ///< unknown without permission
  Known<std::uint32_t> owner;                    ///< user id
  Known<std::string> state;                      ///< "R", "S", "D", "Z" …
  Known<Timestamp> started;
  Known<Bytes> resident, anonymous, file_backed, shared,
      swapped;  ///< VmRSS, RssAnon, RssFile, RssShmem, VmSwap: none of them contains CUDA memory on GB10
  Known<std::string> owner_name;   ///< from etc/passwd; only with Processes::with_holders
  Known<std::string> parent_name;  ///< of the process `parent`; only with Processes::with_holders
  Known<std::string> cgroup;       ///< path in the unified hierarchy, else of the memory controller
  Known<std::string> container;    ///< id or name, when the cgroup shows one
  Known<Bytes> gpu_memory;         ///< NVML's figure; unknown: not in NVML's list, or not available
  bool on_gpu = false;             ///< in NVML's list
};

/// A worker that has ended and that its parent has not collected.
struct Zombie {
  std::int64_t pid = 0, parent = 0;
  std::string name, parent_name;
};

/// Of the processes that do not matter otherwise, those with at least this much in the pool or in swap are named …
inline constexpr Bytes k_smallest_holder = mebibytes(64);
/// … and at most so many of them.
inline constexpr std::size_t k_most_other_holders = 32;

struct ProcessTable {
  std::vector<Process> processes;      ///< those that matter, ordered by GPU memory, then by resident memory
  std::vector<Process> other_holders;  ///< with_holders: others that hold much, by resident and swapped memory
  std::vector<Zombie> zombies;         ///< with_holders
  Known<std::int64_t> process_count;   ///< all that are there; unknown when proc could not be listed or lists none
  std::int64_t not_looked_at = 0;      ///< of those: neither command line nor name tells what they are
  bool others_are_hidden = false;      ///< proc is mounted so that processes of other users do not appear in it
  std::vector<std::string> could_not;  ///< what could not be seen and which right would show it
  Known<std::vector<std::int64_t>>
      gpu_pids_without_process;  ///< in NVML's list but not in proc: another PID namespace, or an orphan
};

/// The program that a process's name (proc/PID/comm) speaks of, for one whose command line cannot be read. It may be
/// wrong in one direction alone: a client of a server has the server's name ("vllm bench serve").
[[nodiscard]] Program program_of_name(std::string_view name);

/// Whether the memory of every process is looked at too: one more file for each.
enum class Processes { that_matter, with_holders };

/// Scans proc once. `gpu_processes`: NVML's list, or unknown.
[[nodiscard]] ProcessTable read_processes(const Root& root, const Known<std::vector<GpuProcess>>& gpu_processes,
                                          Processes which = Processes::that_matter);

}  // namespace sparkops::facts
