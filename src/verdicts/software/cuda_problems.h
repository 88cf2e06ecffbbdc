#pragma once

#include <vector>

#include "facts/machine/machine.h"
#include "facts/software/software.h"
#include "knowledge/tables.h"
#include "verdicts/software/package_problems.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

/// What is wrong with the CUDA that torch and the packages beside it are built for, by their versions, tags and what is
/// published of their wheels. `torch`: that of torch_build().
[[nodiscard]] std::vector<PackageProblem> cuda_problems(const facts::Software& software, const CudaBuild& torch,
                                                        const knowledge::Tables& tables);

/// A driver that is older than the CUDA torch is built for. `cuda_of_driver`: 1000·major + 10·minor, as NVML says.
[[nodiscard]] std::vector<PackageProblem> driver_problems(const CudaBuild& torch, const Known<int>& cuda_of_driver);

}  // namespace sparkops::verdicts
