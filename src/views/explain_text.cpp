#include "views/explain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sparkops::views {

namespace {

constexpr std::size_t k_prose_width = 80;
constexpr std::string_view k_indent = "  ";

std::size_t width_of(const TextStyle& style) {
  return style.width == 0 ? k_prose_width : std::min(style.width, k_prose_width);
}

bool is_command(std::string_view paragraph) {
  return paragraph.starts_with("$ ") || paragraph.starts_with(">>> ");
}

/// Paragraphs, each wrapped and indented, with an empty line between them; commands as they stand, so that they can be
/// pasted, right below what introduces them.
std::string paragraphs(std::string_view text, const TextStyle& style) {
  std::string result;
  for (const auto paragraph : split_lines(text)) {
    if (is_command(paragraph)) {
      result += fmt::format("{}{}\n", k_indent, paragraph);
      continue;
    }
    if (!result.empty()) result += '\n';
    result += wrap(k_indent, paragraph, width_of(style)) + '\n';
  }
  return result;
}

std::string section(std::string_view name, std::string_view text, const TextStyle& style) {
  if (text.empty()) return {};
  return fmt::format("\n{}\n{}", colored(name, Color::bold, style), paragraphs(text, style));
}

std::string sources_section(const std::vector<knowledge::Source>& sources, const TextStyle& style) {
  std::string result = fmt::format("\n{}\n", colored("Sources", Color::bold, style));
  for (const auto& source : sources) {
    result += wrap(k_indent, source.title, width_of(style)) + '\n';
    if (!source.url.empty()) result += fmt::format("{0}{0}{1}\n", k_indent, source.url);
  }
  return result;
}

std::string see_also_section(const knowledge::Tables& tables, const std::vector<std::string>& ids,
                             const TextStyle& style) {
  if (ids.empty()) return {};
  std::string result = fmt::format("\n{}\n", colored("See also", Color::bold, style));
  for (const auto& id : ids) {
    const auto entry = find_entry(tables, id);
    result += wrap(fmt::format("{}{:<20} ", k_indent, id), entry ? entry.title() : "", width_of(style)) + '\n';
  }
  return result;
}

std::string age_text(const knowledge::EntryRef& entry, Timestamp now) {
  const auto age = knowledge::age_in_days(entry.last_verified(), now);
  std::string text = fmt::format("Last verified {}", entry.last_verified());
  if (!age)
    text += " (no date that can be read: treat it as old)";
  else if (*age > knowledge::k_stale_after_days)
    text += fmt::format(": {} days ago. It may have aged; check a source before you rely on it", *age);
  return text + ".\n";
}

std::string entry_text(const knowledge::Tables& tables, const knowledge::EntryRef& entry, Timestamp now,
                       const TextStyle& style) {
  std::string result = colored(fmt::format("{}  {}", entry.id(), entry.title()), Color::bold, style) + '\n';
  if (entry.gotcha) {
    result += section("Symptom", entry.gotcha->symptom, style);
    result += section("Cause", entry.gotcha->cause, style);
    result += section("How it is checked", entry.gotcha->check, style);
    result += section("Fix", entry.gotcha->fix, style);
    result += section("How sure", entry.gotcha->how_sure, style);
    result += section("What later evidence changed", entry.gotcha->later_evidence, style);
  } else {
    result += '\n' + paragraphs(entry.topic->text, style);
  }
  result += see_also_section(tables, entry.see_also(), style);
  result += sources_section(entry.sources(), style);
  return result + '\n' + age_text(entry, now);
}

std::string symptoms_text(const knowledge::LookUp& found, const TextStyle& style) {
  if (found.symptoms.empty()) return {};
  std::string result = "Understood as:\n";
  for (const auto* symptom : found.symptoms)
    result +=
        wrap(k_indent, fmt::format("{} -> {}", symptom->text, join(symptom->leads_to, ", ")), width_of(style)) + '\n';
  return result + '\n';
}

std::string topic_names(const knowledge::Tables& tables, const TextStyle& style) {
  std::vector<std::string> names;
  for (const auto& topic : tables.topics()) names.push_back(topic.id);
  return wrap(k_indent, join(names, ", "), width_of(style)) + '\n';
}

std::string topic_lines(const knowledge::Tables& tables, const TextStyle& style) {
  std::string result;
  for (const auto& topic : tables.topics())
    result += wrap(fmt::format("{}{:<20} ", k_indent, topic.id), topic.title, width_of(style)) + '\n';
  return result;
}

std::string symptom_lines(const knowledge::Tables& tables, const TextStyle& style) {
  std::string result = fmt::format("\n{}\n", colored("Symptoms", Color::bold, style));
  for (const auto& symptom : tables.symptoms())
    result +=
        wrap(k_indent, fmt::format("{} -> {}", symptom.text, join(symptom.leads_to, ", ")), width_of(style)) + '\n';
  return result;
}

}  // namespace

std::string explain_index_text(const knowledge::Tables& tables, IndexDetail detail, const TextStyle& style) {
  std::string result = colored("The ten gotchas of a DGX Spark", Color::bold, style) + '\n';
  for (const auto& gotcha : tables.gotchas())
    result += wrap(fmt::format("{}{:<4} ", k_indent, gotcha.id), gotcha.title, width_of(style)) + '\n';
  result += fmt::format("\n{}\n", colored("Topics", Color::bold, style));
  if (detail == IndexDetail::complete) return result + topic_lines(tables, style) + symptom_lines(tables, style);
  result += topic_names(tables, style);
  result +=
      "\nAsk by number, by topic, or in your own words:\n"
      "  $ sparkops explain G3\n"
      "  $ sparkops explain page-cache\n"
      "  $ sparkops explain the box freezes while loading\n"
      "All topics and symptoms with a line each: sparkops explain --list\n";
  return result;
}

std::string explain_text(const knowledge::Tables& tables, const knowledge::LookUp& found, Timestamp now,
                         const TextStyle& style) {
  return symptoms_text(found, style) + entry_text(tables, found.entry, now, style);
}

}  // namespace sparkops::views
