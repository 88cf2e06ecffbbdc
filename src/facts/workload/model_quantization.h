#pragma once

#include "base/known.h"
#include "facts/workload/config_value.h"
#include "facts/workload/model.h"

namespace sparkops::facts {

/// The quantization_config (or compression_config) of a config.json; unknown when it has none.
[[nodiscard]] Known<ModelQuantization> read_model_quantization(const ConfigValue& config);

/// The hf_quant_config.json that NVIDIA's ModelOpt writes beside older checkpoints.
[[nodiscard]] Known<ModelQuantization> read_modelopt_quantization(const ConfigValue& document);

}  // namespace sparkops::facts
