#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/result.h"
#include "base/root.h"

namespace sparkops::facts {

/// What lets the tokens of one layer see each other.
enum class Mixer {
  none,  ///< a layer of Nemotron-H that holds a feed-forward network alone
  full_attention,
  sliding_attention,  ///< over Architecture::sliding_window tokens
  gated_delta_net,    ///< Qwen3-Next, Qwen3.5: a state of constant size for each sequence
  mamba2,             ///< likewise
  short_convolution,  ///< LFM2
};

enum class FeedForward { none, dense, experts, dense_and_experts };

/// One layer of the decoder. Widths of attention stand here, since they differ between the layers of one model
/// (Gemma-4: full layers have fewer and wider heads).
struct ModelLayer {
  Mixer mixer = Mixer::full_attention;
  FeedForward feed_forward = FeedForward::dense;
  std::int64_t query_heads = 0, key_value_heads = 0, head_dim = 0;  ///< 0 where the mixer is no attention
  bool reuses_key_value = false;  ///< Gemma-3n/4: takes K and V of an earlier layer; no cache of its own
  bool value_is_key = false;      ///< Gemma-4 full layers: one projection gives K and V
  std::int64_t intermediate = 0;  ///< of the dense part; 0 without one

  [[nodiscard]] bool attends() const { return mixer == Mixer::full_attention || mixer == Mixer::sliding_attention; }
};

/// Multi-head latent attention (DeepSeek-V2/V3, GLM-4.7-Flash, GLM-5). Cache per token and layer: key_value_rank +
/// rope_head_dim values.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: queries are projected directly
  std::int64_t key_value_rank = 0;
  std::int64_t rope_head_dim = 0, nope_head_dim = 0, value_head_dim = 0;
  std::int64_t indexer_heads = 0, indexer_head_dim = 0;  ///< sparse attention of DeepSeek-V3.2 and GLM-5; 0: none
};

/// A value for each expert that balances the router (DeepSeek-V3, GLM-4.5, Nemotron-3). Published totals count it where
/// the checkpoint stores it as a parameter; Nemotron holds a buffer: bytes, but no parameter.
enum class CorrectionBias { none, parameter, buffer };

/// A mixture of experts. All of them are loaded; a token uses `active` and the shared ones.
struct Experts {
  std::int64_t count = 0, active = 0;
  std::int64_t intermediate = 0;         ///< of one expert
  std::int64_t shared_intermediate = 0;  ///< of all shared experts together; 0: none
  std::int64_t latent = 0;               ///< width the experts work in (Nemotron-3-Super); 0: the hidden width
  bool shared_gate = false;              ///< Qwen: one weight vector scales the shared expert
  bool router_bias = false;              ///< a trained bias (gpt-oss)
  CorrectionBias correction_bias = CorrectionBias::none;
  bool biases = false;            ///< the experts' matrices have biases (gpt-oss)
  bool per_expert_scale = false;  ///< Gemma-4: `count` values, and one of the hidden width for the router
};

/// Gated DeltaNet. State per sequence and layer: value_heads · key_head_dim · value_head_dim values, usually fp32.
struct LinearAttention {
  std::int64_t key_heads = 0, value_heads = 0, key_head_dim = 0, value_head_dim = 0;
  std::int64_t convolution = 0;  ///< kernel width in tokens
};

/// Mamba2. State per sequence and layer: heads · head_dim · state values.
struct StateSpace {
  std::int64_t heads = 0, head_dim = 0, state = 0, groups = 0;
  std::int64_t convolution = 0;  ///< kernel width in tokens
};

/// Embeddings of every layer (Gemma-3n/4 E2B and E4B): a table of `vocabulary` × (layers · width).
struct PerLayerEmbedding {
  std::int64_t vocabulary = 0, width = 0;
};

/// A vision or audio tower with its projector, as far as its config tells. 0: not told.
struct Tower {
  enum class Kind { vision, audio };
  Kind kind = Kind::vision;
  std::string model_type;
  std::int64_t layers = 0, hidden = 0, intermediate = 0, heads = 0;
  std::int64_t patch = 0, temporal_patch = 1, channels = 3;  ///< pixels, frames
  std::int64_t positions = 0;                                ///< learned position embeddings
  std::int64_t merge = 1;                                    ///< patches joined along each side before the projector
  std::int64_t output = 0;                                   ///< width that the projector gives
  std::int64_t deepstack = 0;                                ///< further projectors into early decoder layers
  std::int64_t head_dim = 0;                                 ///< 0: hidden / heads
  std::int64_t convolution = 0;                              ///< kernel of an audio tower's depthwise convolution
  std::vector<std::int64_t> subsampling;                     ///< channels of an audio tower's input convolutions
  Known<std::int64_t> parameters;                            ///< when published or counted in headers
};

enum class QueryKeyNorm {
  none,
  per_head,    ///< head_dim weights each (Qwen3, Gemma-3)
  full_width,  ///< heads · head_dim weights (OLMo-2)
};

/// The numbers that decide a decoder's size, of a config.json or of knowledge/models.yaml. Plain numbers: an
/// Architecture exists only when all that its family needs was there. Widths count elements.
struct Architecture {
  std::string family;         ///< the config's model_type ("qwen3_moe"), "generic" when only widths were given
  bool family_known = false;  ///< false: counted as a Llama-like decoder; bounds must be wider
  std::int64_t hidden = 0, vocabulary = 0;
  std::vector<ModelLayer> layers;
  std::int64_t query_heads = 0, key_value_heads = 0, head_dim = 0;  ///< of most attention layers
  std::int64_t intermediate = 0;                                    ///< of most dense layers; 0: none
  bool tied_embeddings = false;
  std::int64_t sliding_window = 0;  ///< tokens; 0: none
  std::int64_t max_positions = 0;   ///< tokens; 0: not told

