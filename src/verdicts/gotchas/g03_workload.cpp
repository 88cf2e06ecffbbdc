#include "verdicts/gotchas/g03_workload.h"

#include <fmt/format.h>

#include "base/text.h"
#include "verdicts/memory/fit.h"

namespace sparkops::verdicts {

namespace {

Status status_of(FitAnswer answer) {
  switch (answer) {
    case FitAnswer::does_not_fit: return Status::fail;
    case FitAnswer::tight:
    case FitAnswer::fits_after_flush: return Status::warn;
    case FitAnswer::fits: return Status::pass;
    case FitAnswer::unknown: return Status::skip;
  }
  return Status::skip;
}

std::string size(double bytes) {
  return format_size(whole_bytes(bytes));
}

}  // namespace

WorkloadFit judge_workload(const PreflightFacts& facts, const Budget& budget, std::vector<Evidence>& evidence) {
  WorkloadFit fit;
  if (facts.workload == nullptr) return fit;
  if (facts.footprint == nullptr) {
    const std::string& why = facts.footprint_unknown;
    evidence.push_back({"peak of the workload: unknown (" + (why.empty() ? std::string("not planned") : why) + ")",
                        {Origin::derived, {}}});
    return fit;
  }
  const Footprint& footprint = *facts.footprint;
  const FitVerdict verdict = judge_fit(footprint.system, budget);
  evidence.push_back({fmt::format("peak of the workload: {} ({} to {}) while {}: {}", size(footprint.system.value),
                                  size(footprint.system.low), size(footprint.system.high),
                                  to_string(footprint.peak().kind), footprint.peak().moment),
                      {Origin::derived, {}}});
  for (const std::string& doubt : footprint.doubts) evidence.push_back({"unsure: " + doubt, {Origin::derived, {}}});
  fit.judged = true;
  fit.status = status_of(verdict.answer);
  fit.clause =
      fmt::format("the workload {}: {} while {}", verdict.answer == FitAnswer::tight ? "is tight" : "needs room",
                  verdict.reason, to_string(footprint.peak().kind));
  if (verdict.answer == FitAnswer::fits) fit.clause = "the workload fits: " + verdict.reason;
  if (verdict.answer == FitAnswer::does_not_fit) fit.clause = "the workload does not fit: " + verdict.reason;
  if (verdict.answer == FitAnswer::fits_after_flush)
    fit.clause = "the workload fits only after a flush: " + verdict.reason;
  fit.fix = {.run = "sparkops plan --fit " + facts.work_arguments,
             .instruction = verdict.answer == FitAnswer::fits_after_flush
                                ? "give back the page cache first"
                                : "shows what packing and batch fit, and what each rung of the ladder gives",
             .needs_root = false,
             .changes = "",
             .verify = ""};
  return fit;
}

Finding check_workload_on_gb10(const PreflightFacts& facts) {
  if (facts.workload == nullptr) return not_applicable("G3", "no workload was named");
  Finding finding;
  finding.id = "G3";
  finding.where = Where::workload;
  const knowledge::Platform& gb10 = facts.knowledge.gb10();
  const Budget budget = budget_of_platform(gb10.pool, gb10.last_verified, facts.reserve);
  const WorkloadFit fit = judge_workload(facts, budget, finding.evidence);
  if (!fit.judged)
    return skipped("G3", "the peak of the workload is unknown: " +
                             (facts.footprint_unknown.empty() ? std::string("not planned") : facts.footprint_unknown));
  finding.status = fit.status;
  finding.headline = fit.clause + " (an idle box)";
  if (fit.status != Status::pass) finding.fixes.push_back(fit.fix);
  return finding;
}

}  // namespace sparkops::verdicts
