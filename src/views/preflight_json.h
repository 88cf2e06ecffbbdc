#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/timestamp.h"
#include "facts/machine/machine.h"
#include "verdicts/preflight.h"

namespace sparkops::views {

/// What a preflight was asked to look at; goes into its JSON beside the answers.
struct PreflightSubject {
  std::string root;
  Known<Timestamp> taken;
  bool judged_as_gb10 = false;
  std::string workload;  ///< as the user named it; empty: none
};

/// schema "sparkops.preflight/1" (docs/schema/preflight.schema.json).
[[nodiscard]] std::string preflight_json(const verdicts::PreflightResult& result, const PreflightSubject& subject);

/// env-report.json: platform, checks, headroom_gb and verdict never change; further keys may follow.
[[nodiscard]] std::string env_report_json(const verdicts::PreflightResult& result, Timestamp now);

}  // namespace sparkops::views
