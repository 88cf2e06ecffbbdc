#pragma once

#include <string>
#include <string_view>

#include "base/timestamp.h"
#include "knowledge/lookup.h"

namespace sparkops::views {

/// schema "sparkops.explain/1" (docs/schema/explain.schema.json), kind "entry": one gotcha or topic, with the symptoms
/// that led to it.
[[nodiscard]] std::string explain_json(const knowledge::LookUp& found, std::string_view query, Timestamp now);

/// The same schema, kind "index": all gotchas, topics and symptoms by id and title.
[[nodiscard]] std::string explain_index_json(const knowledge::Tables& tables);

}  // namespace sparkops::views
