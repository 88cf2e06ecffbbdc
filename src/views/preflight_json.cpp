#include "views/preflight_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::views {

namespace {

using store::Json;

constexpr int k_indent = 2;

std::string word(verdicts::Readiness readiness) {
  switch (readiness) {
    case verdicts::Readiness::ready: return "ready";
    case verdicts::Readiness::ready_with_warnings: return "ready-with-warnings";
    case verdicts::Readiness::blocked: return "blocked";
  }
  return "blocked";
}

Json headroom(const Known<verdicts::Budget>& budget) {
  Json json = Json::object();
  store::ObjectWriter writer(json);
  const verdicts::Budget values = budget ? *budget : verdicts::Budget{};
  const auto known = [&](const Known<Bytes>& bytes) { return budget ? bytes : Known<Bytes>(budget.as_unknown()); };
  writer.write("total_bytes", known(values.total));
  writer.write("free_bytes", known(values.free));
  writer.write("available_bytes", known(values.available));
  writer.write("now_bytes", known(values.headroom_now));
  writer.write("after_flush_bytes", known(values.headroom_after_flush));
  json["reserve_bytes"] = values.reserve.value;
  json["huge_pages_rule"] = values.huge_pages_rule;
  return json;
}

Json platform(const verdicts::PlatformJudgement& judgement) {
  Json json = {{"id", judgement.id}, {"headline", printable(judgement.headline)}, {"mismatches", judgement.mismatches}};
  json["evidence"] = Json::array();
  for (const Evidence& evidence : judgement.evidence)
    json["evidence"].push_back({{"reading", printable(evidence.reading)}, {"origin", to_string(evidence.provenance)}});
  if (!judgement.gpu_does_not_answer.empty()) json["gpu_does_not_answer"] = printable(judgement.gpu_does_not_answer);
  if (!judgement.fixes.empty()) json["fix"] = store::to_json(judgement.fixes);
  return json;
}

/// Whole GiB, rounded down; the key is called headroom_gb for the tools that know it by that name.
Json whole_gib(const Known<Bytes>& bytes) {
  if (!bytes) return nullptr;
  return static_cast<std::int64_t>(std::floor(in_gib(*bytes)));
}

std::string check_text(const Finding& finding) {
  if (finding.status == Status::pass) return "pass";
  return std::string(to_string(finding.status)) + ": " + printable(finding.headline);
}

}  // namespace

std::string preflight_json(const verdicts::PreflightResult& result, const PreflightSubject& subject) {
  Json json = Json::object();
  json["schema"] = "sparkops.preflight/1";
  json["root"] = printable(subject.root);
  store::ObjectWriter(json).write(
      "taken_at", subject.taken ? Known<std::string>(to_rfc3339(*subject.taken), subject.taken.provenance())
                                : Known<std::string>(subject.taken.as_unknown()));
  json["judged_as"] = subject.judged_as_gb10 ? "gb10" : "this";
  if (!subject.workload.empty()) json["workload"] = printable(subject.workload);
  json["platform"] = platform(result.platform);
  json["checks"] = Json::object();
  for (const Finding& finding : result.findings) json["checks"][finding.id] = store::to_json(finding);
  json["headroom"] = headroom(result.budget);
  json["verdict"] = word(result.verdict.readiness);
  json["verdict_text"] = printable(to_string(result.verdict));
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string env_report_json(const verdicts::PreflightResult& result, Timestamp now) {
  Json json = Json::object();
  json["schema"] = "sparkops.env-report/1";
  json["platform"] = result.platform.id;
  json["checks"] = Json::object();
  for (const Finding& finding : result.findings) json["checks"][finding.id] = check_text(finding);
  json["headroom_gb"] = result.budget ? whole_gib(result.budget->headroom_now) : Json(nullptr);
  json["verdict"] = word(result.verdict.readiness);
  json["headroom_after_flush_gb"] = result.budget ? whole_gib(result.budget->headroom_after_flush) : Json(nullptr);
  json["verdict_text"] = printable(to_string(result.verdict));
  json["written_at"] = to_rfc3339(now);
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
