#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/machine/container.h"
#include "facts/software/software.h"
#include "knowledge/tables.h"

namespace sparkops::verdicts {

/// One thing that is wrong, or differs, in what is installed.
struct PackageProblem {
  Status status = Status::warn;  ///< fail, warn, or info for what is only told
  std::string headline;
  std::vector<Evidence> evidence;
  std::vector<Fix> fixes;
  std::vector<std::string> sources;
};

/// Combinations that are known to stop a run (knowledge/combinations.yaml).
[[nodiscard]] std::vector<PackageProblem> known_combinations(const facts::Software& software,
                                                             const knowledge::Tables& tables);

/// Packages that break a condition of the stack table, are pre-releases, or are older than what is known to work
/// together. Newer ones are told (info).
[[nodiscard]] std::vector<PackageProblem> stack_drift(const facts::Software& software, const knowledge::Tables& tables);

/// Libraries of two CUDA majors in one environment.
[[nodiscard]] std::vector<PackageProblem> two_cuda_majors(const facts::Software& software,
                                                          const knowledge::Tables& tables);

/// One package in two places of the path: two copies of torch, the user's own before the environment's.
[[nodiscard]] std::vector<PackageProblem> shadowed_packages(const facts::Software& software);

/// Requirements that nothing installed meets, as `pip check` lists them. What is meant to be installed with --no-deps
/// is told only.
[[nodiscard]] std::vector<PackageProblem> unsatisfied_requirements(const facts::Software& software,
                                                                   const std::string& architecture);

/// An image of NVIDIA's whose torch is not the image's own, and an environment of another Python than the image's
/// torch.
[[nodiscard]] std::vector<PackageProblem> replaced_image_torch(const facts::Software& software,
                                                               const Known<facts::Container>& container);

/// All of them, the worst first.
[[nodiscard]] std::vector<PackageProblem> package_problems(const facts::Software& software,
                                                           const knowledge::Tables& tables,
                                                           const Known<facts::Container>& container,
                                                           const std::string& architecture);

}  // namespace sparkops::verdicts
