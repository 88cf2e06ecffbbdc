#include "facts/workload/architecture_reader.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// For a model_type that is not known: a Llama-like decoder.
constexpr ModelFamily k_generic{
    "generic", BiasRule::by_config,         false, QueryKeyNorm::none, WindowRule::all_when_set,
    0,         ExpertRule::all_when_counted};

/// Where composite models keep their decoder.
constexpr std::array<std::string_view, 6> k_decoder_sections = {"text_config",    "llm_config", "language_config",
                                                                "thinker_config", "decoder",    "text_model"};

const ConfigValue& decoder_of(const ConfigValue& config) {
  for (const std::string_view section : k_decoder_sections) {
    const ConfigValue* const found = config.find(section);
    if (found != nullptr && found->kind == ConfigValue::Kind::map && !found->members.empty()) return decoder_of(*found);
  }
  return config;
}

/// A composite model and its decoder may both say whether the head shares the embedding; the outer one decides.
bool read_tied(const ConfigFields& whole, const ConfigFields& decoder, const ModelFamily& family,
               std::vector<std::string>& doubts) {
  if (const auto outer = whole.flag({"tie_word_embeddings", "tie_embedding"})) return *outer;
  if (const auto inner = decoder.flag({"tie_word_embeddings", "tie_embedding"})) return *inner;
  if (family.type == k_generic.type)
    doubts.emplace_back("the config does not say whether the output head shares the embedding; counted as separate");
  return family.tied_by_default;
}

void read_widths(const ConfigFields& fields, Architecture& a) {
  a.hidden = fields.required({"hidden_size", "n_embd", "d_model", "dim"}, k_most_width);
  a.vocabulary = fields.required({"vocab_size", "padded_vocab_size"}, k_most_vocabulary);
  a.query_heads = fields.required({"num_attention_heads", "n_head", "n_heads", "num_heads"}, k_most_heads);
  const auto key_value = fields.whole({"num_key_value_heads", "num_kv_heads", "multi_query_group_num"}, k_most_heads);
  a.key_value_heads = key_value.value_or(a.query_heads);
  const auto head = fields.whole({"head_dim", "kv_channels", "attention_head_dim"}, k_most_width);
  if (head) {
    a.head_dim = *head;
  } else if (a.query_heads > 0) {
    a.head_dim = a.hidden / a.query_heads;
    const bool latent = fields.has({"kv_lora_rank"});
    if (a.hidden % a.query_heads != 0 && !latent)
      fields.complain("hidden_size " + std::to_string(a.hidden) + " is not divisible by num_attention_heads " +
                      std::to_string(a.query_heads) + ", and there is no head_dim");
  }
  if (key_value && *key_value == 0) fields.complain("num_key_value_heads is 0");
  if (a.head_dim == 0 && a.query_heads > 0) fields.complain("head_dim is 0");
  if (a.key_value_heads > a.query_heads || (a.key_value_heads > 0 && a.query_heads % a.key_value_heads != 0))
    fields.complain("num_attention_heads " + std::to_string(a.query_heads) + " is no multiple of num_key_value_heads " +
                    std::to_string(a.key_value_heads));
  a.sliding_window = fields.whole({"sliding_window", "sliding_window_size"}, k_most_tokens).value_or(0);
  a.max_positions = fields.whole({"max_position_embeddings", "n_positions", "seq_length"}, k_most_tokens).value_or(0);
}

/// LFM2 writes a width that its class then shrinks to two thirds and rounds up.
std::int64_t adjusted_width(const ConfigFields& fields, std::int64_t width) {
  if (!fields.flag({"block_auto_adjust_ff_dim"}).value_or(false)) return width;
  const double multiplier = fields.number({"block_ffn_dim_multiplier"}).value_or(1.0);
  const std::int64_t multiple =
      std::max<std::int64_t>(1, fields.whole({"block_multiple_of"}, k_most_width).value_or(1));
  const auto shrunk = static_cast<std::int64_t>(multiplier * static_cast<double>(2 * width / 3));
  return (shrunk + multiple - 1) / multiple * multiple;
}

/// The width of dense layers. A mixture of experts may have none, then intermediate_size is not asked for.
void read_dense_width(const ConfigFields& fields, const ModelFamily& family, Architecture& a) {
  constexpr std::int64_t k_gpt2_factor = 4;
  if (family.type == "gpt2" && !fields.has({"n_inner"})) {
    a.intermediate = k_gpt2_factor * a.hidden;
    return;
  }
  if (family.type == "granitemoehybrid") {
    a.intermediate = fields.whole({"shared_intermediate_size"}, k_most_width).value_or(0);
    return;
  }
  const ConfigFields::Names names = {"intermediate_size", "ffn_hidden_size", "n_inner",
                                     "ffn_dim",           "block_ff_dim",    "d_ff"};
  if (fields.has(names))
    a.intermediate = adjusted_width(fields, fields.whole(names, k_most_width).value_or(0));
  else if (!a.experts)
    fields.complain("intermediate_size is missing");
}

