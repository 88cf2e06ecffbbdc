#include "verdicts/memory/tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

using facts::LaunchRole;
using facts::Process;
using facts::ServerKind;

constexpr const char* k_engine_core = "VLLM::";

bool loads_on_demand(ServerKind kind) {
  return kind == ServerKind::ollama || kind == ServerKind::lm_studio || kind == ServerKind::comfyui ||
         kind == ServerKind::triton_server;
}

/// Puts what is known about a server's defaults into its tenant.
void add_knowledge(Tenant& tenant, const knowledge::Tables& tables) {
  if (!tenant.server) return;
  tenant.loads_on_demand = loads_on_demand(*tenant.server);
  const knowledge::ServerDefaults* const defaults = tables.server(facts::to_string(*tenant.server));
  if (defaults == nullptr) return;
  tenant.default_fraction = defaults->default_fraction;
  tenant.default_text = defaults->default_text;
  tenant.cap_advice = defaults->cap_advice;
  tenant.cap_option = defaults->cap_option;
}

std::string server_name(const Known<ServerKind>& server, const knowledge::Tables& tables) {
  if (!server) return "server";
  const knowledge::ServerDefaults* const defaults = tables.server(facts::to_string(*server));
  return defaults == nullptr ? std::string(facts::to_string(*server)) : defaults->name;
}

/// A container's id as docker shows it; a name as it is.
std::string short_container(const std::string& container) {
  constexpr std::size_t k_full_id = 64;
  constexpr std::size_t k_shown = 12;
  const bool is_id = container.size() == k_full_id && parse_hexadecimal(container.substr(0, k_shown)).has_value();
  return is_id ? container.substr(0, k_shown) : printable(container, 60);
}

/// The last part of a path.
std::string last_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = path.rfind('/', end);
  if (end == std::string::npos) return path;
  return path.substr(slash == std::string::npos ? 0 : slash + 1,
                     end - (slash == std::string::npos ? 0 : slash + 1) + 1);
}

/// The file of "compose.yaml:12".
std::string file_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  const bool is_line = colon != std::string::npos && parse_integer(where.substr(colon + 1)).has_value();
  return is_line ? where.substr(0, colon) : where;
}

/// The one way a server of a workload is called: its service, or its own name with the place that starts it.
std::string name_of_launch(const facts::Launch& launch, const knowledge::Tables& tables) {
  const std::string given = printable(launch.name, 80);
  if (launch.role != LaunchRole::server || !launch.server) return given;
  const std::string server = server_name(launch.server, tables);
  const bool says_more = !given.empty() && to_lower(given) != to_lower(server);
  const std::string place = launch.where == "command line" ? "the command" : printable(launch.where, 80);
  return says_more ? fmt::format("{} ({})", given, server) : fmt::format("{} ({})", server, place);
}

/// The one way a process is called: a server by its makers' name, others by their program.
std::string name_of_process(const Process& process, const facts::Launch& launch, const knowledge::Tables& tables) {
  const bool is_server = launch.role == LaunchRole::server && launch.server;
  const std::string program = launch.name.empty() ? process.name.value_or("process") : launch.name;
  std::string name = is_server ? "running " + server_name(launch.server, tables) : printable(program, 80);
  name += fmt::format(" (pid {}", process.pid);
  if (process.container) name += ", container " + short_container(*process.container);
  return name + ")";
}

/// What a process is: by its command line, else by its name.
facts::Launch launch_of(const Process& process) {
  if (process.command_line) {
    std::vector<facts::Setting> environment;
    if (process.environment)
      for (const auto& [name, value] : *process.environment)
        environment.push_back({name, value, fmt::format("environment of pid {}", process.pid)});
    return facts::read_launch(*process.command_line, environment);
  }
  const facts::Program program = facts::program_of_name(process.name.value_or(""));
  facts::Launch launch;
  launch.name = program.name;
  launch.role = program.role;
  launch.server = program.server;
  return launch;
}

/// What is known about the model that a server loads. The number format of the weights: the quantisation, else --dtype.
void add_model(Tenant& tenant, const facts::Launch& launch) {
  tenant.model = launch.model;
  tenant.number_format = launch.quantization;
  if (launch.quantization) return;
  for (const facts::Setting& setting : launch.settings)
    if (setting.key == "--dtype" && setting.value != "auto" && setting.value != "half")
      tenant.number_format = as_read(std::string(setting.value));
}

