#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding check_g05_bandwidth(const PreflightFacts&) {
  Finding finding = skipped("G5", "this version cannot measure bandwidth and no measurement is stored");
  finding.where = Where::box;
  return finding;
}

}  // namespace sparkops::verdicts
