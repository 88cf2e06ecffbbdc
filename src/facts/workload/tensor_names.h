#pragma once

#include <cstdint>
#include <string_view>

#include "facts/workload/model.h"

namespace sparkops::facts {

/// The part of a model that a tensor belongs to, by its name in a checkpoint of transformers or in a GGUF file.
/// `decoder_layers`: the layers of the decoder, where known (else 0); DeepSeek and GLM store their MTP blocks as
/// further layers behind them.
[[nodiscard]] ModelPart part_of_tensor(std::string_view name, std::int64_t decoder_layers = 0);

/// Whether a tensor only helps to read another one: scales, zero points, quantisation maps.
[[nodiscard]] bool is_quantization_helper(std::string_view name);

}  // namespace sparkops::facts
