#pragma once

#include <string>

#include "base/known.h"
#include "verdicts/software/setup_recipe.h"
#include "views/text_layout.h"

namespace sparkops::views {

/// What a setup is shown with besides the recipe.
struct SetupSubject {
  std::string box;          ///< the machine in one line
  bool compares = false;    ///< --check
  std::string environment;  ///< what was compared: "/home/user1/env ($VIRTUAL_ENV)"
  Known<bool> matches;
};

/// The recipe as commands to paste, container first; with --check a line for each package.
[[nodiscard]] std::string setup_text(const verdicts::SetupRecipe& recipe, const SetupSubject& subject,
                                     const TextStyle& style);

/// schema "sparkops.setup/1" (docs/schema/setup.schema.json).
[[nodiscard]] std::string setup_json(const verdicts::SetupRecipe& recipe, const SetupSubject& subject);

}  // namespace sparkops::views
