#pragma once

#include <string>

#include "verdicts/preflight.h"
#include "views/text_layout.h"

namespace sparkops::views {

enum class Detail { brief, verbose };

/// The contract's text: "box: …", one line per gotcha in order ("G3 WARN: …") with fixes indented by two blanks, then
/// "headroom: …" and "verdict: …". Brief shows the headline and the first fix, verbose all evidence with its origin,
/// all fixes and sources.
[[nodiscard]] std::string preflight_text(const verdicts::PreflightResult& result, Detail detail,
                                         const TextStyle& style);

/// One finding as the text above shows it.
[[nodiscard]] std::string finding_text(const Finding& finding, Detail detail, const TextStyle& style);

/// "41 GiB now, 103 GiB after a flush (pool 121.6 GiB, 6.0 GiB reserved)", or "unknown (reason)".
[[nodiscard]] std::string headroom_text(const Known<verdicts::Budget>& budget);

}  // namespace sparkops::views