/// Everything about the machine's processes that is looked up more than once.
class ProcessView {
 public:
  ProcessView(const facts::Machine& machine, const knowledge::Tables& tables) : machine_(machine), tables_(tables) {
    if (!machine.processes) return;
    for (const Process& process : machine.processes->processes) {
      by_pid_[process.pid] = &process;
      launches_[process.pid] = launch_of(process);
    }
  }

  [[nodiscard]] const Process* process(std::int64_t pid) const {
    const auto found = by_pid_.find(pid);
    return found == by_pid_.end() ? nullptr : found->second;
  }
  [[nodiscard]] const facts::Launch& launch(std::int64_t pid) const { return launches_.at(pid); }
  [[nodiscard]] bool is_server(std::int64_t pid) const {
    return by_pid_.contains(pid) && launch(pid).role == LaunchRole::server;
  }
  [[nodiscard]] bool is_engine(const Process& process) const {
    return process.command_line && !process.command_line->empty() &&
           process.command_line->front().starts_with(k_engine_core);
  }

  /// The server that a process belongs to: the outermost ancestor that is one, else the process itself.
  [[nodiscard]] std::int64_t owner(const Process& process) const {
    constexpr int k_max_ancestors = 16;
    std::int64_t found = process.pid;
    std::int64_t at = process.parent;
    for (int i = 0; i < k_max_ancestors && by_pid_.contains(at) && is_server(at); ++i) {
      found = at;
      at = by_pid_.at(at)->parent;
    }
    return found;
  }

  [[nodiscard]] std::string name(const Process& process) const {
    return name_of_process(process, launch(process.pid), tables_);
  }

  [[nodiscard]] bool has_graphics_only(std::int64_t pid) const {
    const facts::Gpu* const gpu = machine_.gpu();
    if (gpu == nullptr || !gpu->latest().processes) return false;
    const auto& listed = *gpu->latest().processes;
    const auto found =
        std::find_if(listed.begin(), listed.end(), [pid](const auto& entry) { return entry.pid == pid; });
    return found != listed.end() && found->kind == facts::GpuProcess::Kind::graphics;
  }

 private:
  const facts::Machine& machine_;
  const knowledge::Tables& tables_;
  std::map<std::int64_t, const Process*> by_pid_;
  std::map<std::int64_t, facts::Launch> launches_;
};

/// The sum of what a server and its workers hold. A server that NVML's (readable) list does not name holds nothing.
void add_held(Tenant& tenant, const Process& process, bool list_is_complete) {
  if (!process.on_gpu) {
    if (!tenant.held && list_is_complete) tenant.held = as_derived(Bytes{0});
    return;
  }
  if (!process.gpu_memory) {
    if (!tenant.held || tenant.held->value == 0) tenant.held = process.gpu_memory.as_unknown();
    return;
  }
  tenant.held = as_read(tenant.held.value_or(Bytes{0}) + *process.gpu_memory);
}

Fix stop_process(const Process& process) {
  Fix fix;
  fix.run = fmt::format("kill {}", process.pid);
  fix.instruction = "ends the process that still holds the memory";
  fix.changes = "ends that process";
  fix.verify = "sparkops preflight --only G6";
  return fix;
}

void find_orphans(const ProcessView& view, const facts::ProcessTable& table, RunningTenants& running) {
  constexpr std::int64_t k_init = 1;
  for (const Process& process : table.processes) {
    const bool zombie = process.state && *process.state == "Z";
    if (zombie && process.on_gpu)
      running.orphans.push_back(fmt::format("{} is a zombie and still holds GPU memory", view.name(process)));
    const bool lost_parent = process.parent == k_init && !view.is_server(k_init);
    if (!zombie && view.is_engine(process) && lost_parent) {
      running.orphans.push_back(
          fmt::format("{} has outlived the server that started it{}", view.name(process),
                      process.gpu_memory ? " and holds " + format_size(*process.gpu_memory) : ""));
      running.orphan_fixes.push_back(stop_process(process));
    }
  }
}

