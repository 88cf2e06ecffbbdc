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

std::string why_holders_are_unknown(const facts::Machine& machine) {
  if (!machine.processes) return machine.processes.reason();
  const auto& count = machine.processes->process_count;
  if (!count) return count.reason();
  return *count == 0 ? "no process could be listed" : "";
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
  if (job->command_line->empty())
    return as_read("pid " + std::to_string(job->pid) + ": " + job->name.value_or("name unknown"));
  return as_read("pid " + std::to_string(job->pid) + ": " + printable(shell_quoted(*job->command_line), 200));
}

bool flush_is_worthwhile(const Known<Budget>& budget) {
  return budget && budget->headroom_now && budget->headroom_after_flush && *budget->headroom_now < k_small_headroom &&
         *budget->headroom_after_flush - *budget->headroom_now >= k_worthwhile_flush;
}

struct Next {
  std::string command, reason;
};

/// The worst fact decides what to look at next.
Next next_on_a_spark(const BoxStatus& status) {
  constexpr const char* k_thermal = "sparkops preflight --only G4 --verbose";
  const ClockState state = status.gpu ? status.gpu->state : ClockState::unknown;
  const bool low_clock = status.gpu && status.gpu->low_clock;
  if (!status.platform.gpu_does_not_answer.empty()) return {"sparkops preflight", "the GPU does not answer"};
  if (state == ClockState::wedged || state == ClockState::thermal_hardware || low_clock)
    return {k_thermal, "the GPU is held back"};
  if (state == ClockState::thermal_software) return {k_thermal, "the GPU slows down for heat"};
  if (flush_is_worthwhile(status.budget)) return {"sparkops memory", "page cache fills the pool"};
  const bool short_of_memory =
      status.budget && status.budget->headroom_after_flush && *status.budget->headroom_after_flush < k_small_headroom;
  if (short_of_memory) return {"sparkops memory", "the pool is nearly used up"};
  if (status.budget && status.budget->huge_pages_rule_is_smaller)
    return {"sparkops preflight --only G3", "huge pages are set aside"};
  return {"sparkops preflight", "is this box ready for a run?"};
}

void choose_next(BoxStatus& status) {
  const Next next = status.platform.is_gb10 == IsGb10::yes
                        ? next_on_a_spark(status)
                        : Next{"sparkops preflight --workload FILE", "judges it for a Spark; this is none"};
  status.next_command = next.command;
  status.next_reason = next.reason;
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
  status.holders_unknown = why_holders_are_unknown(machine);
  status.job = job_of(machine);
  choose_next(status);
  return status;
}

}  // namespace sparkops::verdicts
