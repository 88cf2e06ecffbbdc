#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/timestamp.h"
#include "facts/software/software.h"
#include "knowledge/tables.h"

namespace sparkops::verdicts {

/// How one package of a recipe stands in the environment at hand.
enum class PackageState { same, newer, older, breaks_condition, missing, unknown };

[[nodiscard]] std::string_view to_string(PackageState state);  ///< "same", "breaks-condition" …

struct RecipePackage {
  std::string name;
  std::string version;     ///< known good
  std::string constraint;  ///< what must hold; may be empty
  std::string note;
  std::string last_verified;
  Known<std::string> installed;  ///< only with an environment to compare
  PackageState state = PackageState::unknown;
};

/// An environment recipe with its versions filled in.
struct SetupRecipe {
  std::string id, title;
  std::string image, image_note;
  bool moving = false;                    ///< the tag is moved by its makers
  std::vector<std::string> container;     ///< commands that fetch, pin and start the image
  std::vector<std::string> in_container;  ///< commands inside it
  std::vector<std::string> pip;           ///< commands for an environment without container
  std::string pip_note;
  std::vector<RecipePackage> packages;
  std::vector<knowledge::Source> sources;
  std::string last_verified;
  bool is_old = false;  ///< verified more than 180 days ago
};

/// The recipe that a word names ("unsloth", "lora"); null: none does. An empty word names the first.
[[nodiscard]] const knowledge::Recipe* find_recipe(const knowledge::Tables& tables, std::string_view word);

/// `software` null: nothing is compared.
[[nodiscard]] SetupRecipe make_setup_recipe(const knowledge::Recipe& recipe, const knowledge::Tables& tables,
                                            const facts::Software* software, Timestamp now);

/// Whether everything the recipe rests on is there as it should be (newer counts). Unknown when nothing was compared.
[[nodiscard]] Known<bool> matches_recipe(const SetupRecipe& recipe, const facts::Software& software);

}  // namespace sparkops::verdicts
