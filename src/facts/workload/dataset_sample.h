#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "facts/workload/dataset.h"

namespace sparkops::facts {

/// One line of a dataset.
struct Sample {
  SampleForm form = SampleForm::unknown;
  std::int64_t characters = 0;
  std::int64_t tokens = 0;  ///< exact for token ids, else estimated
};

/// Errors: malformed, when the line is no JSON object or none of its fields is known.
[[nodiscard]] Result<Sample> read_sample(std::string_view line);

}  // namespace sparkops::facts
