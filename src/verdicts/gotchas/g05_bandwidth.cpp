#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding check_g05_bandwidth(const PreflightFacts&) {
  Finding finding = skipped("G5", "this version cannot measure bandwidth and no measurement is stored");
  finding.where = Where::box;
  finding.fixes.push_back({.run = "sparkops explain G5",
                           .instruction = "the published range and how each figure was measured",
                           .needs_root = false,
                           .changes = "",
                           .verify = ""});
  return finding;
}

}  // namespace sparkops::verdicts
