#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "verdicts/memory/contention.h"

namespace sparkops::verdicts {

/// The weights of a model as its name and number format tell: "Qwen3-32B-NVFP4" has 32e9 parameters of half a byte and
/// the scales. "8x7B" counts as 56, the "A3B" of active parameters does not count. Nothing when the name tells no size.
struct NamedWeights {
  Bytes bytes;
  std::string basis;  ///< "32B in nvfp4"
};
[[nodiscard]] std::optional<NamedWeights> weights_of_name(const Known<std::string>& model,
                                                          const Known<std::string>& number_format);

/// What to change so that the tenants can share the box, most helpful first: the workload's largest claim without a
/// cap, the workload's others, then what runs already. A cap that is set already is never proposed again, and a
/// fraction only where what is known to be needed fits in it.
[[nodiscard]] std::vector<Fix> sharing_fixes(const ContentionInput& input, const std::vector<std::size_t>& offenders);

}  // namespace sparkops::verdicts
