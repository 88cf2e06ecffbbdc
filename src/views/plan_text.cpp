#include "views/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace sparkops::views {

namespace {

using verdicts::Estimate;
using verdicts::FitAnswer;

std::string size(double bytes) {
  return format_size(verdicts::whole_bytes(bytes));
}

/// "55.1 GiB (51.0–62.4)"; one figure where the bounds say the same.
std::string range(const Estimate& estimate) {
  const auto gib = [](double bytes) { return in_gib(verdicts::whole_bytes(bytes)); };
  if (std::abs(estimate.high - estimate.low) < 0.05 * static_cast<double>(k_gib)) return size(estimate.value);
  return fmt::format("{} ({:.1f}-{:.1f})", size(estimate.value), gib(estimate.low), gib(estimate.high));
}

Color color_of(FitAnswer answer) {
  switch (answer) {
    case FitAnswer::fits: return Color::green;
    case FitAnswer::fits_after_flush:
    case FitAnswer::tight: return Color::yellow;
    case FitAnswer::does_not_fit: return Color::red;
    case FitAnswer::unknown: return Color::plain;
  }
  return Color::plain;
}

class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style) {}

  void heading(std::string_view text) { text_ += colored(text, Color::bold, style_) + "\n"; }
  void line(std::string_view prefix, std::string_view text) {
    text_ += wrap(prefix, printable(text), style_.width) + "\n";
  }
  void raw(std::string_view text) { text_ += std::string(text) + "\n"; }
  [[nodiscard]] const TextStyle& style() const { return style_; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const TextStyle& style_;
  std::string text_;
};

std::string subject(const verdicts::Plan& plan) {
  const verdicts::RunShape& run = plan.run;
  std::string text = fmt::format("{}: {:.2f}e9 parameters, {}, {} weights", printable(run.model.name, 60),
                                 run.model.parameters / 1e9, to_string(run.method), to_string(run.weights));
  if (run.trains())
    text += fmt::format(", batch {:g} x {:g} tokens", run.batch, run.sequence.high);
  else
    text += fmt::format(", context {:g}", run.sequence.high);
  if (run.nodes > 1) text += fmt::format(", {:g} nodes ({})", run.nodes, to_string(run.parallel));
  return text;
}

void add_phases(const verdicts::Plan& plan, Page& page) {
  page.heading("phases (of the pool, with bounds in GiB)");
  const auto& phases = plan.footprint.phases;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool peak = i == plan.footprint.peak_phase;
    // Of a kind with several moments the largest is shown, unless one of them is the peak.
    bool larger_follows = false;
    for (std::size_t j = 0; j < phases.size(); ++j)
      larger_follows = larger_follows || (j != i && phases[j].kind == phases[i].kind &&
                                          (phases[j].system.value > phases[i].system.value ||
                                           (phases[j].system.value == phases[i].system.value && j < i)));
    if (larger_follows && !peak) continue;
    page.line(fmt::format("  {:<16}", to_string(phases[i].kind)),
              fmt::format("{}{}  {}", range(phases[i].system), peak ? "  PEAK" : "", phases[i].moment));
  }
}

void add_terms(const verdicts::Plan& plan, bool explain, Page& page) {
  page.heading(explain ? "terms" : "terms of the peak");
  const auto& peak = plan.footprint.peak().terms;
  for (const verdicts::Term& term : plan.footprint.terms) {
    const bool in_peak = std::find(peak.begin(), peak.end(), term.id) != peak.end();
    if (!explain && !(in_peak || term.id == "load-transient")) continue;
    if (!explain && term.bytes.high <= 0) continue;
    page.line("  ", fmt::format("{}: {}", term.title, range(term.bytes)));
    if (!explain) continue;
    if (!term.zero_because.empty()) {
      page.line("      0 because ", term.zero_because);
      continue;
    }
    page.line("      = ", term.formula);
    page.line("      = ", term.filled);
    page.line("      ", term.source);
  }
}

std::string known_size(const Known<Bytes>& bytes) {
  return bytes ? format_size(*bytes) : "unknown (" + bytes.reason() + ")";
}

void add_verdict(const verdicts::Plan& plan, Page& page) {
  page.line("budget    ", fmt::format("{}: headroom {} now, {} after a flush ({} kept for the system)", plan.budget_of,
                                      known_size(plan.budget.headroom_now),
                                      known_size(plan.budget.headroom_after_flush), format_size(plan.budget.reserve)));
  page.line("peak      ", fmt::format("{} while {}: {}", range(plan.footprint.system),
                                      to_string(plan.footprint.peak().kind), plan.footprint.peak().moment));
  page.raw(colored(fmt::format("verdict   {}", to_string(plan.verdict.answer)), color_of(plan.verdict.answer),
                   page.style()));
  page.line("          ", plan.verdict.reason);
}

void add_anchors(const verdicts::Plan& plan, Page& page) {
  if (plan.anchors.empty()) {
    page.line("anchors   ", "no published measurement of this method with a model of this size is known here");
    return;
  }
  page.heading("measured nearby");
  for (const verdicts::NearAnchor& anchor : plan.anchors) {
    if (anchor.is_ceiling) {
      page.line("  ", fmt::format("observed ceiling {:g}: {}", anchor.measured, anchor.what));
      if (plan.run.sequence.high > anchor.measured)
        page.line("    ", "longer than this is computed, not seen: do not call it safe");
      continue;
    }
    page.line("  ", fmt::format("{}: {} measured; the formulas say {} for this model at that length ({})", anchor.what,
                                size(anchor.measured), size(anchor.estimate), anchor.difference));
    if (anchor.far)
      page.line("    ",
                "FAR: estimate and measurement differ by more than a fifth here; plan with the larger of the two");
  }
}

