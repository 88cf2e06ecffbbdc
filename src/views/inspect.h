#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "facts/software/inspected_file.h"
#include "verdicts/sm121_code.h"
#include "views/text_layout.h"

namespace sparkops::views {

/// A file that was looked into, with what its code comes to on a GB10: `code` holds one judgement for each entry of
/// `inspection.members`, or one for the file itself where it is no archive.
struct InspectedCode {
  const facts::Inspection& inspection;
  std::vector<verdicts::Sm121Code> code;
  Known<int> driver_cuda;  ///< 1000·major + 10·minor, what the JIT is judged by
};

/// Columns: target, kind, how many, how large, whether it runs. Every single object where they were read.
[[nodiscard]] std::string inspect_text(const InspectedCode& inspected, const TextStyle& style);

/// schema "sparkops.inspect/1" (docs/schema/inspect.schema.json).
[[nodiscard]] std::string inspect_json(const InspectedCode& inspected);

}  // namespace sparkops::views
