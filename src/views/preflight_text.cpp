#include "views/preflight_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace sparkops::views {

namespace {

Color color_of(Status status) {
  switch (status) {
    case Status::pass: return Color::green;
    case Status::fail: return Color::red;
    case Status::warn:
    case Status::skip: return Color::yellow;
    case Status::info: return Color::blue;
  }
  return Color::plain;
}

Color color_of(verdicts::Readiness readiness) {
  switch (readiness) {
    case verdicts::Readiness::ready: return Color::green;
    case verdicts::Readiness::ready_with_warnings: return Color::yellow;
    case verdicts::Readiness::blocked: return Color::red;
  }
  return Color::plain;
}

/// For a check that could not look, what a person can look at by hand is no fix.
std::string by_hand_text(const Fix& fix, const TextStyle& style) {
  if (fix.run.empty()) return wrap("  by hand: ", fix.instruction, style.width) + "\n";
  return "  by hand: " + printable(fix.run) + (fix.instruction.empty() ? "" : "   (" + fix.instruction + ")") + "\n";
}

/// A command is never wrapped: it must stay pasteable.
std::string fix_text(const Fix& fix, Detail detail, const TextStyle& style) {
  std::string text;
  if (!fix.run.empty()) {
    text +=
        "  fix: " + printable(fix.run) + (fix.needs_root && !contains(fix.run, "sudo") ? "   (as root)" : "") + "\n";
    if (detail == Detail::verbose && !fix.instruction.empty())
      text += wrap("       ", fix.instruction, style.width) + "\n";
  } else {
    text += wrap("  fix: ", fix.instruction, style.width) + "\n";
  }
  if (detail == Detail::brief) return text;
  if (!fix.changes.empty()) text += wrap("       changes: ", fix.changes, style.width) + "\n";
  if (!fix.verify.empty()) text += "       verify: " + printable(fix.verify) + "\n";
  return text;
}

std::string whole_gib(const Known<Bytes>& bytes) {
  if (!bytes) return "unknown (" + bytes.reason() + ")";
  return fmt::format("{:.0f} GiB", std::floor(in_gib(*bytes)));
}

std::string evidence_text(const std::vector<Evidence>& all, const TextStyle& style) {
  std::string text;
  for (const Evidence& evidence : all)
    text += wrap("    - ", fmt::format("{} [{}]", printable(evidence.reading), to_string(evidence.provenance)),
                 style.width) +
            "\n";
  return text;
}

}  // namespace

std::string finding_text(const Finding& finding, Detail detail, const TextStyle& style) {
  const std::string label = fmt::format("{} {}: ", finding.id, to_upper_string(finding.status));
  std::string text = wrap(label, printable(finding.headline), style.width) + "\n";
  text = colored(label, color_of(finding.status), style) + text.substr(label.size());
  const bool needs_fix =
      finding.status == Status::fail || finding.status == Status::warn || finding.status == Status::skip;
  if (detail == Detail::brief) {
    if (needs_fix && !finding.fixes.empty())
      text += finding.status == Status::skip ? by_hand_text(finding.fixes.front(), style)
                                             : fix_text(finding.fixes.front(), detail, style);
    return text;
  }
  text += evidence_text(finding.evidence, style);
  for (const Fix& fix : finding.fixes)
    text += finding.status == Status::skip ? by_hand_text(fix, style) : fix_text(fix, detail, style);
  for (const std::string& source : finding.sources) text += "  source: " + printable(source) + "\n";
  return text;
}

std::string headroom_text(const Known<verdicts::Budget>& budget) {
  if (!budget) return "unknown (" + budget.reason() + ")";
  if (!budget->headroom_now && !budget->headroom_after_flush) return "unknown (" + budget->headroom_now.reason() + ")";
  const std::string now = whole_gib(budget->headroom_now);
  const std::string after = whole_gib(budget->headroom_after_flush);
  const std::string pool = fmt::format(
      "(pool {}, {} reserved)", budget->total ? format_size(*budget->total) : "unknown", format_size(budget->reserve));
  if (budget->huge_pages_rule) return fmt::format("{} by MemFree, {} by the huge pages set aside {}", now, after, pool);
  return fmt::format("{} now, {} after a flush {}", now, after, pool);
}

std::string preflight_text(const verdicts::PreflightResult& result, Detail detail, const TextStyle& style) {
  std::string text = wrap("box: ", printable(result.platform.headline), style.width) + "\n";
  for (const std::string& mismatch : result.platform.mismatches)
    text += wrap("  mismatch: ", printable(mismatch), style.width) + "\n";
  if (!result.platform.gpu_does_not_answer.empty() && !result.platform.fixes.empty())
    for (const Fix& fix : result.platform.fixes) text += fix_text(fix, detail, style);
  if (detail == Detail::verbose) text += evidence_text(result.platform.evidence, style);
  for (const Finding& finding : result.findings) text += finding_text(finding, detail, style);
  text += wrap("headroom: ", headroom_text(result.budget), style.width) + "\n";
  const std::string label = "verdict: ";
  const std::string verdict = wrap(label, printable(to_string(result.verdict)), style.width);
  return text + label + colored(verdict.substr(label.size()), color_of(result.verdict.readiness), style) + "\n";
}

}  // namespace sparkops::views