void add_search(const verdicts::Plan& plan, Page& page) {
  if (!plan.search) return;
  const verdicts::FitSearch& search = *plan.search;
  const auto largest = [](const std::optional<double>& value) {
    return value ? fmt::format("{:g}", *value) : std::string("none fits");
  };
  page.heading("largest that fit for sure (upper bound, after a flush)");
  page.line("  ", fmt::format("{} {}, batch {}{}", plan.run.trains() ? "packing" : "context", largest(search.packing),
                              largest(search.batch), search.rank ? ", rank " + largest(search.rank) : std::string()));
  for (const verdicts::NearAnchor& anchor : plan.anchors)
    if (anchor.is_ceiling && search.packing && *search.packing > anchor.measured)
      page.line("  ",
                fmt::format("computed {:g}, observed ceiling {:g}: what lies above the ceiling is not called safe",
                            *search.packing, anchor.measured));
  std::string head = "  packing";
  double last = 0;
  for (const verdicts::FitCell& cell : search.table)
    if (cell.packing == search.table.front().packing)
      head += fmt::format("{:>17}", fmt::format("batch {:g}", cell.batch));
  page.raw(head);
  std::string row;
  for (const verdicts::FitCell& cell : search.table) {
    if (cell.packing != last) {
      if (!row.empty()) page.raw(row);
      row = fmt::format("  {:>7g}", cell.packing);
      last = cell.packing;
    }
    const char* mark = cell.answer == FitAnswer::does_not_fit ? "no"
                       : cell.answer == FitAnswer::tight      ? "tight"
                       : cell.answer == FitAnswer::unknown    ? "?"
                                                              : "fits";
    row += fmt::format("{:>17}", fmt::format("{:.0f} GiB {}", in_gib(verdicts::whole_bytes(cell.system.value)), mark));
  }
  page.raw(row);
}

void add_methods(const verdicts::Plan& plan, Page& page) {
  if (plan.methods.empty()) return;
  page.heading("methods");
  for (const verdicts::MethodRow& row : plan.methods)
    page.line(
        fmt::format("  {:<26}", row.name),
        fmt::format("{}, {} at {}{}", range(row.system), to_string(row.verdict.answer), row.peak_phase,
                    row.floor ? fmt::format(", a step takes at least {:.2f} s", row.floor->value) : std::string()));
}

void add_ladder(const verdicts::Plan& plan, bool verbose, Page& page) {
  const bool needed = plan.verdict.answer == FitAnswer::does_not_fit || plan.verdict.answer == FitAnswer::tight;
  if (!needed && !verbose) return;
  page.heading("what each rung of the OOM ladder gives here");
  int number = 0;
  for (const verdicts::RungGain& rung : plan.ladder) {
    std::string text = rung.gives ? "gives " + format_size(*rung.gives) : "gives unknown (" + rung.gives.reason() + ")";
    if (!rung.skipped_because.empty())
      text = "passed over: " + rung.skipped_because;
    else if (rung.suffices)
      text += ", suffices";
    page.line(fmt::format("  {}. ", ++number), rung.change + ": " + text);
  }
}

void add_notes(const verdicts::Plan& plan, bool verbose, Page& page) {
  for (const std::string& line : plan.footprint.saves_nothing) page.line("saves 0   ", line);
  for (const std::string& line : plan.footprint.doubts) page.line("unsure    ", line);
  for (const std::string& line : plan.unread) page.line("not read  ", line);
  if (!verbose) return;
  for (const std::string& line : plan.footprint.not_modelled) page.line("missing   ", line);
  for (const std::string& line : plan.footprint.zero_terms) page.line("zero      ", line);
  page.heading("inputs");
  for (const verdicts::ResolvedInput& input : plan.run.inputs)
    page.line("  ", fmt::format("{} = {} ({})", input.name, input.value, to_string(input.provenance)));
}

}  // namespace

std::string plan_text(const verdicts::Plan& plan, const PlanDetail& detail, const TextStyle& style) {
  Page page(style);
  page.line("plan      ", subject(plan));
  add_verdict(plan, page);
  for (const std::string& line : plan.dataset) page.line("dataset   ", line);
  add_phases(plan, page);
  add_terms(plan, detail.explain, page);
  add_anchors(plan, page);
  add_search(plan, page);
  add_methods(plan, page);
  add_ladder(plan, detail.verbose, page);
  if (plan.floor.seconds)
    page.line("time      ",
              fmt::format("at least {:.3g} s a {}: {}, at the best published {:.0f} GB/s", plan.floor.seconds->value,
                          plan.floor.unit, plan.floor.how, plan.floor.bandwidth / 1e9));
  if (plan.beside)
    page.line("beside    ",
              fmt::format("{}: {}{}", plan.beside->tenant,
                          plan.beside->setting.empty() ? "" : plan.beside->setting + "; ", plan.beside->reason));
  add_notes(plan, detail.verbose, page);
  page.line("next      ", plan.next_step);
  return page.take();
}

}  // namespace sparkops::views
