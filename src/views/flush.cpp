#include "views/flush.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::views {

namespace {

using store::Json;
using store::ObjectWriter;
using verdicts::FlushedFile;
using verdicts::FlushMode;

constexpr int k_indent = 2;
constexpr std::size_t k_width = 80;
constexpr std::size_t k_files_shown = 10;

std::string size_or_unknown(const Known<Bytes>& bytes) {
  return bytes ? format_size(*bytes) : "unknown";
}

std::string change(const Known<Bytes>& before, const Known<Bytes>& after, FlushMode mode) {
  return mode == FlushMode::dry_run ? size_or_unknown(before)
                                    : size_or_unknown(before) + " -> " + size_or_unknown(after);
}

std::string percentage(const Known<Bytes>& part, Bytes whole) {
  if (!part) return "?";
  if (whole.value <= 0) return "0 %";
  const double share = 100.0 * static_cast<double>(part->value) / static_cast<double>(whole.value);
  return fmt::format("{:.0f} %", std::min(share, 100.0));
}

std::string file_text(const FlushedFile& file, FlushMode mode, Detail detail) {
  std::string start = fmt::format("  {:>5}", percentage(file.before, file.size));
  if (mode == FlushMode::done) start += fmt::format(" -> {:>5}", percentage(file.after, file.size));
  start += fmt::format(" of {:>10}  ", format_size(file.size));
  const std::string path = printable(file.path);
  std::string text =
      start + (detail == Detail::verbose ? path : shortened(path, k_width - columns_of(start), Keep::end)) + "\n";
  if (file.dirty_before && file.dirty_before->value > 0)
    text += fmt::format("      {} {} to disk first\n", format_size(*file.dirty_before),
                        mode == FlushMode::dry_run ? "would be written" : "written");
  for (const std::string& why : file.stays) text += wrap("      ", printable(why), k_width) + "\n";
  return text;
}

/// Files with something to say come first, then the largest.
std::vector<const FlushedFile*> in_order(const std::vector<FlushedFile>& files) {
  std::vector<const FlushedFile*> order;
  order.reserve(files.size());
  for (const FlushedFile& file : files) order.push_back(&file);
  std::stable_sort(order.begin(), order.end(), [](const FlushedFile* a, const FlushedFile* b) {
    if (a->stays.empty() != b->stays.empty()) return b->stays.empty();
    return a->before.value_or(Bytes{0}) > b->before.value_or(Bytes{0});
  });
  return order;
}

std::string files_text(const FlushReport& report, Detail detail) {
  const verdicts::FlushTotals totals = verdicts::totals_of(report.files);
  const std::size_t count = report.files.size();
  std::string text = fmt::format("{} file{}: ", count, count == 1 ? "" : "s");
  text += report.mode == FlushMode::dry_run
              ? fmt::format("{} cached, would be given back as far as nobody maps it", format_size(totals.before))
              : fmt::format("{} cached before, {} freed, {} stays", format_size(totals.before),
                            format_size(totals.freed), format_size(totals.stays));
  if (totals.unknown_files > 0) text += fmt::format("; unknown of {}", totals.unknown_files);
  text += "\n";
  std::size_t shown = 0;
  for (const FlushedFile* const file : in_order(report.files)) {
    if (detail == Detail::brief && shown == k_files_shown) break;
    text += file_text(*file, report.mode, detail);
    ++shown;
  }
  if (shown < count) text += fmt::format("  and {} more (--verbose)\n", count - shown);
  return text;
}

std::string steps_text(const FlushReport& report) {
  std::string text;
  for (const FlushStepShown& step : report.steps) {
    const std::string state = !step.error.empty()                 ? "failed: " + step.error
                              : report.mode == FlushMode::dry_run ? "would be done"
                                                                  : "done";
    text += wrap(fmt::format("  {:<15}", step.name), printable(state), k_width) + "\n";
  }
  return text;
}

std::string row(const char* label, const Known<Bytes>& before, const Known<Bytes>& after, FlushMode mode) {
  return fmt::format("  {:<30}{}\n", label, change(before, after, mode));
}

std::string machine_text(const FlushReport& report) {
  std::string text = report.mode == FlushMode::dry_run ? "this machine now\n" : "this machine, before -> after\n";
  text += row("free (MemFree)", report.before.free, report.after.free, report.mode);
  text +=
      row("page cache a flush gives back", report.pool_before.flush_gives, report.pool_after.flush_gives, report.mode);
  text += row("mapped file pages (these stay)", report.pool_before.mapped_files, report.pool_after.mapped_files,
              report.mode);
  return text + row("headroom now", report.before.headroom_now, report.after.headroom_now, report.mode);
}

Json printable_list(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(printable(text));
  return json;
}

Json file_json(const FlushedFile& file) {
  Json json = {{"path", printable(file.path)}, {"size_bytes", file.size.value}};
  ObjectWriter writer(json);
  writer.write("cached_before_bytes", file.before);
  writer.write("cached_after_bytes", file.after);
  writer.write("freed_bytes", file.freed);
  writer.write("dirty_before_bytes", file.dirty_before);
  json["stays"] = printable_list(file.stays);
  return json;
}

Json machine_json(const verdicts::Budget& budget, const verdicts::PoolAttribution& pool) {
  Json json = Json::object();
  ObjectWriter writer(json);
  writer.write("free_bytes", budget.free);
  writer.write("headroom_now_bytes", budget.headroom_now);
  writer.write("flush_gives_bytes", pool.flush_gives);
  writer.write("mapped_files_bytes", pool.mapped_files);
  return json;
}

}  // namespace

std::string flush_text(const FlushReport& report, Detail detail, const TextStyle& style) {
  std::string text;
  if (!report.refused.empty()) {
    text += wrap("not done: ", printable(report.refused), k_width) + "\n";
    for (const std::string& command : report.instead) text += "  instead: " + printable(command) + "\n";
    return colored(text.substr(0, 9), Color::yellow, style) + text.substr(9);
  }
  if (report.mode == FlushMode::dry_run) text += "dry run: nothing was changed\n";
  if (!report.everything) text += files_text(report, detail);
  text += steps_text(report);
  for (const std::string& note : report.notes) text += wrap("  note: ", printable(note), k_width) + "\n";
  return text + machine_text(report);
}

std::string flush_json(const FlushReport& report) {
  Json json = Json::object();
  json["schema"] = "sparkops.flush/1";
  json["what"] = report.everything ? "everything" : "files";
  json["dry_run"] = report.mode == FlushMode::dry_run;
  json["refused"] = report.refused.empty() ? Json(nullptr) : Json(printable(report.refused));
  json["instead"] = printable_list(report.instead);
  json["steps"] = Json::array();
  for (const FlushStepShown& step : report.steps)
    json["steps"].push_back(
        {{"name", step.name}, {"error", step.error.empty() ? Json(nullptr) : Json(printable(step.error))}});
  const verdicts::FlushTotals totals = verdicts::totals_of(report.files);
  json["files"] = Json::array();
  for (const FlushedFile& file : report.files) json["files"].push_back(file_json(file));
  json["totals"] = {{"cached_before_bytes", totals.before.value},
                    {"freed_bytes", totals.freed.value},
                    {"stays_bytes", totals.stays.value},
                    {"unknown_files", totals.unknown_files}};
  json["notes"] = printable_list(report.notes);
  json["before"] = machine_json(report.before, report.pool_before);
  json["after"] = machine_json(report.after, report.pool_after);
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
