#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/tables.h"

namespace sparkops::knowledge {

/// What names of one architecture have in common: "unsloth/Qwen3-14B-Instruct-2507-bnb-4bit" gives "qwen3-14b".
/// The owner, and endings that tell about tuning, dates and number formats, are dropped.
[[nodiscard]] std::string model_key(std::string_view name);

/// The entry that has this name or alias; by model_key when none has it exactly.
[[nodiscard]] std::optional<ModelEntry> pick_model(const std::vector<ModelEntry>& models, std::string_view name);

/// The text of the one entry that pick_model would find, cut out of a table whose entries begin with the lines
/// "- name: …" and "  aliases: […]"; empty when there is none.
[[nodiscard]] std::string model_entry_text(std::string_view table, std::string_view name);

/// Up to `most` names that were probably meant, best first.
[[nodiscard]] std::vector<std::string> nearest_models(const std::vector<ModelEntry>& models, std::string_view name,
                                                      std::size_t most);

}  // namespace sparkops::knowledge
