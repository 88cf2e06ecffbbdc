#include "facts/workload/tensor_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// What a word between the dots of a name tells.
enum class Word {
  nothing,
  tower,
  tower_at_start,  ///< GGUF's "v"
  embedding,
  head_at_start,
  next_token,
  layers,  ///< a number comes next
  attention,
  linear_mixer,
  mixer,  ///< Nemotron-H calls every block so: what stands below decides
  mlp,
  experts,
  gate,  ///< the router, below an mlp
  router,
};

struct Row {
  std::string_view text;
  Word word;
};

/// Sorted, so that a word is found by its first letters.
constexpr std::array k_words = {
    Row{"attention", Word::attention},
    Row{"attn", Word::attention},
    Row{"audio_model", Word::tower},
    Row{"audio_tower", Word::tower},
    Row{"block_sparse_moe", Word::mlp},
    Row{"conv", Word::linear_mixer},
    Row{"down_proj", Word::mlp},
    Row{"e_score_correction_bias", Word::router},
    Row{"eh_proj", Word::next_token},
    Row{"embed_audio", Word::tower},
    Row{"embed_in", Word::embedding},
    Row{"embed_out", Word::head_at_start},
    Row{"embed_tokens", Word::embedding},
    Row{"embed_tokens_per_layer", Word::embedding},
    Row{"embed_vision", Word::tower},
    Row{"embeddings", Word::embedding},
    Row{"enorm", Word::next_token},
    Row{"experts", Word::experts},
    Row{"fc1_latent_proj", Word::mlp},
    Row{"fc2_latent_proj", Word::mlp},
    Row{"feed_forward", Word::mlp},
    Row{"ffn", Word::mlp},
    Row{"gate", Word::gate},
    Row{"gate_proj", Word::mlp},
    Row{"h", Word::layers},
    Row{"hnorm", Word::next_token},
    Row{"k_proj", Word::attention},
    Row{"layers", Word::layers},
    Row{"linear_attn", Word::linear_mixer},
    Row{"lm_head", Word::head_at_start},
    Row{"mamba", Word::linear_mixer},
    Row{"mixer", Word::mixer},
    Row{"mlp", Word::mlp},
    Row{"mlp1", Word::tower},
    Row{"mm_projector", Word::tower},
    Row{"moe", Word::mlp},
    Row{"mtp", Word::next_token},
    Row{"multi_modal_projector", Word::tower},
    Row{"o_proj", Word::attention},
    Row{"output", Word::head_at_start},
    Row{"output_layer", Word::head_at_start},
    Row{"per_layer_token_embd", Word::embedding},
    Row{"q_proj", Word::attention},
    Row{"qkv_proj", Word::attention},
    Row{"router", Word::router},
    Row{"self_attention", Word::attention},
    Row{"self_attn", Word::attention},
    Row{"shared_expert", Word::mlp},
    Row{"shared_expert_gate", Word::mlp},
    Row{"shared_experts", Word::mlp},
    Row{"shared_head", Word::next_token},
    Row{"shared_mlp", Word::mlp},
    Row{"short_conv", Word::linear_mixer},
    Row{"sound_encoder", Word::tower},
    Row{"tok_embeddings", Word::embedding},
    Row{"token_embd", Word::embedding},
    Row{"up_proj", Word::mlp},
    Row{"v", Word::tower_at_start},
    Row{"v_proj", Word::attention},
    Row{"vision_embedder", Word::tower},
    Row{"vision_encoder", Word::tower},
    Row{"vision_model", Word::tower},
    Row{"vision_projection", Word::tower},
    Row{"vision_tower", Word::tower},
    Row{"visual", Word::tower},
    Row{"word_embeddings", Word::embedding},
    Row{"wpe", Word::embedding},
    Row{"wte", Word::embedding},
};
static_assert(std::is_sorted(k_words.begin(), k_words.end(),
                             [](const Row& a, const Row& b) { return a.text < b.text; }));

/// Where the words with each first letter begin. A checkpoint has a hundred thousand names of ten words each.
constexpr std::size_t k_letters = 256;
constexpr std::array<std::uint8_t, k_letters + 1> k_first = [] {
  std::array<std::uint8_t, k_letters + 1> first{};
  for (std::size_t letter = 0; letter <= k_letters; ++letter) {
    std::size_t at = 0;
    while (at < k_words.size() && static_cast<unsigned char>(k_words[at].text[0]) < letter) ++at;
    first[letter] = static_cast<std::uint8_t>(at);
  }
  return first;
}();

