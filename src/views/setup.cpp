#include "views/setup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::views {

namespace {

using store::Json;
using verdicts::PackageState;
using verdicts::SetupRecipe;

std::string heading(std::string_view text, const TextStyle& style) {
  return "\n" + colored(text, Color::bold, style) + "\n";
}

/// Commands are never broken: they are there to be pasted.
std::string commands(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

std::string note(const std::string& text, const TextStyle& style) {
  return text.empty() ? "" : wrap("  # ", text, style.width) + "\n";
}

std::string words_of(PackageState state) {
  switch (state) {
    case PackageState::same: return "as known good";
    case PackageState::newer: return "newer than known good";
    case PackageState::older: return "older than known good";
    case PackageState::breaks_condition: return "does not do";
    case PackageState::missing: return "not installed";
    case PackageState::unknown: break;
  }
  return "unknown";
}

std::string package_line(const verdicts::RecipePackage& package, bool compares) {
  const std::string wanted = package.version + (package.constraint.empty() ? "" : " (" + package.constraint + ")");
  if (!compares) return fmt::format("  {:<16}{:<26}{}\n", package.name, wanted, package.last_verified);
  return fmt::format("  {:<16}{:<26}{:<24}{}\n", package.name, wanted, printable(package.installed.value_or("-"), 40),
                     words_of(package.state));
}

std::string answer_of_check(const SetupSubject& subject) {
  if (!subject.matches) return "check: unknown (" + subject.matches.reason() + ")\n";
  return std::string("check: ") +
         (*subject.matches ? "the environment at hand follows it" : "the environment at hand differs from it") +
         (subject.environment.empty() ? "" : " (" + subject.environment + ")") + "\n";
}

Json package_json(const verdicts::RecipePackage& package, bool compares) {
  Json json{{"name", package.name},
            {"version", package.version},
            {"constraint", package.constraint},
            {"note", package.note},
            {"last_verified", package.last_verified}};
  if (!compares) return json;
  store::ObjectWriter(json).write("installed", package.installed);
  json["state"] = std::string(to_string(package.state));
  return json;
}

}  // namespace

std::string setup_text(const SetupRecipe& recipe, const SetupSubject& subject, const TextStyle& style) {
  std::string text = wrap("box: ", subject.box, style.width) + "\n";
  text += fmt::format("for: {} ({}; verified {}{})\n", recipe.title, recipe.id, recipe.last_verified,
                      recipe.is_old ? ", more than 180 days ago" : "");
  text += heading("Container first", style) + note(recipe.image_note, style);
  if (recipe.moving)
    text += note("this tag is moved by its makers: the second command prints the digest to pin", style);
  text += commands(recipe.container);
  text += note("only what lies below a -v mount outlives --rm", style);
  if (!recipe.in_container.empty()) text += "\n  # inside it, in this order\n" + commands(recipe.in_container);
  if (!recipe.pip.empty()) text += heading("Without a container", style);
  if (recipe.pip.empty()) text += "\n";
  text += note(recipe.pip_note, style) + commands(recipe.pip);
  if (!recipe.packages.empty()) text += heading("Known to work together", style);
  for (const verdicts::RecipePackage& package : recipe.packages) text += package_line(package, subject.compares);
  text += "\n" + (subject.compares ? answer_of_check(subject) : "then: sparkops preflight --only G1,G2,G9\n");
  return text;
}

std::string setup_json(const SetupRecipe& recipe, const SetupSubject& subject) {
  Json json{{"schema", "sparkops.setup/1"},
            {"for", recipe.id},
            {"title", recipe.title},
            {"box", printable(subject.box)},
            {"last_verified", recipe.last_verified},
            {"is_old", recipe.is_old}};
  json["container"] = {{"image", recipe.image},
                       {"moving", recipe.moving},
                       {"note", recipe.image_note},
                       {"commands", recipe.container},
                       {"inside", recipe.in_container}};
  json["pip"] = {{"note", recipe.pip_note}, {"commands", recipe.pip}};
  json["packages"] = Json::array();
  for (const auto& package : recipe.packages) json["packages"].push_back(package_json(package, subject.compares));
  json["sources"] = Json::array();
  for (const auto& source : recipe.sources) json["sources"].push_back({{"title", source.title}, {"url", source.url}});
  if (subject.compares) {
    Json check{{"environment", printable(subject.environment)}};
    store::ObjectWriter(check).write("matches", subject.matches);
    json["check"] = std::move(check);
  }
  constexpr int k_indentation = 2;
  return json.dump(k_indentation, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sparkops::views
