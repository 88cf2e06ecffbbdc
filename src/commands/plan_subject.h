#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/root.h"
#include "commands/command.h"
#include "facts/machine/machine.h"
#include "facts/workload/dataset.h"
#include "facts/workload/model.h"
#include "facts/workload/training_config.h"
#include "knowledge/tables.h"
#include "verdicts/memory/contention.h"
#include "verdicts/memory/footprint.h"
#include "verdicts/memory/resolve_run.h"

namespace sparkops::commands {

/// What a plan reads of the machine: cheap parts only, unless a tenant is asked about.
struct PlanMachine {
  Root root;
  facts::Machine machine;
  facts::Memory memory;
  bool is_gb10 = false;
};
[[nodiscard]] PlanMachine read_plan_machine(const Root& root, bool with_tenants);

/// The model and the workload that the command line names.
struct PlanSubject {
  verdicts::ModelShape shape;
  std::optional<facts::Model> model;
  facts::WorkloadConfig workload;
  std::optional<facts::DatasetSummary> dataset;
  std::vector<std::string> unread;  ///< settings nobody here understands
  [[nodiscard]] verdicts::RunSources sources() const;
};

/// Errors: usage, when nothing names a model or what is named cannot be read.
[[nodiscard]] Result<PlanSubject> read_plan_subject(const Arguments& arguments, const knowledge::Tables& tables);

/// What the work that `--workload` or `-- CMD` names takes of a pool of this size, with defaults for what it does not
/// say. Unknown with the reason when its model is not known, or when it starts more than one program.
[[nodiscard]] Known<verdicts::Footprint> footprint_of_work(const Arguments& arguments, const knowledge::Tables& tables,
                                                           double pool_bytes);

/// PID or container of somebody who runs on this machine, or the command of a server that is to start.
[[nodiscard]] Result<verdicts::Tenant> read_tenant(const std::string& text, const PlanMachine& machine,
                                                   const knowledge::Tables& tables);

}  // namespace sparkops::commands