Word meaning_of(std::string_view word) {
  if (word.empty()) return Word::nothing;
  const auto letter = static_cast<unsigned char>(word[0]);
  for (std::size_t i = k_first[letter]; i < k_first[letter + std::size_t{1}]; ++i)
    if (k_words[i].text == word) return k_words[i].word;
  return Word::nothing;
}

/// The words of a name between its dots, looked at one after the other.
struct Words {
  std::string_view rest;
  [[nodiscard]] std::string_view next() {
    const std::size_t dot = rest.find('.');
    const std::string_view word = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    return word;
  }
};

/// GGUF writes "blk.3.ffn_gate_exps.weight": what transformers says in two words stands in one.
ModelPart part_of_gguf_word(std::string_view word) {
  if (word.starts_with("ffn_") && word.find("exps") != std::string_view::npos) return ModelPart::experts;
  if (word == "ffn_gate_inp" || word == "exp_probs_b") return ModelPart::router;
  if (word.starts_with("nextn")) return ModelPart::next_token;
  if (word.find("norm") != std::string_view::npos) return ModelPart::norm;
  if (word.starts_with("ffn_")) return ModelPart::mlp;
  if (word.starts_with("attn_") || word.starts_with("indexer")) return ModelPart::attention;
  if (word.starts_with("ssm_") || word.starts_with("shortconv")) return ModelPart::linear_mixer;
  return ModelPart::other;
}

bool is_norm(std::string_view word) {
  return word.starts_with("ln_") || word.find("norm") != std::string_view::npos;
}

bool is_layer_behind(std::string_view number, std::int64_t decoder_layers) {
  const auto layer = parse_integer(number);
  return layer && decoder_layers > 0 && *layer >= decoder_layers;
}

}  // namespace

ModelPart part_of_tensor(std::string_view name, std::int64_t decoder_layers) {
  Words words{name};
  ModelPart part = ModelPart::other;
  bool inside_mlp = false;
  for (bool first = true; !words.rest.empty(); first = false) {
    const std::string_view word = words.next();
    if (first && word == "blk") {
      (void)words.next();
      return part_of_gguf_word(words.next());
    }
    switch (meaning_of(word)) {
      case Word::tower: return ModelPart::tower;
      case Word::tower_at_start:
        if (first) return ModelPart::tower;
        break;
      case Word::embedding: return ModelPart::embedding;
      case Word::head_at_start:
        if (first) return ModelPart::head;
        break;
      case Word::next_token: return ModelPart::next_token;
      case Word::layers:
        if (is_layer_behind(words.next(), decoder_layers)) return ModelPart::next_token;
        break;
      case Word::experts: return ModelPart::experts;
      case Word::router: return ModelPart::router;
      case Word::gate:
        if (inside_mlp) return ModelPart::router;
        break;
      case Word::attention: part = ModelPart::attention; break;
      case Word::linear_mixer: part = ModelPart::linear_mixer; break;
      case Word::mixer:
        part = ModelPart::linear_mixer;
        inside_mlp = true;
        break;
      case Word::mlp:
        part = ModelPart::mlp;
        inside_mlp = true;
        break;
      case Word::nothing:
        if (part == ModelPart::other && is_norm(word)) part = ModelPart::norm;
        break;
    }
  }
  return part;
}

bool is_quantization_helper(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (last == "weight" || last == "bias") return false;
  constexpr std::array<std::string_view, 17> k_exact = {"qzeros",        "scales",
                                                        "g_idx",         "absmax",
                                                        "quant_map",     "SCB",
                                                        "zeros",         "weight_shape",
                                                        "weight_g_idx",  "weight_zero_point",
                                                        "nested_absmax", "nested_quant_map",
                                                        "k_scale",       "v_scale",
                                                        "q_scale",       "activation_scale",
                                                        "weight_format"};
  if (std::find(k_exact.begin(), k_exact.end(), last) != k_exact.end()) return true;
  // Not every scale: Gemma-4's per_expert_scale is trained.
  for (const std::string_view part : {"weight_scale", "input_scale", "output_scale", "global_scale", "_scale_inv"})
    if (last.find(part) != std::string_view::npos) return true;
  return last.ends_with("_scales") || last.ends_with("proj_scale") || last.starts_with("bitsandbytes__");
}

}  // namespace sparkops::facts
