#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "facts/workload/model.h"
#include "knowledge/tables.h"

namespace sparkops::verdicts {

/// An entry of knowledge/models.yaml as a model: its architecture and published total are of origin knowledge with the
/// entry's date, a number format that `name` tells (…-NVFP4) is derived; nothing is known of its files. An entry that
/// is not verified adds a doubt. Errors: malformed, when the entry's config cannot be read (an override's).
[[nodiscard]] Result<facts::Model> model_of_entry(const knowledge::ModelEntry& entry, std::string_view name);

/// The model that `name` means. Errors: not_found, with the nearest names.
[[nodiscard]] Result<facts::Model> known_model(const knowledge::Tables& tables, std::string_view name);

}  // namespace sparkops::verdicts
