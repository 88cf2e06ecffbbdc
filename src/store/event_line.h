#pragma once

#include <string>

#include "base/finding.h"
#include "base/timestamp.h"

namespace sparkops::store {

/// One line of events.jsonl: the finding with `schema` "sparkops.event/1", its time `at` and its `kind`
/// (docs/schema/event.schema.json), and a line end.
[[nodiscard]] std::string event_line(const Finding& finding, Timestamp at);

}  // namespace sparkops::store
