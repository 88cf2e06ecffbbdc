#pragma once

#include <string_view>
#include <vector>

#include "base/known.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// The number format that a model's name tells ("…-NVFP4", "…-AWQ", "…Q4_K_M.gguf"; gpt-oss models are MXFP4), as whole
/// words of the name; origin derived.
[[nodiscard]] Known<std::string> quantization_of_name(std::string_view model);

/// The format that settings ask for (--quantization, fp4_recipe, load_in_4bit …). A flag that names a container of
/// several formats (modelopt, compressed-tensors) is settled by the model's name.
[[nodiscard]] Known<std::string> read_quantization(const std::vector<Setting>& settings,
                                                   const Known<std::string>& model);

}  // namespace sparkops::facts
