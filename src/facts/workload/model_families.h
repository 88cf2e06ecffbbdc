#pragma once

#include <cstdint>
#include <string_view>

#include "facts/workload/model.h"

namespace sparkops::facts {

/// Which attention projections have biases.
enum class BiasRule {
  none,
  by_config,                  ///< attention_bias: all four
  by_config_query_key_value,  ///< attention_bias: without the output
  query_key_value,
  all,
};

/// Which layers look at a window only, where the config does not list them.
enum class WindowRule {
  none,
  all_when_set,  ///< every layer when sliding_window is a number
  alternating,   ///< the 1st, 3rd, …
  every_nth,     ///< all but every nth (sliding_window_pattern)
};

/// Which layers hold experts.
enum class ExpertRule {
  none,
  all_when_counted,  ///< every layer, when the config counts any experts
  after_dense,       ///< those after first_k_dense_replace
  stepped,           ///< decoder_sparse_step and mlp_only_layers (Qwen)
  beside_dense,      ///< Gemma-4: beside a dense network, when enable_moe_block says so
};

/// What a model_type means beyond the numbers of its config, after the classes of transformers (2026-11).
struct ModelFamily {
  std::string_view type;
  BiasRule bias = BiasRule::none;
  bool tied_by_default = false;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  WindowRule window = WindowRule::none;
  std::int64_t window_pattern = 0;  ///< of every_nth, when the config does not tell
  ExpertRule experts = ExpertRule::none;
  int norms_per_layer = 2;
  CorrectionBias correction_bias = CorrectionBias::none;
  bool gated_mlp = true;
  bool norm_bias = false;
};

/// The family of a model_type ("qwen3", "qwen3_5_text"); null for one that is not known.
[[nodiscard]] const ModelFamily* find_family(std::string_view model_type);

}  // namespace sparkops::facts