/// Processes of NVML's list that proc does not show: outside this container, or gone without giving back.
void find_strangers(const facts::Machine& machine, bool inside_container, RunningTenants& running) {
  const facts::Gpu* const gpu = machine.gpu();
  const auto& missing = machine.processes->gpu_pids_without_process;
  if (!missing || gpu == nullptr || gpu->samples.empty() || !gpu->latest().processes) return;
  for (const facts::GpuProcess& process : *gpu->latest().processes) {
    if (std::find(missing->begin(), missing->end(), process.pid) == missing->end()) continue;
    const bool draws =
        process.kind == facts::GpuProcess::Kind::graphics && process.used_memory.value_or(Bytes{0}) < k_light_tenant;
    if (inside_container && draws) continue;
    const std::string held = process.used_memory ? "holds " + format_size(*process.used_memory)
                                                 : "how much it holds is unknown: " + process.used_memory.reason();
    running.orphans.push_back(
        inside_container
            ? fmt::format("pid {} outside this container computes on the GPU ({})", process.pid, held)
            : fmt::format("pid {} is in the GPU's list but there is no such process ({})", process.pid, held));
  }
}

/// The cap of a running server when what it stands in could not be read. A vLLM, SGLang or TensorRT-LLM is told its cap
/// on the command line alone; the others that have one take it from their environment.
void forget_unread_cap(const Process& process, Tenant& tenant) {
  if (tenant.kind != Tenant::Kind::server) return;
  const bool by_environment =
      tenant.server && (*tenant.server == ServerKind::ollama || *tenant.server == ServerKind::tgi);
  const bool no_cap_seen =
      tenant.cap.kind == facts::CapKind::none_given || tenant.cap.kind == facts::CapKind::has_no_cap;
  std::string reason;
  if (!process.command_line)
    reason = process.command_line.reason();
  else if (by_environment && no_cap_seen && !process.environment)
    reason = process.environment.reason();
  if (reason.empty()) return;
  tenant.cap = {};
  tenant.cap.kind = facts::CapKind::bytes;
  tenant.cap.bytes = unknown("cap unknown (" + reason + ")");
  tenant.cap.fraction = tenant.cap.bytes.as_unknown();
}

/// Why the machine's own processes may not all have been seen.
std::vector<std::string> gaps_of(const Known<facts::ProcessTable>& table) {
  if (!table) return {"the process table could not be read: " + table.reason()};
  std::vector<std::string> gaps;
  if (!table->process_count)
    gaps.push_back("the process table could not be read: " + table->process_count.reason());
  else if (table->not_looked_at > 0)
    gaps.push_back(
        fmt::format("{} of {} processes could not be looked at (neither command line nor name tells what "
                    "they are)",
                    table->not_looked_at, *table->process_count));
  if (table->others_are_hidden) gaps.emplace_back("processes of other users are hidden (hidepid): run it as root");
  return gaps;
}

/// GPU processes that the process table does not know (it could not be read).
void add_unlisted(const facts::Machine& machine, RunningTenants& running) {
  const facts::Gpu* const gpu = machine.gpu();
  const bool table_was_read = machine.processes && machine.processes->process_count;
  if (table_was_read || gpu == nullptr || gpu->samples.empty() || !gpu->latest().processes) return;
  for (const facts::GpuProcess& process : *gpu->latest().processes) {
    if (process.kind == facts::GpuProcess::Kind::graphics) continue;
    Tenant tenant;
    tenant.name = fmt::format("pid {}", process.pid);
    tenant.is_running = true;
    tenant.held = process.used_memory;
    running.tenants.push_back(std::move(tenant));
  }
}

bool is_list_blind(const facts::Machine& machine) {
  const facts::Gpu* const gpu = machine.gpu();
  const bool inside = machine.container && machine.container->inside.value_or(false);
  return inside && gpu != nullptr && !gpu->samples.empty() && gpu->latest().processes &&
         gpu->latest().processes->empty();
}

