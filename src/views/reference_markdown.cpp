#include "views/reference_markdown.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "knowledge/lookup.h"

namespace sparkops::views {

namespace {

constexpr std::array<std::string_view, 10> k_gotchas{"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10"};
constexpr std::array<std::string_view, 6> k_container_topics{"containers", "ngc",         "no-gpu",
                                                             "drivers",    "server-caps", "sm121-vs-sm121a"};
constexpr std::array<std::string_view, 13> k_memory_topics{
    "unified-memory", "headroom",   "page-cache",     "load-transient", "nvidia-smi-memory", "cuda-memgetinfo", "swap",
    "fragmentation",  "oom-ladder", "packing-length", "qlora",          "anchors",           "uma-freeze"};
constexpr std::array<std::string_view, 5> k_thermal_topics{"power-240w", "wedge", "clock-states", "sensors",
                                                           "bandwidth-273"};

constexpr std::array<ReferencePage, 5> k_pages{
    ReferencePage{"gotcha-checks", "spark-training-gotchas", "The ten gotchas and how each is checked", k_gotchas},
    ReferencePage{"stack-matrix", "spark-environment-setup", "Versions known to work together", {}},
    ReferencePage{"container-workflow", "spark-environment-setup", "Containers, drivers and a GPU that is not seen",
                  k_container_topics},
    ReferencePage{"uma-accounting", "spark-memory-thermal-ops", "One pool: what counts and what does not",
                  k_memory_topics},
    ReferencePage{"thermal", "spark-memory-thermal-ops", "Power, clocks and temperature", k_thermal_topics}};

bool is_command(std::string_view paragraph) {
  return paragraph.starts_with("$ ") || paragraph.starts_with(">>> ");
}

/// Paragraphs as Markdown; what can be pasted stands indented, which Markdown shows as it is.
std::string paragraphs(std::string_view text) {
  std::string result;
  for (const auto paragraph : split_lines(text)) {
    if (paragraph.empty()) continue;
    result += is_command(paragraph) ? fmt::format("    {}\n\n", paragraph) : fmt::format("{}\n\n", paragraph);
  }
  return result;
}

std::string section(std::string_view name, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("**{}.** {}", name, paragraphs(text));
}

std::string sources(const std::vector<knowledge::Source>& list) {
  std::string result;
  for (const auto& source : list)
    result += source.url.empty() ? fmt::format("- {}\n", source.title)
                                 : fmt::format("- [{}]({})\n", source.title, source.url);
  return result.empty() ? result : "Sources:\n" + result + "\n";
}

std::string entry_markdown(const knowledge::EntryRef& entry) {
  std::string result = entry.gotcha ? fmt::format("## {}: {}\n\n", entry.id(), entry.title())
                                    : fmt::format("## {}\n\n`sparkops explain {}`\n\n", entry.title(), entry.id());
  if (entry.gotcha) {
    result += section("Symptom", entry.gotcha->symptom) + section("Cause", entry.gotcha->cause) +
              section("How it is checked", entry.gotcha->check) + section("Fix", entry.gotcha->fix) +
              section("How sure", entry.gotcha->how_sure) + section("What changed since", entry.gotcha->later_evidence);
  } else {
    result += paragraphs(entry.topic->text);
  }
  return result + sources(entry.sources()) + fmt::format("Last verified {}.\n\n", entry.last_verified());
}

std::string table_cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result.empty() ? " " : result;
}

std::string stack_table(const knowledge::Tables& tables) {
  std::string result = "| Package | Known good | Must hold | Note | Date |\n|---|---|---|---|---|\n";
  for (const auto& package : tables.stack())
    result += fmt::format("| {} | {} | {} | {} | {} |\n", table_cell(package.name), table_cell(package.version),
                          table_cell(package.constraint), table_cell(package.note), package.last_verified);
  return result;
}

}  // namespace

std::span<const ReferencePage> reference_pages() {
  return k_pages;
}

std::string reference_markdown(const knowledge::Tables& tables, const ReferencePage& page) {
  std::string result = fmt::format(
      "# {}\n\nGenerated from what `sparkops` knows (`sparkops documentation {}`); on a Spark ask `sparkops explain`, "
      "which may be newer.\n\n",
      page.title, page.name);
  if (page.entries.empty()) result += stack_table(tables);
  for (const std::string_view id : page.entries)
    if (const auto entry = knowledge::find_entry(tables, id)) result += entry_markdown(entry);
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

}  // namespace sparkops::views
