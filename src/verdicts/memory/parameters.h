#pragma once

#include <cstdint>

#include "base/known.h"
#include "facts/workload/model.h"

namespace sparkops::verdicts {

/// Parameters of a model by component, counted from its architecture (memory-model.md §2 and §11). Equal to what
/// `num_parameters()` of transformers gives, where the family is known.
struct ParameterCount {
  std::int64_t embedding = 0;            ///< token and position tables
  std::int64_t head = 0;                 ///< 0 when it shares the embedding
  std::int64_t per_layer_embedding = 0;  ///< Gemma-4 E2B and E4B, with its projections
  std::int64_t attention = 0;            ///< with the norms of queries and keys
  std::int64_t linear_mixers = 0;        ///< gated DeltaNet, Mamba2, short convolutions
  std::int64_t mlp = 0;                  ///< dense layers
  std::int64_t experts = 0;              ///< routed ones
  std::int64_t shared_experts = 0;
  std::int64_t router = 0;
  std::int64_t norms = 0;  ///< of the hidden width
  std::int64_t vision = 0, audio = 0;
  std::int64_t next_token = 0;  ///< MTP blocks: on disk, not in `total`; transformers skips them
  std::int64_t buffers = 0;     ///< stored, but no parameters; not in `total`

  std::int64_t active = 0;          ///< of `total`, what one token uses
  std::int64_t largest_linear = 0;  ///< the largest single matrix that is no embedding, head or bundle of experts

  [[nodiscard]] std::int64_t decoder() const {
    return embedding + head + per_layer_embedding + attention + linear_mixers + mlp + experts + shared_experts +
           router + norms;
  }
  [[nodiscard]] std::int64_t total() const { return decoder() + vision + audio; }
};

/// One layer alone; what belongs to no layer is 0.
[[nodiscard]] ParameterCount count_layer_parameters(const facts::Architecture& architecture,
                                                    const facts::ModelLayer& layer);

/// Unknown when the numbers multiply to more than any model has (a broken or hostile config). A tower whose formula is
/// not known counts 0; count_tower_parameters tells.
[[nodiscard]] Known<ParameterCount> count_parameters(const facts::Architecture& architecture);

/// A tower with its projector: as published, else by the formula of its class (SigLIP with Gemma-3's projector,
/// Qwen3-VL and Qwen3.5, Gemma-4); unknown for others. `hidden` is the decoder's width.
[[nodiscard]] Known<std::int64_t> count_tower_parameters(const facts::Tower& tower, std::int64_t hidden);

/// Values that one token adds to the KV cache over all layers, ignoring sliding windows (memory-model.md §7), and those
/// of the layers with a window. Layers that reuse K and V of others add none.
struct CacheValues {
  std::int64_t full = 0, sliding = 0;  ///< of full and of sliding layers, per token
  std::int64_t state = 0;              ///< of recurrent layers, per sequence
  std::int64_t indexer = 0;            ///< keys of a sparse-attention indexer, per token
};
[[nodiscard]] CacheValues count_cache_values(const facts::Architecture& architecture);

}  // namespace sparkops::verdicts