Known<bool> list_completeness(const facts::Machine& machine) {
  if (!machine.gpus) return machine.gpus.as_unknown();
  const facts::Gpu* const gpu = machine.gpu();
  if (gpu == nullptr) return unknown("no NVIDIA GPU on this machine");
  if (gpu->samples.empty()) return unknown("the GPU gave no reading");
  if (!gpu->latest().processes) return gpu->latest().processes.as_unknown();
  if (is_list_blind(machine)) return unknown("the GPU's process list is empty inside a container");
  return as_read(true);
}

}  // namespace

std::string name_of_running(const Process& process, const knowledge::Tables& tables) {
  return name_of_process(process, launch_of(process), tables);
}

std::vector<Tenant> tenants_of_workload(const facts::Workload& workload, const knowledge::Tables& tables) {
  std::vector<Tenant> tenants;
  for (const facts::Launch& launch : workload.launches) {
    if (launch.role == LaunchRole::other) continue;
    Tenant tenant;
    tenant.kind = launch.role == LaunchRole::server ? Tenant::Kind::server : Tenant::Kind::trainer;
    tenant.name = name_of_launch(launch, tables);
    add_model(tenant, launch);
    tenant.group = file_of(launch.where);
    tenant.order = launch.order;
    tenant.profiles = launch.profiles;
    tenant.server = launch.server;
    tenant.cap = launch.cap;
    tenant.held = unknown("it does not run yet");
    for (const facts::Setting& limit : launch.container_limits)
      tenant.blind_limits.push_back(limit.key + " " + printable(limit.value, 40));
    add_knowledge(tenant, tables);
    tenants.push_back(std::move(tenant));
  }
  if (tenants.empty() && workload.trains.value_or(false)) {
    Tenant tenant;
    tenant.kind = Tenant::Kind::trainer;
    tenant.name = printable(last_name(workload.name), 120);
    tenant.held = unknown("it does not run yet");
    tenants.push_back(std::move(tenant));
  }
  return tenants;
}

RunningTenants tenants_of_machine(const facts::Machine& machine, const knowledge::Tables& tables) {
  RunningTenants running;
  running.complete = list_completeness(machine);
  running.list_is_blind = is_list_blind(machine);
  running.unseen = gaps_of(machine.processes);
  const bool has_gpu = !machine.gpus || machine.gpu() != nullptr;
  if (has_gpu && !running.complete && !running.list_is_blind)
    running.unseen.push_back("the GPU's process list could not be had: " + running.complete.reason());
  add_unlisted(machine, running);
  if (!machine.processes) return running;
  const ProcessView view(machine, tables);
  std::map<std::int64_t, std::size_t> tenant_of_owner;
  for (const Process& process : machine.processes->processes) {
    const std::int64_t owner = view.owner(process);
    const facts::Launch& launch = view.launch(owner);
    const bool is_server = launch.role == LaunchRole::server;
    if (!process.on_gpu && !is_server) continue;
    const bool light = process.gpu_memory && *process.gpu_memory < k_light_tenant;
    if (!is_server && view.has_graphics_only(process.pid) && (light || !process.gpu_memory)) {
      running.evidence.push_back({view.name(process) + " draws on the GPU", process.gpu_memory.provenance()});
      continue;
    }
    const auto [entry, is_new] = tenant_of_owner.emplace(owner, running.tenants.size());
    if (is_new) {
      Tenant tenant;
      tenant.kind = is_server                            ? Tenant::Kind::server
                    : launch.role == LaunchRole::trainer ? Tenant::Kind::trainer
                                                         : Tenant::Kind::other;
      tenant.name = view.name(*view.process(owner));
      tenant.is_running = true;
      tenant.server = launch.server;
      tenant.cap = launch.cap;
      forget_unread_cap(*view.process(owner), tenant);
      add_model(tenant, launch);
      tenant.held = unknown("the GPU's process list does not name it");
      add_knowledge(tenant, tables);
      running.tenants.push_back(std::move(tenant));
    }
    running.tenants[entry->second].pids.push_back(process.pid);
    add_held(running.tenants[entry->second], process, running.complete.known());
  }
  const bool inside = machine.container && machine.container->inside.value_or(false);
  find_orphans(view, *machine.processes, running);
  find_strangers(machine, inside, running);
  return running;
}

}  // namespace sparkops::verdicts
