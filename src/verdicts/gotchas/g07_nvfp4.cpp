#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding check_g07_nvfp4(const PreflightFacts&) {
  Finding finding = skipped("G7", "kernel libraries are not read by this version");
  finding.where = Where::environment;
  finding.fixes.push_back({.run = "sparkops explain G7",
                           .instruction = "which formats are safe today",
                           .needs_root = false,
                           .changes = "",
                           .verify = ""});
  return finding;
}

}  // namespace sparkops::verdicts
