#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/gotchas/workload_reading.h"
#include "verdicts/memory/budget.h"
#include "verdicts/memory/contention.h"
#include "verdicts/memory/sharing_advice.h"
#include "verdicts/memory/tenants.h"

namespace sparkops::verdicts {

namespace {

constexpr std::string_view k_id = "G6";
/// Inside a container other tenants show only as memory that is gone; the system itself needs a few GiB.
constexpr Bytes k_unexplained_use = gibibytes(16);
/// Percent: below it a desktop that draws may be all there is.
constexpr double k_busy_utilization = 30;

Evidence said(std::string reading, Origin origin, std::string date = "") {
  return {std::move(reading), {origin, std::move(date)}};
}

Known<Bytes> pool_of(const PreflightFacts& facts) {
  if (facts.judged == JudgedPlatform::gb10)
    return as_knowledge(Bytes(facts.knowledge.gb10().pool), facts.knowledge.gb10().last_verified);
  return facts.machine.memory ? facts.machine.memory->info.total : Known<Bytes>(facts.machine.memory.as_unknown());
}

void add_tenant_evidence(const Tenant& tenant, const Claim& claim, Finding& finding) {
  if (tenant.held)
    finding.evidence.push_back(
        {fmt::format("{} holds {}", tenant.name, format_size(*tenant.held)), tenant.held.provenance()});
  if (tenant.kind != Tenant::Kind::server) return;
  if (claim.bounded)
    finding.evidence.push_back(said(fmt::format("{}: {}", tenant.name, claim.text), Origin::read));
  else if (!tenant.default_text.empty())
    finding.evidence.push_back(said(fmt::format("{}: {}", tenant.name, tenant.default_text), Origin::default_value));
  for (const std::string& limit : tenant.blind_limits)
    finding.evidence.push_back(said(
        fmt::format("{}: {} bounds host memory alone, CUDA memory is not charged to it on GB10", tenant.name, limit),
        Origin::read));
}

/// What a fraction of vLLM or SGLang means, when one is there.
void add_fraction_notes(const std::vector<Tenant>& tenants, const std::string& date, Finding& finding) {
  const auto has = [&tenants](facts::CapKind kind) {
    return std::any_of(tenants.begin(), tenants.end(), [kind](const Tenant& tenant) {
      return tenant.kind == Tenant::Kind::server && tenant.cap.kind == kind;
    });
  };
  if (has(facts::CapKind::fraction_of_total))
    finding.evidence.push_back(
        said("vLLM's fraction is of the whole pool and counts what others already use; while it starts (weight "
             "conversion, profile run, graph capture) it was seen 6 to 20 GB above it",
             Origin::knowledge, date));
  if (has(facts::CapKind::fraction_static))
    finding.evidence.push_back(
        said("SGLang's static fraction holds weights and KV cache; activations and CUDA graphs come on top",
             Origin::knowledge, date));
  if (has(facts::CapKind::fraction_of_free))
    finding.evidence.push_back(
        said("TensorRT-LLM takes its fraction of what is free once the weights are loaded: others starting later find "
             "only the rest",
             Origin::knowledge, date));
}

/// What the programs that run here may hold.
Bytes explained_use(const RunningTenants& running, const Known<Bytes>& pool) {
  Bytes explained{0};
  for (const Tenant& tenant : running.tenants) explained += claim_of(tenant, pool).bytes.value_or(Bytes{0});
  return explained;
}

/// Inside a container only this container's processes can be seen: the others show as work of the GPU and as memory in
/// use. Where neither is known, nobody can say that there are none.
void look_outside(const facts::Machine& machine, const Known<Bytes>& pool, RunningTenants& running) {
  if (!running.list_is_blind) return;
  const auto& samples = machine.gpu()->samples;
  const auto is_busy = [](const facts::GpuSample& sample) {
    return sample.utilization.value_or(Percent{0}).value >= k_busy_utilization;
  };
  std::vector<std::string> signs;
  if (running.tenants.empty() && std::any_of(samples.begin(), samples.end(), is_busy))
    signs.emplace_back("somebody outside this container computes on the GPU: it is busy and nobody in here uses it");
  if (!samples.back().utilization)
    running.unseen.push_back("the GPU's utilisation is unknown: " + samples.back().utilization.reason());
  if (!machine.memory || !machine.memory->info.total || !machine.memory->info.available) {
    running.unseen.emplace_back("how much memory is in use is unknown");
  } else {
    const Bytes used = *machine.memory->info.total - *machine.memory->info.available;
    if (used - explained_use(running, pool) >= k_unexplained_use)
      signs.push_back(fmt::format("{} of {} are in use, and inside a container it cannot be seen by whom",
                                  format_size(used), format_size(*machine.memory->info.total)));
  }
  if (signs.empty()) return;
  running.orphans.insert(running.orphans.end(), signs.begin(), signs.end());
  running.orphan_fixes.push_back(
      {.run = "",
       .instruction = "run sparkops preflight on the host, where the process list is complete",
       .needs_root = false,
       .changes = "",
       .verify = ""});
}

Finding nothing_found(const PreflightFacts& facts, const RunningTenants& running) {
  Finding finding;
  finding.id = k_id;
  const facts::Machine& machine = facts.machine;
  const std::string looked_at = machine.processes && machine.processes->process_count
                                    ? fmt::format(" ({} processes looked at)", *machine.processes->process_count)
                                    : "";
  if (running.complete) {
    finding.status = Status::pass;
    finding.headline = "nobody else computes on the GPU and no server runs" + looked_at;
    return finding;
  }
  if (!running.list_is_blind || !machine.memory || !machine.memory->info.available || !machine.memory->info.total)
    return skipped(k_id, "who holds GPU memory is unknown: " + running.complete.reason());
  finding.status = Status::pass;
  finding.headline = fmt::format(
      "inside a container the GPU's process list is empty: judged by proc, where no server or trainer runs{}, and by "
      "memory, of which only {} are in use",
      looked_at, format_size(*machine.memory->info.total - *machine.memory->info.available));
  return finding;
}

void add_orphans(const RunningTenants& running, Finding& finding) {
  if (running.orphans.empty()) return;
  const std::string clause = join(running.orphans, "; ");
  const bool decides = finding.status == Status::pass || finding.status == Status::skip;
  finding.headline = decides ? clause : finding.headline + "; " + clause;
  if (decides) finding.status = Status::warn;
  finding.fixes.insert(finding.fixes.begin(), running.orphan_fixes.begin(), running.orphan_fixes.end());
}

/// What a server that starts now can have at most.
void add_available(const PreflightFacts& facts, ContentionInput& input) {
  if (!facts.machine.memory) {
    input.available = facts.machine.memory.as_unknown();
    return;
  }
  const Budget budget = memory_budget(facts.machine.memory->info, facts.reserve);
  input.available = budget.available;
  input.huge_pages_rule = budget.huge_pages_rule;
}

Finding judged(const PreflightFacts& facts, ContentionInput input, const RunningTenants& running) {
  const ContentionJudgement judgement = judge_contention(input);
  Finding finding;
  finding.id = k_id;
  finding.status = judgement.status;
  finding.headline = judgement.headline;
  const bool about_tenants =
      std::any_of(input.tenants.begin(), input.tenants.end(), [](const Tenant& tenant) { return tenant.is_running; });
  finding.where = about_tenants ? Where::tenant : Where::workload;
  for (const Tenant& tenant : input.tenants) add_tenant_evidence(tenant, claim_of(tenant, input.pool), finding);
  add_fraction_notes(input.tenants, facts.knowledge.gb10().last_verified, finding);
  if (input.pool)
    finding.evidence.push_back({"pool: " + format_size(*input.pool), input.pool.provenance()});
  else
    finding.evidence.push_back(said("pool: unknown (" + input.pool.reason() + ")", Origin::read));
  if (input.available)
    finding.evidence.push_back(
        {"available after a flush: " + format_size(*input.available), input.available.provenance()});
  if (judgement.status != Status::pass) finding.fixes = sharing_fixes(input, judgement.offenders);
  if (facts.judged == JudgedPlatform::this_machine && !running.complete) {
    finding.evidence.push_back(said("judged by the process table: " + running.complete.reason(), Origin::read));
    if (finding.status == Status::pass)
      finding.headline += " (by the process table: " + running.complete.reason() + ")";
  }
  return finding;
}

/// What the judgement of the workload rests on.
void add_reading(const facts::Workload& workload, Finding& finding) {
  const auto unknown_one = unknown_program(workload);
  const bool unread = unknown_one && workload.files.empty() && !workload.not_understood.empty();
  if (unread && finding.status == Status::pass) {
    finding.status = Status::skip;
    finding.headline = "what the command starts is unknown: " + printable(workload.not_understood.front(), 200);
  }
  if (unknown_one) finding.evidence.push_back(said(*unknown_one + ": what it takes is not judged", Origin::read));
  for (Evidence& evidence : reading_evidence(workload)) finding.evidence.push_back(std::move(evidence));
}

}  // namespace

Finding check_g06_contention(const PreflightFacts& facts) {
  const bool looks_at_machine = facts.judged == JudgedPlatform::this_machine;
  ContentionInput input;
  input.pool = pool_of(facts);
  input.reserve = facts.reserve;
  input.sharing_replicas = unknown("no workload was named");
  RunningTenants running;
  input.available = unknown("no machine is judged");
  if (looks_at_machine) {
    running = tenants_of_machine(facts.machine, facts.knowledge);
    look_outside(facts.machine, input.pool, running);
    add_available(facts, input);
  }
  input.tenants = running.tenants;
  if (facts.workload != nullptr) {
    input.sharing_replicas = facts.workload->gpu_sharing_replicas;
    for (Tenant& tenant : tenants_of_workload(*facts.workload, facts.knowledge))
      input.tenants.push_back(std::move(tenant));
  }

  Finding finding;
  const bool shared = input.sharing_replicas && *input.sharing_replicas > 1;
  if (!input.tenants.empty() || shared)
    finding = judged(facts, std::move(input), running);
  else if (looks_at_machine)
    finding = nothing_found(facts, running);
  else
    finding = not_applicable(k_id, "the workload starts no server and no trainer");
  if (finding.status == Status::pass && !running.unseen.empty()) {
    Finding unsure = skipped(k_id, "who else is there is unknown: " + join(running.unseen, "; "));
    unsure.evidence = std::move(finding.evidence);
    finding = std::move(unsure);
  }
  add_orphans(running, finding);
  finding.evidence.insert(finding.evidence.end(), running.evidence.begin(), running.evidence.end());
  if (facts.workload != nullptr) add_reading(*facts.workload, finding);
  return finding;
}

}  // namespace sparkops::verdicts
