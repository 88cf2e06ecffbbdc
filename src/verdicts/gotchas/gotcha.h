#pragma once

#include <span>
#include <string>

#include "base/finding.h"
#include "base/quantities.h"
#include "base/timestamp.h"
#include "facts/machine/machine.h"
#include "facts/software/native_code.h"
#include "facts/software/software.h"
#include "facts/workload/playbook_clone.h"
#include "facts/workload/playbook_issues.h"
#include "facts/workload/workload.h"
#include "knowledge/tables.h"
#include "verdicts/memory/footprint.h"

namespace sparkops::verdicts {

/// What the machine is judged as.
enum class JudgedPlatform {
  this_machine,
  gb10,  ///< a workload or package list is judged for a GB10 wherever it is read: from knowledge, not from this machine
};

/// All that a check may look at. Pure data: no check reads, waits or asks the clock.
struct PreflightFacts {
  const facts::Machine& machine;
  const knowledge::Tables& knowledge;
  Timestamp now;
  JudgedPlatform judged = JudgedPlatform::this_machine;
  std::string work_arguments =
      {};  ///< how the work was named: "--workload compose.yaml", "-- vllm serve …"; "" for none
  const facts::Workload* workload = nullptr;                      ///< null: none was named
  const facts::Software* software = nullptr;                      ///< null: installed packages were not looked at
  const facts::PlaybookClone* playbook = nullptr;                 ///< null: none was named or found
  const Known<std::vector<facts::Issue>>* open_issues = nullptr;  ///< null: GitHub was not asked (--online)
  const Known<facts::NativeCode>* native_code = nullptr;          ///< of the Python environment; null: not looked at
  Bytes reserve = gibibytes(6);                                   ///< memory-model.md §0
  bool with_swap = false;
  const Footprint* footprint = nullptr;  ///< of the workload; null: none, or not known
  std::string footprint_unknown = {};    ///< why it is not known, when a workload was named
};

/// The ten numbers are load-bearing: other tools call the checks by them.
struct GotchaCheck {
  std::string_view id;
  Finding (*check)(const PreflightFacts&);
};

/// G1 to G10, in order.
[[nodiscard]] std::span<const GotchaCheck> gotcha_checks();

/// Helpers for the common forms of a finding.
[[nodiscard]] Finding not_applicable(std::string_view id, const std::string& why);
[[nodiscard]] Finding skipped(std::string_view id, const std::string& why);

Finding check_g01_cuda_abi(const PreflightFacts&);
Finding check_g02_flash_attention(const PreflightFacts&);
Finding check_g03_unified_memory(const PreflightFacts&);
Finding check_g04_thermal_and_power(const PreflightFacts&);
Finding check_g05_bandwidth(const PreflightFacts&);
Finding check_g06_contention(const PreflightFacts&);
Finding check_g07_nvfp4(const PreflightFacts&);
Finding check_g08_playbooks(const PreflightFacts&);
Finding check_g09_container_first(const PreflightFacts&);
Finding check_g10_parallelism(const PreflightFacts&);

}  // namespace sparkops::verdicts
