#pragma once

#include <vector>

#include "verdicts/gotchas/gotcha.h"
#include "verdicts/software/package_problems.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

/// The five reasons why torch may see no GPU, in the order in which they are to be looked at, each with what is known
/// of it here: flags of the container, visible devices, permissions on the device files, a CUDA state that is stuck,
/// the build of torch. Only the last one is repaired by installing something.
[[nodiscard]] std::vector<Evidence> no_gpu_hypotheses(const PreflightFacts& facts, const CudaBuild& torch);

/// CUDA_VISIBLE_DEVICES that hides every GPU: set to nothing, or to an index that this machine does not have.
[[nodiscard]] std::vector<PackageProblem> visibility_problems(const facts::Software& software,
                                                              const Known<facts::GpuInventory>& gpus);

}  // namespace sparkops::verdicts
