#include <unistd.h>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "knowledge/lookup.h"
#include "views/explain_json.h"
#include "views/explain_text.h"

namespace sparkops::commands {

namespace {

ExitCode nothing_found(const knowledge::Tables& tables, const std::string& query, const knowledge::LookUp& found) {
  std::string message = "'" + printable(query, 80) + "' is no gotcha, topic or symptom that is known";
  if (!found.suggestions.empty())
    return fail_with(ExitCode::usage, message + "; did you mean " + join(found.suggestions, ", ") + "?");
  std::vector<std::string> nearest;
  for (const std::string& id : found.nearest) nearest.push_back(id + " (" + find_entry(tables, id).title() + ")");
  if (!nearest.empty()) message += "; nearest in wording: " + join(nearest, ", ");
  return fail_with(ExitCode::usage, message + "; sparkops explain --list shows them all");
}

ExitCode explain_index(const knowledge::Tables& tables, const Arguments& arguments) {
  if (arguments.has("--json")) return write_output(views::explain_index_json(tables));
  const auto detail = arguments.has("--list") ? views::IndexDetail::complete : views::IndexDetail::brief;
  return write_output(views::explain_index_text(tables, detail, views::style_for_descriptor(STDOUT_FILENO)));
}

/// "G3 G4": one after the other. JSON is about one entry.
ExitCode explain_several(const knowledge::Tables& tables, const std::vector<knowledge::EntryRef>& entries,
                         const Arguments& arguments) {
  if (arguments.has("--json"))
    return fail_with(ExitCode::usage, "--json: one entry at a time, e.g. sparkops explain --json " + entries[0].id());
  const auto style = views::style_for_descriptor(STDOUT_FILENO);
  const Timestamp now = Timestamp::now();
  std::vector<std::string> texts;
  for (const auto& entry : entries) texts.push_back(views::explain_text(tables, {entry, {}, {}, {}}, now, style));
  return write_output(join(texts, "\n\n"));
}

ExitCode explain_entry(const knowledge::Tables& tables, const std::string& query, const Arguments& arguments) {
  const auto named = knowledge::named_entries(tables, query);
  if (named.size() > 1) return explain_several(tables, named, arguments);
  const auto found = named.size() == 1 ? knowledge::LookUp{named[0], {}, {}, {}} : knowledge::look_up(tables, query);
  if (!found.entry) return nothing_found(tables, query, found);
  const Timestamp now = Timestamp::now();
  if (arguments.has("--json")) return write_output(views::explain_json(found, query, now));
  return write_output(views::explain_text(tables, found, now, views::style_for_descriptor(STDOUT_FILENO)));
}

ExitCode run_explain(const Arguments& arguments) {
  const knowledge::Tables tables;
  const std::string query = join(arguments.positionals, " ");
  if (!query.empty() && arguments.has("--list"))
    return fail_with(ExitCode::usage, "--list shows everything: give it or words, not both");
  const ExitCode code = query.empty() ? explain_index(tables, arguments) : explain_entry(tables, query, arguments);
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);
  return code;
}

}  // namespace

CommandSpec explain_command() {
  return {
      .name = "explain",
      .moment = Moment::always,
      .shown_first = true,
      .summary = "what a gotcha, a topic or a symptom means and what to do, with dates and sources",
      .description =
          "Without words: the list of what can be asked. With a number (G3, g03, 3) or a topic: that entry; with "
          "several (G3 G4): one after the other. With any other words: the entry that describes best what you see. "
          "What "
          "is contested is said to be contested, and an entry that has not been verified for 180 days says so.\n"
          "\n"
          "Files in /etc/sparkops/knowledge and in $SPARKOPS_KNOWLEDGE replace single entries of what is compiled in.",
      .positional = "[G<n>|TOPIC|WORDS…]",
      .positional_help = "a gotcha's number, a topic, or what you see in your own words",
      .positional_max = 64,
      .takes_command = false,
      .options = {{"--list", "", "every topic and symptom with a line each", OptionSpec::Takes::nothing, false},
                  k_json_option},
      .examples = {"sparkops explain", "sparkops explain G3", "sparkops explain page-cache",
                   "sparkops explain the box freezes while loading"},
      .run = run_explain,
  };
}

}  // namespace sparkops::commands
