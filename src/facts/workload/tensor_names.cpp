#include "facts/workload/tensor_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sparkops::facts {

namespace {

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 15> k_tower = {"visual",
                                                      "vision_tower",
                                                      "vision_model",
                                                      "vision_embedder",
                                                      "audio_tower",
                                                      "audio_model",
                                                      "sound_encoder",
                                                      "embed_vision",
                                                      "embed_audio",
                                                      "multi_modal_projector",
                                                      "mm_projector",
                                                      "vision_encoder",
                                                      "vision_projection",
                                                      "mlp1",
                                                      "v"};
constexpr std::array<std::string_view, 10> k_embedding = {"embed_tokens",
                                                          "wte",
                                                          "wpe",
                                                          "tok_embeddings",
                                                          "word_embeddings",
                                                          "embed_in",
                                                          "token_embd",
                                                          "embed_tokens_per_layer",
                                                          "embeddings",
                                                          "per_layer_token_embd"};
constexpr std::array<std::string_view, 4> k_head = {"lm_head", "output", "embed_out", "output_layer"};
constexpr std::array<std::string_view, 6> k_next_token = {"mtp", "eh_proj", "enorm", "hnorm", "shared_head", "nextn"};
constexpr std::array<std::string_view, 4> k_attention = {"self_attn", "attention", "attn", "self_attention"};
constexpr std::array<std::string_view, 7> k_attention_matrix = {"q_proj",   "k_proj", "v_proj",     "o_proj",
                                                                "qkv_proj", "attn_q", "attn_output"};
constexpr std::array<std::string_view, 5> k_linear = {"linear_attn", "mamba", "conv", "short_conv", "mixer"};
constexpr std::array<std::string_view, 7> k_mlp = {
    "mlp", "feed_forward", "ffn", "shared_mlp", "shared_experts", "shared_expert", "shared_expert_gate"};
constexpr std::array<std::string_view, 5> k_mlp_matrix = {"up_proj", "down_proj", "gate_proj", "fc1_latent_proj",
                                                          "fc2_latent_proj"};

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

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

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

bool is_norm_word(std::string_view word) {
  return word.find("norm") != std::string_view::npos || word.starts_with("ln_");
}

/// What was seen so far, the more telling overriding the less.
class Classifier {
 public:
  void see(std::string_view word) {
    if (part_ == ModelPart::experts) return;  // nothing below changes that, but an MTP block may stand above
    if (word == "experts") return settle(ModelPart::experts);
    if (word == "router" || (word == "gate" && inside_mlp_)) return settle(ModelPart::router);
    if (word == "e_score_correction_bias") return settle(ModelPart::router);
    if (is_one_of(word, k_attention_matrix)) return settle(ModelPart::attention);
    if (is_one_of(word, k_mlp_matrix)) return settle(ModelPart::mlp);
    if (is_one_of(word, k_mlp) || word == "block_sparse_moe" || word == "moe") {
      inside_mlp_ = true;
      return settle(ModelPart::mlp);
    }
    if (is_one_of(word, k_linear)) {
      inside_mlp_ = word == "mixer";
      return settle(ModelPart::linear_mixer);
    }
    if (is_one_of(word, k_attention)) return settle(ModelPart::attention);
    if (is_norm_word(word) && part_ == ModelPart::other) settle(ModelPart::norm);
  }
  [[nodiscard]] ModelPart part() const { return part_; }

 private:
  void settle(ModelPart part) { part_ = part; }
  ModelPart part_ = ModelPart::other;
  bool inside_mlp_ = false;
};

}  // namespace

ModelPart part_of_tensor(std::string_view name, std::int64_t decoder_layers) {
  Words words{name};
  Classifier classifier;
  bool first = true, after_layers = false;
  while (!words.rest.empty()) {
    const std::string_view word = words.next();
    if (first && word == "blk") {
      (void)words.next();
      return part_of_gguf_word(words.next());
    }
    if (is_one_of(word, k_next_token)) return ModelPart::next_token;
    if (is_one_of(word, k_tower) && (word.size() > 1 || first)) return ModelPart::tower;
    if (after_layers && decoder_layers > 0 && is_number(word)) {
      const auto layer = parse_integer(word);
      if (layer && *layer >= decoder_layers) return ModelPart::next_token;
    }
    after_layers = word == "layers" || word == "h";
    if (is_one_of(word, k_embedding)) return ModelPart::embedding;
    if (first && is_one_of(word, k_head)) return ModelPart::head;
    classifier.see(word);
    first = false;
  }
  return classifier.part();
}

bool is_quantization_helper(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  constexpr std::array<std::string_view, 12> k_exact = {
      "qzeros", "scales",       "g_idx",         "absmax",           "quant_map",         "SCB",
      "zeros",  "weight_shape", "nested_absmax", "nested_quant_map", "weight_zero_point", "weight_g_idx"};
  if (is_one_of(last, k_exact)) return true;
  return last.find("_scale") != std::string_view::npos || last.starts_with("quant_state") ||
         last.ends_with("weight_format");
}

}  // namespace sparkops::facts
