#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "facts/workload/config_fields.h"
#include "facts/workload/config_value.h"
#include "facts/workload/model.h"
#include "facts/workload/model_families.h"

namespace sparkops::facts {

/// What a config.json says of the network itself.
struct ArchitectureReading {
  Architecture architecture;
  std::vector<std::string> doubts;  ///< what was assumed or contradicts itself
};

/// Reads the value of a config.json: a decoder, or a model with towers whose decoder stands under text_config (or
/// llm_config, language_config, thinker_config.text_config). Errors: malformed, with every field that is missing or
/// makes no sense.
[[nodiscard]] Result<ArchitectureReading> read_architecture(const ConfigValue& config);

/// Bounds of what a config may say. The largest published models are a hundredth of the product of these.
inline constexpr std::int64_t k_most_layers = 4096;
inline constexpr std::int64_t k_most_width = std::int64_t{1} << 20;
inline constexpr std::int64_t k_most_heads = std::int64_t{1} << 14;
inline constexpr std::int64_t k_most_experts = std::int64_t{1} << 14;
inline constexpr std::int64_t k_most_vocabulary = std::int64_t{1} << 26;
inline constexpr std::int64_t k_most_tokens = std::int64_t{1} << 40;

/// The parts of read_architecture, in files of their own.

/// Experts, latent attention, linear attention and Mamba2 as the config gives them; unknown where it has none.
void read_mixtures(const ConfigFields& fields, const ModelFamily& family, Architecture& architecture);

/// Fills architecture.layers; the widths must be there.
void read_layers(const ConfigFields& fields, const ModelFamily& family, Architecture& architecture,
                 std::vector<std::string>& doubts);

/// Vision and audio towers of the whole config. `hidden` is the decoder's width.
[[nodiscard]] std::vector<Tower> read_towers(const ConfigValue& config, std::int64_t hidden,
                                             std::vector<std::string>& problems);

}  // namespace sparkops::facts
