#pragma once

#include <string_view>
#include <vector>

#include "facts/software/native_code.h"
#include "facts/software/software.h"
#include "verdicts/software/package_problems.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

/// What the libraries themselves say: torch and what is linked against it, against what the loader would find.
/// Libraries for another processor, missing CUDA libraries, symbols that nothing exports, code for no GPU of this kind.
/// What is missing and is not CUDA's or torch's is left out: many packages carry variants of which one is used.
[[nodiscard]] std::vector<PackageProblem> library_problems(const facts::Software& software,
                                                           const facts::NativeCode& native,
                                                           const Known<int>& cuda_of_driver);

/// The same of one distribution (normalised name); nothing when its libraries are fine or it has none.
[[nodiscard]] std::vector<PackageProblem> problems_of_distribution(const facts::Software& software,
                                                                   const facts::NativeCode& native,
                                                                   std::string_view key,
                                                                   const Known<int>& cuda_of_driver);

/// A libcudart of an older major that the loader finds beside torch's own.
[[nodiscard]] std::vector<PackageProblem> leftover_runtimes(const facts::NativeCode& native, const CudaBuild& torch);

}  // namespace sparkops::verdicts
