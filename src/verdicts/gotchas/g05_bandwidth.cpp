#include <fmt/format.h>

#include "verdicts/gotchas/gotcha.h"
#include "verdicts/platform.h"

namespace sparkops::verdicts {

Finding check_g05_bandwidth(const PreflightFacts& facts) {
  const bool is_gb10 = facts.judged == JudgedPlatform::gb10 || judge_platform(facts.machine).is_gb10 == IsGb10::yes;
  if (!is_gb10) return not_applicable("G5", "no bandwidth is published for this machine");
  const knowledge::Platform& gb10 = facts.knowledge.gb10();
  Finding finding;
  finding.id = "G5";
  finding.status = Status::info;
  finding.where = Where::box;
  finding.headline = fmt::format("not measured on this box; published: copies {}-{} GB/s, reads up to {} GB/s ({})",
                                 gb10.copy_low_gb_s, gb10.copy_high_gb_s, gb10.read_gb_s, gb10.last_verified);
  finding.evidence.push_back({gb10.bandwidth_text, {Origin::knowledge, gb10.last_verified}});
  for (const auto& source : gb10.sources) finding.sources.push_back(source.url);
  return finding;
}

}  // namespace sparkops::verdicts
