#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding not_applicable(std::string_view id, const std::string& why) {
  Finding finding;
  finding.id = id;
  finding.status = Status::info;
  finding.headline = "not applicable (" + why + ")";
  return finding;
}

Finding skipped(std::string_view id, const std::string& why) {
  Finding finding;
  finding.id = id;
  finding.status = Status::skip;
  finding.headline = why;
  return finding;
}

}  // namespace sparkops::verdicts
