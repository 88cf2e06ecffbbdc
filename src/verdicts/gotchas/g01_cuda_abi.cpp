#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding check_g01_cuda_abi(const PreflightFacts&) {
  Finding finding = skipped("G1", "installed packages and their CUDA libraries are not read by this version");
  finding.where = Where::environment;
  finding.fixes.push_back({.run = "python3 -c 'import torch; print(torch.version.cuda)'",
                           .instruction = "should start with 13; slow, and it crashes where the answer is broken",
                           .needs_root = false,
                           .changes = "",
                           .verify = ""});
  return finding;
}

}  // namespace sparkops::verdicts
