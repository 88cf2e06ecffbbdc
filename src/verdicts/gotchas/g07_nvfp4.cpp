#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding check_g07_nvfp4(const PreflightFacts&) {
  Finding finding = skipped("G7", "kernel libraries are not read by this version");
  finding.where = Where::environment;
  return finding;
}

}  // namespace sparkops::verdicts
