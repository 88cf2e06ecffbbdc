#include "verdicts/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

/// A check of the work that found nothing wrong has not looked at files that could not be read.
void admit_unread_files(Finding& finding, const facts::Workload& workload) {
  const bool judges_work = finding.id == "G6" || finding.id == "G7" || finding.id == "G10";
  const bool content = finding.status == Status::pass || finding.status == Status::info;
  if (!judges_work || !content || workload.not_understood.empty()) return;
  finding.status = Status::skip;
  finding.headline = fmt::format("part of the work could not be read: {} (of what could be: {})",
                                 printable(join(workload.not_understood, "; "), 300), finding.headline);
}

/// A command that shows whether a fix worked must look at the same work.
void complete_verification(Finding& finding, const std::string& work_arguments) {
  if (work_arguments.empty()) return;
  for (Fix& fix : finding.fixes)
    if (fix.verify.starts_with("sparkops preflight --only G") && !contains(fix.verify, "("))
      fix.verify += " " + work_arguments;
}

Finding run_check(const GotchaCheck& check, const PreflightFacts& facts) {
  try {
    Finding finding = check.check(facts);
    if (facts.workload != nullptr) admit_unread_files(finding, *facts.workload);
    complete_verification(finding, facts.work_arguments);
    return finding;
  } catch (const std::exception& error) {
    return skipped(check.id,
                   fmt::format("the check itself failed: {} (a bug in sparkops)", printable(error.what(), 200)));
  }
}

std::string ids_with(const std::vector<Finding>& findings, std::initializer_list<Status> statuses) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings)
    if (std::find(statuses.begin(), statuses.end(), finding.status) != statuses.end()) ids.push_back(finding.id);
  return join(ids, ", ");
}

/// Failures with their headline, warnings and skips by number: the parenthesis of the verdict.
std::string reasons(const std::vector<Finding>& findings) {
  std::vector<std::string> parts;
  for (const Finding& finding : findings)
    if (finding.status == Status::fail) parts.push_back(finding.id + ": " + finding.headline);
  if (!parts.empty()) return join(parts, "; ");
  if (const std::string warned = ids_with(findings, {Status::warn}); !warned.empty())
    parts.push_back("warned: " + warned);
  if (const std::string skips = ids_with(findings, {Status::skip}); !skips.empty())
    parts.push_back("not checked: " + skips);
  return join(parts, "; ");
}

bool has(const std::vector<Finding>& findings, Status status) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.status == status; });
}

/// Whether what was asked was answered at all. The checks that look at the box itself decide; where none of them was
/// asked for, any answer counts.
bool found_out_nothing(const std::vector<Finding>& findings) {
  const auto skipped_check = [](const Finding& finding) { return finding.status == Status::skip; };
  const auto looks_at_the_box = [](const Finding& finding) {
    return finding.id == "G3" || finding.id == "G4" || finding.id == "G6";
  };
  if (std::all_of(findings.begin(), findings.end(), skipped_check)) return true;
  const bool any_asked = std::any_of(findings.begin(), findings.end(), looks_at_the_box);
  return any_asked && std::all_of(findings.begin(), findings.end(), [&](const Finding& finding) {
           return !looks_at_the_box(finding) || skipped_check(finding);
         });
}

PreflightVerdict decide(const PreflightFacts& facts, const PlatformJudgement& platform,
                        const std::vector<Finding>& findings) {
  PreflightVerdict verdict;
  verdict.found_out_nothing = found_out_nothing(findings);
  verdict.why = reasons(findings);
  const bool judges_this_machine = facts.judged == JudgedPlatform::this_machine;
  if (judges_this_machine && platform.is_gb10 != IsGb10::yes) {
    verdict.not_a_spark = true;
    const bool failed = has(findings, Status::fail);
    const std::string what = platform.is_gb10 == IsGb10::no
                                 ? "not a DGX Spark: " + platform.id
                                 : "could not find out whether this is a DGX Spark: " + platform.id;
    verdict.why = failed ? what + "; " + verdict.why : what;
    return verdict;
  }
  if (judges_this_machine && !platform.gpu_does_not_answer.empty()) {
    verdict.why =
        "the GPU does not answer: " + platform.gpu_does_not_answer + (verdict.why.empty() ? "" : "; " + verdict.why);
    verdict.found_out_nothing = false;
    return verdict;
  }
  if (has(findings, Status::fail)) return verdict;
  if (verdict.found_out_nothing) {
    verdict.why = "nothing could be found out; " + verdict.why;
    return verdict;
  }
  const bool mismatch = judges_this_machine && !platform.mismatches.empty();
  if (mismatch) verdict.why = join(platform.mismatches, ", ") + (verdict.why.empty() ? "" : "; " + verdict.why);
  const bool warned = mismatch || has(findings, Status::warn) || has(findings, Status::skip);
  verdict.readiness = warned ? Readiness::ready_with_warnings : Readiness::ready;
  return verdict;
}

Known<Budget> budget_of(const PreflightFacts& facts) {
  if (facts.judged == JudgedPlatform::gb10) return unknown("the workload is judged for a GB10, not for this machine");
  if (!facts.machine.memory) return facts.machine.memory.as_unknown();
  return as_derived(
      memory_budget(facts.machine.memory->info, facts.reserve, facts.with_swap ? CountSwap::yes : CountSwap::no));
}

}  // namespace

CheckSelection checks_named_by_input(const PreflightFacts& facts) {
  const bool has_packages = facts.software != nullptr;
  const bool has_work = facts.workload != nullptr || !has_packages;
  const bool names_image =
      facts.workload != nullptr && std::any_of(facts.workload->launches.begin(), facts.workload->launches.end(),
                                               [](const facts::Launch& launch) { return launch.image.known(); });
  CheckSelection selection;
  if (has_packages) selection.insert(selection.end(), {"G1", "G2"});
  if (facts.footprint != nullptr) selection.emplace_back("G3");
  if (has_work) selection.insert(selection.end(), {"G6", "G7"});
  if (facts.playbook != nullptr) selection.emplace_back("G8");
  if (has_packages || names_image) selection.emplace_back("G9");
  if (has_work) selection.emplace_back("G10");
  return selection;
}

PreflightResult run_preflight(const PreflightFacts& facts, const CheckSelection& selection) {
  PreflightResult result;
  result.platform = judge_platform(facts.machine);
  for (const GotchaCheck& check : gotcha_checks()) {
    if (!selection.empty() && std::find(selection.begin(), selection.end(), check.id) == selection.end()) continue;
    result.findings.push_back(run_check(check, facts));
  }
  if (facts.judged == JudgedPlatform::gb10) {
    const knowledge::Platform& gb10 = facts.knowledge.gb10();
    result.platform.headline = fmt::format("judged for {} (knowledge of {}); this machine is: {}", gb10.name,
                                           gb10.last_verified, result.platform.headline);
    result.platform.mismatches.clear();
    result.platform.gpu_does_not_answer.clear();
    result.platform.fixes.clear();
  }
  result.budget = budget_of(facts);
  result.verdict = decide(facts, result.platform, result.findings);
  return result;
}

std::string to_string(const PreflightVerdict& verdict) {
  const char* const word = verdict.readiness == Readiness::ready                 ? "ready"
                           : verdict.readiness == Readiness::ready_with_warnings ? "ready-with-warnings"
                                                                                 : "blocked";
  return verdict.why.empty() || verdict.readiness == Readiness::ready ? word
                                                                      : fmt::format("{} ({})", word, verdict.why);
}

}  // namespace sparkops::verdicts
