#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/machine/machine.h"
#include "facts/workload/workload.h"
#include "knowledge/tables.h"
#include "verdicts/memory/contention.h"

namespace sparkops::verdicts {

/// The servers and trainers that a workload starts.
[[nodiscard]] std::vector<Tenant> tenants_of_workload(const facts::Workload& workload, const knowledge::Tables& tables);

/// Who holds the GPU's part of the pool on this machine now.
struct RunningTenants {
  std::vector<Tenant> tenants;
  std::vector<std::string> orphans;  ///< memory that no living owner can give back, each as a clause
  std::vector<Fix> orphan_fixes;
  std::vector<Evidence> evidence;
  Known<bool> complete;  ///< unknown with the reason when the GPU's own process list could not be had
  /// Inside a container the GPU's list could be had and is empty: who computes outside does not appear in it.
  bool list_is_blind = false;
  /// Why somebody may be there who was not seen, each as a clause: with one of these nobody can say that nobody is.
  std::vector<std::string> unseen;
};

/// From NVML's list and the process table. Worker processes count to the server that started them; desktop processes
/// (graphics only, little memory) are evidence and no tenants.
[[nodiscard]] RunningTenants tenants_of_machine(const facts::Machine& machine, const knowledge::Tables& tables);

/// How a process is called everywhere: "running vLLM (pid 4242, container 4f1d…)", "train.py (pid 30118)".
[[nodiscard]] std::string name_of_running(const facts::Process& process, const knowledge::Tables& tables);

}  // namespace sparkops::verdicts