void read_biases(const ConfigFields& fields, const ModelFamily& family, Architecture& a) {
  const bool asked = fields.flag({"attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias"}).value_or(false);
  a.query_key_value_bias = family.bias == BiasRule::query_key_value || family.bias == BiasRule::all ||
                           (family.bias != BiasRule::none && asked);
  a.output_bias = family.bias == BiasRule::all || (family.bias == BiasRule::by_config && asked);
  const bool always = family.type == "gpt2" || family.type == "gpt_neox";
  a.mlp_bias = always || fields.flag({"mlp_bias"}).value_or(false);
}

void read_traits(const ConfigFields& fields, const ModelFamily& family, Architecture& a) {
  a.gated_mlp = family.gated_mlp;
  a.norms_per_layer = family.norms_per_layer;
  a.norm_bias = family.norm_bias;
  a.query_key_norm = family.query_key_norm;
  const bool optional_norm = family.type == "glm4_moe" || family.type == "minimax_m2";
  if (optional_norm && fields.has({"use_qk_norm"}))
    a.query_key_norm = !fields.flag({"use_qk_norm"}).value_or(false) ? QueryKeyNorm::none
                       : family.type == "glm4_moe"                   ? QueryKeyNorm::per_head
                                                                     : QueryKeyNorm::full_width;
  a.attention_gate = family.type.starts_with("qwen3_next") || family.type.starts_with("qwen3_5");
  if (const auto gate = fields.flag({"attn_output_gate"})) a.attention_gate = *gate;
  a.sinks = family.type == "gpt_oss";
  if (family.type == "gpt2") a.learned_positions = a.max_positions;
  a.short_convolution = fields.whole({"conv_L_cache"}, k_most_heads).value_or(0);
  a.next_token_layers =
      fields.whole({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}, k_most_layers).value_or(0);
  a.residual_streams = std::max<std::int64_t>(1, fields.whole({"hc_mult"}, k_most_heads).value_or(1));
  const std::int64_t width = fields.whole({"hidden_size_per_layer_input"}, k_most_width).value_or(0);
  const auto table = fields.whole({"vocab_size_per_layer_input"}, k_most_vocabulary);
  a.per_layer_embedding = unknown("no embeddings of every layer");
  if (width > 0) a.per_layer_embedding = as_read(PerLayerEmbedding{table.value_or(a.vocabulary), width});
  a.shared_layers_keep_key_value = family.type.starts_with("gemma4");
}

Result<ArchitectureReading> refuse(const std::vector<std::string>& problems) {
  constexpr std::size_t k_shown = 6;
  std::vector<std::string> shown(problems.begin(), problems.begin() + std::min(problems.size(), k_shown));
  if (problems.size() > k_shown) shown.push_back(std::to_string(problems.size() - k_shown) + " more");
  return failure(ErrorKind::malformed, join(shown, "; "));
}

}  // namespace

Result<ArchitectureReading> read_architecture(const ConfigValue& config) {
  if (config.kind != ConfigValue::Kind::map) return failure(ErrorKind::malformed, "a config must be a map of fields");
  std::vector<std::string> problems;
  const ConfigValue& decoder = decoder_of(config);
  const ConfigFields whole(config, problems);
  const ConfigFields fields(decoder, problems);

  ArchitectureReading reading;
  Architecture& a = reading.architecture;
  a.family = fields.text({"model_type"});
  if (a.family.empty()) a.family = whole.text({"model_type"});
  const ModelFamily* family = find_family(a.family);
  a.family_known = family != nullptr;
  if (family == nullptr) {
    family = &k_generic;
    reading.doubts.push_back(a.family.empty() ? "the config names no model_type; counted as a Llama-like decoder"
                                              : "the architecture " + printable(a.family, 60) +
                                                    " is not known here; counted as a Llama-like decoder");
  }
  if (a.family.empty()) a.family = k_generic.type;
  const bool encoder = whole.flag({"is_encoder_decoder"}).value_or(false);
  if (encoder) return failure(ErrorKind::unsupported, "an encoder-decoder model (" + printable(a.family, 60) + ")");

  read_widths(fields, a);
  read_mixtures(fields, *family, a);
  read_dense_width(fields, *family, a);
  read_biases(fields, *family, a);
  read_traits(fields, *family, a);
  a.tied_embeddings = read_tied(whole, fields, *family, reading.doubts);
  if (problems.empty()) read_layers(fields, *family, a, reading.doubts);
  a.towers = read_towers(config, a.hidden, problems);
  if (!problems.empty()) return refuse(problems);
  return reading;
}

}  // namespace sparkops::facts
