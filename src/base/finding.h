#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"

namespace sparkops {

/// What a check established (docs/architecture.md, "What the statuses mean").
enum class Status {
  pass,  ///< looked, and it is right
  fail,  ///< this will break or has broken the run
  warn,  ///< will probably cost you
  skip,  ///< should have looked and could not; the headline says why
  info,  ///< a reading, or "not applicable (…)"
};

/// What a finding is about.
enum class Where { box, environment, workload, tenant };

/// Who has to act on it.
enum class Who { you, root, hands_on, vendor };

/// One reading in words, with where it comes from.
struct Evidence {
  std::string reading;
  Provenance provenance;
};

/// One way out: either a command to run, or something a person does.
struct Fix {
  std::string run;          ///< a command that can be pasted; empty when there is none
  std::string instruction;  ///< what to do, in words ("do" in JSON); may stand beside `run` as its explanation
  bool needs_root = false;
  std::string changes;  ///< what it changes, e.g. "page cache of everyone"
  std::string verify;   ///< the command that shows it worked
};

/// A gotcha, a diagnosis or an event.
struct Finding {
  std::string id;  ///< "G3", a slug, or an event kind
  Status status = Status::skip;
  std::string headline;  ///< one sentence with the reading
  Where where = Where::box;
  Who who = Who::you;
  std::vector<Evidence> evidence;
  std::vector<Fix> fixes;
  std::vector<std::string> sources;
};

/// Lower-case words as in JSON: "pass", "box", "hands-on" …
[[nodiscard]] std::string_view to_string(Status status);
[[nodiscard]] std::string_view to_string(Where where);
[[nodiscard]] std::string_view to_string(Who who);

/// "PASS" … as the text form writes it.
[[nodiscard]] std::string_view to_upper_string(Status status);

}  // namespace sparkops
