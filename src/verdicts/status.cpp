#include "verdicts/status.h"

#include <algorithm>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

constexpr std::size_t k_holders_named = 3;

Bytes weight(const Holder& holder) {
  return holder.gpu_memory.value_or(Bytes{0}) + holder.host_memory.value_or(Bytes{0});
}

std::vector<Holder> holders_of(const facts::Machine& machine) {
  std::vector<Holder> holders;
  if (!machine.processes) return holders;
  for (const facts::Process& process : machine.processes->processes)
    holders.push_back({process.pid, process.name.value_or("?"), process.container.value_or(""), process.gpu_memory,
                       process.anonymous});
  std::sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return weight(a) != weight(b) ? weight(a) > weight(b) : a.pid < b.pid;
  });
  if (holders.size() > k_holders_named) holders.resize(k_holders_named);
  return holders;
}

/// Whether NVML lists the process as one that computes: a display server holds the GPU too and is no job.
bool computes(const facts::Machine& machine, std::int64_t pid) {
  const facts::Gpu* const gpu = machine.gpu();
  if (gpu == nullptr || !gpu->latest().processes) return false;
  const auto& processes = *gpu->latest().processes;
  return std::any_of(processes.begin(), processes.end(), [&](const facts::GpuProcess& process) {
    return process.pid == pid && process.kind != facts::GpuProcess::Kind::graphics;
  });
}

/// The computing process with the most GPU memory, else the first known server or trainer.
Known<std::string> job_of(const facts::Machine& machine) {
  if (!machine.processes) return machine.processes.as_unknown();
  const auto& processes = machine.processes->processes;
  auto job = std::find_if(processes.begin(), processes.end(),
                          [&](const facts::Process& process) { return computes(machine, process.pid); });
  if (job == processes.end())
    job =
        std::find_if(processes.begin(), processes.end(), [](const facts::Process& process) { return !process.on_gpu; });
  if (job == processes.end()) return as_read(std::string("none seen"));
  if (!job->command_line) return job->command_line.as_unknown();
  return as_read("pid " + std::to_string(job->pid) + ": " + printable(shell_quoted(*job->command_line), 200));
}

bool flush_is_worthwhile(const Known<Budget>& budget) {
  return budget && budget->headroom_now && budget->headroom_after_flush && *budget->headroom_now < k_small_headroom &&
         *budget->headroom_after_flush - *budget->headroom_now >= k_worthwhile_flush;
}

void choose_next(BoxStatus& status) {
  if (status.platform.is_gb10 != IsGb10::yes) {
    status.next_command = "sparkops preflight --workload FILE";
    status.next_reason = "judges a config or compose file for a DGX Spark; this is none";
    return;
  }
  const ClockState state = status.gpu ? status.gpu->state : ClockState::unknown;
  const bool low_clock = status.gpu && status.gpu->low_clock;
  if (state == ClockState::wedged || state == ClockState::thermal_hardware || low_clock) {
    status.next_command = "sparkops preflight --only G4 --verbose";
    status.next_reason = "the GPU is held back";
    return;
  }
  if (flush_is_worthwhile(status.budget)) {
    status.next_command = "sparkops preflight --only G3";
    status.next_reason = "page cache fills the pool: names the files and gives them back";
    return;
  }
  status.next_command = "sparkops preflight";
  status.next_reason = "is this box ready for a run?";
}

}  // namespace

BoxStatus summarize(const facts::Machine& machine) {
  BoxStatus status;
  status.platform = judge_platform(machine);
  if (machine.memory)
    status.budget = as_derived(memory_budget(machine.memory->info));
  else
    status.budget = machine.memory.as_unknown();
  status.pool = attribute_pool(machine);
  if (const facts::Gpu* const gpu = machine.gpu()) {
    status.gpu = as_derived(assess_clock_state(gpu->samples));
    status.sample = as_read(gpu->latest());
  } else {
    const Unknown why = machine.gpus ? unknown("no NVIDIA GPU") : machine.gpus.as_unknown();
    status.gpu = why;
    status.sample = why;
  }
  status.holders = holders_of(machine);
  status.job = job_of(machine);
  choose_next(status);
  return status;
}

}  // namespace sparkops::verdicts
