#include "verdicts/software/setup_recipe.h"

#include <algorithm>

#include "base/text.h"
#include "facts/software/version.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

namespace {

/// What the founding guides and NVIDIA's own documents agree on: the GPU, shared memory for workers, no limits on
/// locked memory; what is not below a mount is lost with --rm.
constexpr const char* k_run_flags =
    "docker run --rm -it --runtime=nvidia --gpus all --ipc=host --ulimit memlock=-1 --ulimit stack=67108864 "
    "-v \"$PWD\":/workspace/run -w /workspace/run -v \"$HOME/.cache/huggingface\":/root/.cache/huggingface ";

const knowledge::StackPackage* stack_row(const knowledge::Tables& tables, std::string_view name) {
  for (const auto& row : tables.stack())
    if (row.name == name) return &row;
  return nullptr;
}

/// {NAME} by the known good version of that row; a name without a row stays as it is.
std::string filled_in(std::string_view text, const knowledge::Tables& tables) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    out += text.substr(0, open);
    if (close == std::string_view::npos) {
      if (open != std::string_view::npos) out += text.substr(open);
      break;
    }
    const knowledge::StackPackage* const row = stack_row(tables, text.substr(open + 1, close - open - 1));
    out += row == nullptr ? std::string(text.substr(open, close - open + 1)) : row->version;
    text.remove_prefix(close + 1);
  }
  return out;
}

std::vector<std::string> filled_in(const std::vector<std::string>& texts, const knowledge::Tables& tables) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(filled_in(text, tables));
  return out;
}

std::vector<std::string> container_commands(const std::string& image) {
  const std::string digest = "\"$(docker inspect --format '{{index .RepoDigests 0}}' " + image + ")\"";
  return {"docker pull " + image, "docker inspect --format '{{index .RepoDigests 0}}' " + image, k_run_flags + digest};
}

PackageState state_of(const RecipePackage& package) {
  if (!package.installed) return PackageState::missing;
  if (is_ngc_version(*package.installed)) return PackageState::same;
  if (!package.constraint.empty() && !facts::version_meets(*package.installed, package.constraint).value_or(true))
    return PackageState::breaks_condition;
  const auto installed = facts::parse_version(*package.installed), wanted = facts::parse_version(package.version);
  if (!installed || !wanted) return PackageState::unknown;
  const auto order = installed->public_part() <=> wanted->public_part();
  if (order == 0) return PackageState::same;
  return order > 0 ? PackageState::newer : PackageState::older;
}

RecipePackage package_of(const knowledge::StackPackage& row, const facts::PythonEnvironment* environment) {
  RecipePackage package{row.name, row.version, row.constraint, row.note, row.last_verified, {}, PackageState::unknown};
  if (environment == nullptr) {
    package.installed = unknown("no environment was compared");
    return package;
  }
  const std::string key = facts::normalized_name(row.name);
  const facts::Distribution* installed = environment->find(key);
  if (installed == nullptr && key == "triton") installed = environment->find("pytorch-triton");
  package.installed = installed == nullptr ? Known<std::string>(unknown("not installed")) : installed->version;
  if (key == "torch")
    if (const auto version = torch_version(*environment); version && !version->empty())
      package.installed = as_read(*version);
  package.state = installed != nullptr && !package.installed ? PackageState::unknown : state_of(package);
  return package;
}

}  // namespace

std::string_view to_string(PackageState state) {
  switch (state) {
    case PackageState::same: return "same";
    case PackageState::newer: return "newer";
    case PackageState::older: return "older";
    case PackageState::breaks_condition: return "breaks-condition";
    case PackageState::missing: return "missing";
    case PackageState::unknown: break;
  }
  return "unknown";
}

const knowledge::Recipe* find_recipe(const knowledge::Tables& tables, std::string_view word) {
  const auto& recipes = tables.recipes();
  if (word.empty()) return recipes.empty() ? nullptr : &recipes.front();
  const std::string wanted = facts::normalized_name(word);
  for (const knowledge::Recipe& recipe : recipes) {
    const bool also = std::any_of(recipe.also.begin(), recipe.also.end(),
                                  [&](const std::string& other) { return facts::normalized_name(other) == wanted; });
    if (also || facts::normalized_name(recipe.id) == wanted) return &recipe;
  }
  return nullptr;
}

SetupRecipe make_setup_recipe(const knowledge::Recipe& recipe, const knowledge::Tables& tables,
                              const facts::Software* software, Timestamp now) {
  SetupRecipe setup;
  setup.id = recipe.id;
  setup.title = recipe.title;
  setup.image = filled_in(recipe.image, tables);
  setup.image_note = recipe.image_note;
  setup.moving = recipe.moving;
  setup.container = container_commands(setup.image);
  setup.in_container = filled_in(recipe.in_container, tables);
  setup.pip = filled_in(recipe.pip, tables);
  setup.pip_note = recipe.pip_note;
  setup.sources = recipe.sources;
  setup.last_verified = recipe.last_verified;
  const auto age = knowledge::age_in_days(recipe.last_verified, now);
  setup.is_old = age && *age > knowledge::k_stale_after_days;
  const facts::PythonEnvironment* const environment = software == nullptr ? nullptr : software->environment();
  for (const std::string& name : recipe.packages)
    if (const knowledge::StackPackage* const row = stack_row(tables, name))
      setup.packages.push_back(package_of(*row, environment));
  return setup;
}

Known<bool> matches_recipe(const SetupRecipe& recipe, const facts::Software& software) {
  if (!software.environments) return software.environments.as_unknown();
  if (software.environment() == nullptr) return unknown("there is no Python here");
  if (recipe.packages.empty()) return unknown("this recipe is an image alone: nothing to compare");
  return as_derived(std::all_of(recipe.packages.begin(), recipe.packages.end(), [](const RecipePackage& package) {
    return package.state == PackageState::same || package.state == PackageState::newer;
  }));
}

}  // namespace sparkops::verdicts
