#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "facts/workload/training_config.h"

namespace sparkops::facts {

/// How the frameworks write values. Words are lower case and trimmed.

/// Anything but false, 0, no, none, null, off and nothing.
[[nodiscard]] bool is_on(std::string_view value);
[[nodiscard]] bool is_null(std::string_view value);

/// "4096", "4096.0", "4k" (1000), "4K" (1024), "1M"; nothing for others.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view value);

/// "bf16" for "bfloat16", "torch.bfloat16", "bf16-mixed"; empty for "auto" and what is not known.
[[nodiscard]] std::string dtype_word(std::string_view word);

/// "adamw_8bit" for "bitsandbytes.optim.AdamW8bit", "torch.optim.AdamW" and the like: lower case, the last part of a
/// dotted path, words set apart by underscores.
[[nodiscard]] std::string optimizer_word(std::string_view value);

[[nodiscard]] std::optional<AttentionImplementation> attention_word(std::string_view word);
[[nodiscard]] std::optional<LossImplementation> loss_word(std::string_view word);
[[nodiscard]] std::optional<Objective> objective_word(std::string_view word);

/// The framework that a set of keys belongs to.
[[nodiscard]] Known<TrainingFramework> framework_of_settings(const std::vector<Setting>& settings);

}  // namespace sparkops::facts
