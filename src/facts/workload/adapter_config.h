#pragma once

#include "base/result.h"
#include "facts/workload/config_value.h"
#include "facts/workload/model.h"

namespace sparkops::facts {

/// PEFT's adapter_config.json. Errors: malformed, when it names no peft_type.
[[nodiscard]] Result<AdapterConfig> read_adapter_config(const ConfigValue& document);

}  // namespace sparkops::facts
