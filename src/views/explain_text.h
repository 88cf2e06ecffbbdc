#pragma once

#include <string>

#include "base/timestamp.h"
#include "knowledge/lookup.h"
#include "views/text_layout.h"

namespace sparkops::views {

enum class IndexDetail {
  brief,     ///< the ten, the names of the topics, how to ask
  complete,  ///< each topic and symptom on a line of its own
};

/// What there is to ask for.
[[nodiscard]] std::string explain_index_text(const knowledge::Tables& tables, IndexDetail detail,
                                             const TextStyle& style);

/// One entry in full, with its dates, and the symptoms that led to it. Wrapped at 80 columns also where the style has
/// no width: this is prose. Says so when the entry is older than knowledge::k_stale_after_days.
[[nodiscard]] std::string explain_text(const knowledge::Tables& tables, const knowledge::LookUp& found, Timestamp now,
                                       const TextStyle& style);

}  // namespace sparkops::views
