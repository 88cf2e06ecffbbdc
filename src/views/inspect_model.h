#pragma once

#include <string>

#include "facts/workload/model.h"
#include "views/text_layout.h"

namespace sparkops::views {

/// What the headers of a model's files say: the facts that a plan starts from.
[[nodiscard]] std::string inspect_model_text(const facts::Model& model, const TextStyle& style);

/// schema "sparkops.inspect/1", with "model" instead of "file".
[[nodiscard]] std::string inspect_model_json(const facts::Model& model);

}  // namespace sparkops::views
