#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/machine/machine.h"

namespace sparkops::verdicts {

/// Whether this machine is a GB10 (DGX Spark or an OEM twin), decided by the GPU itself: PCI id, NVML name or compute
/// capability, never by DMI names, which differ between the twins.
enum class IsGb10 { yes, no, unknown };

struct PlatformJudgement {
  IsGb10 is_gb10 = IsGb10::unknown;
  std::string id;        ///< "dgx-spark", or what the machine is: "x86_64 Linux without an NVIDIA GPU"
  std::string headline;  ///< the box in one line: "NVIDIA DGX Spark (GB10), aarch64, driver 580.159.03, …"
  std::vector<std::string> mismatches;  ///< readings that contradict a GB10, e.g. "x86_64 instead of aarch64"
  /// Why the GPU of a GB10 cannot be used at all (driver not loaded, no answer, no device in this container): empty
  /// when it answers, and for other machines. A job that needs the GPU cannot start then, whatever the ten checks say.
  std::string gpu_does_not_answer;
  std::vector<Fix> fixes;  ///< the way out of that
  std::vector<Evidence> evidence;
};

[[nodiscard]] PlatformJudgement judge_platform(const facts::Machine& machine);

}  // namespace sparkops::verdicts