  Known<LatentAttention> latent;  ///< unknown("no latent attention") without
  Known<Experts> experts;         ///< likewise
  Known<LinearAttention> linear;  ///< likewise
  Known<StateSpace> state_space;  ///< likewise
  Known<PerLayerEmbedding> per_layer_embedding;
  std::vector<Tower> towers;
  std::int64_t next_token_layers = 0;  ///< MTP blocks on disk; transformers skips them

  bool gated_mlp = true;  ///< gate, up and down; false: up and down
  bool mlp_bias = false;
  bool query_key_value_bias = false, output_bias = false;  ///< of the attention projections
  bool attention_gate = false;  ///< Qwen3-Next, Qwen3.5: the query projection is twice as wide
  bool sinks = false;           ///< gpt-oss: one value for each query head
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  int norms_per_layer = 2;          ///< of the hidden width, those of the experts' path included
  bool norm_bias = false;           ///< LayerNorm with weight and bias
  bool wide_residual_fp32 = false;  ///< the family keeps its residual stream in fp32 by itself
  bool shared_layers_keep_key_value =
      false;                           ///< Gemma-4's files hold K and V also of layers that reuse those of others
  std::int64_t short_convolution = 0;  ///< LFM2: kernel width in tokens
  std::int64_t learned_positions = 0;  ///< GPT-2: a table of so many embeddings; 0: rotary positions
  std::int64_t residual_streams = 1;   ///< hyper-connections (DeepSeek-V4: 4)

  [[nodiscard]] std::int64_t count_layers(Mixer mixer) const;
  [[nodiscard]] std::int64_t count_attention_layers() const;
};

/// How quantised weights are stored. `method` as the config names it, `format` as everybody calls it.
struct ModelQuantization {
  std::string method;  ///< "bitsandbytes", "awq", "gptq", "fp8", "compressed-tensors", "modelopt", "mxfp4", "gguf"
  std::string format;  ///< "nf4", "int8", "int4", "fp8", "nvfp4", "mxfp4" … or the method where it does not tell
  Known<std::int64_t> weight_bits;  ///< of a weight alone: 4, 8
  Known<double> bits;               ///< stored for each weight, scales included: 4.127, 4.5
  Known<std::int64_t> group;        ///< weights that share a scale
  Known<bool> double_quantization;  ///< bitsandbytes
  Known<std::string> compute_dtype;
  std::vector<std::string> not_converted;  ///< modules that stay 16-bit, as the config lists them
};

/// Tensors of one element type.
struct DtypeTotal {
  std::int64_t tensors = 0, elements = 0;
  Bytes bytes;
};

/// The parts of a model by the names of its tensors.
enum class ModelPart { embedding, attention, linear_mixer, mlp, experts, router, norm, head, tower, next_token, other };
inline constexpr std::size_t k_model_parts = 11;

/// What the headers of the weight files say, without reading any weights. Exact.
struct TensorTotals {
  std::int64_t tensors = 0;
  std::int64_t files = 0;
  Bytes bytes;                                              ///< of all tensors
  Bytes file_bytes;                                         ///< of all files, headers included
  std::map<std::string, DtypeTotal, std::less<>> by_dtype;  ///< "BF16", "F8_E4M3", "U8", "Q4_K" …
  std::map<ModelPart, DtypeTotal> by_part;
  Bytes largest_tensor, largest_file;
  std::string largest_tensor_name;
  /// Elements when no format packs several weights into one element; else unknown with the reason.
  Known<std::int64_t> parameters;
};

/// A LoRA adapter's adapter_config.json.
struct AdapterConfig {
  std::string kind;  ///< peft_type: "LORA"
  Known<std::string> base_model;
  Known<std::int64_t> rank, alpha;
  Known<double> dropout;
  Known<std::vector<std::string>> targets, modules_to_save;
  Known<bool> uses_dora, uses_rslora;
};

/// A model as its files or knowledge describe it.
struct Model {
  std::string name;                ///< what the user named
  std::string where;               ///< the directory or file that was read; "knowledge/models.yaml" for a name
  std::vector<std::string> files;  ///< read (headers only, for weights)
  Known<Architecture> architecture;
  Known<std::string> dtype;  ///< the config's torch_dtype: "bfloat16"
  Known<ModelQuantization> quantization;
  Known<TensorTotals> tensors;
  Known<AdapterConfig> adapter;
  /// Total as published or as the headers add up; counting from the architecture is verdicts/memory/parameters.h.
  Known<std::int64_t> parameters;
  /// Contradictions and assumptions, each a sentence; any of them makes an estimate less sure.
  std::vector<std::string> doubts;
};

/// Reads a directory (config.json, *.safetensors with or without an index, adapter_config.json, *.gguf), one such file,
/// or a model of a Hugging Face cache (models--org--name, with or without snapshots/…). Of weights only the headers are
/// read. What is there and cannot be read makes its part unknown. Errors: not_found (no model there), malformed (a
/// weight file that was named itself, or nothing could be read).
[[nodiscard]] Result<Model> read_model(const Root& root, std::string_view path);

/// What a person names on this machine: a path, or a name that lies in the Hugging Face cache ("Qwen/Qwen3-8B").
/// Errors: as read_model; not_found for a name that lies nowhere (knowledge/models.yaml may know it).
[[nodiscard]] Result<Model> find_model(const std::string& path_or_name);

[[nodiscard]] std::string_view to_string(Mixer mixer);
[[nodiscard]] std::string_view to_string(ModelPart part);

}  // namespace sparkops::facts
