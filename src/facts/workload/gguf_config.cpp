#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/workload/gguf.h"

namespace sparkops::facts {

namespace {

struct Names {
  std::string_view gguf, transformers;
};

/// general.architecture and the model_type it is in transformers.
constexpr std::array<Names, 25> k_architectures = {{{"llama", "llama"},
                                                    {"mistral3", "ministral3"},
                                                    {"qwen2", "qwen2"},
                                                    {"qwen2moe", "qwen2_moe"},
                                                    {"qwen3", "qwen3"},
                                                    {"qwen3moe", "qwen3_moe"},
                                                    {"qwen3next", "qwen3_next"},
                                                    {"qwen35", "qwen3_5_text"},
                                                    {"qwen35moe", "qwen3_5_moe_text"},
                                                    {"gemma2", "gemma2"},
                                                    {"gemma3", "gemma3_text"},
                                                    {"gemma4", "gemma4_text"},
                                                    {"phi3", "phi3"},
                                                    {"olmo2", "olmo2"},
                                                    {"smollm3", "smollm3"},
                                                    {"glm4", "glm4"},
                                                    {"glm4moe", "glm4_moe"},
                                                    {"deepseek2", "deepseek_v3"},
                                                    {"gpt-oss", "gpt_oss"},
                                                    {"minimax-m2", "minimax_m2"},
                                                    {"ernie4_5-moe", "ernie4_5_moe"},
                                                    {"granitehybrid", "granitemoehybrid"},
                                                    {"nemotron_h", "nemotron_h"},
                                                    {"nemotron_h_moe", "nemotron_h"},
                                                    {"lfm2", "lfm2"}}};

/// Keys that mean the same as a field of config.json.
constexpr std::array<Names, 24> k_fields = {{{"embedding_length", "hidden_size"},
                                             {"block_count", "num_hidden_layers"},
                                             {"context_length", "max_position_embeddings"},
                                             {"attention.head_count", "num_attention_heads"},
                                             {"attention.sliding_window", "sliding_window"},
                                             {"expert_count", "num_experts"},
                                             {"expert_used_count", "num_experts_per_tok"},
                                             {"expert_feed_forward_length", "moe_intermediate_size"},
                                             {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
                                             {"expert_shared_count", "n_shared_experts"},
                                             {"leading_dense_block_count", "first_k_dense_replace"},
                                             {"attention.kv_lora_rank", "kv_lora_rank"},
                                             {"attention.q_lora_rank", "q_lora_rank"},
                                             {"attention.indexer.head_count", "index_n_heads"},
                                             {"attention.indexer.key_length", "index_head_dim"},
                                             {"full_attention_interval", "full_attention_interval"},
                                             {"shortconv.l_cache", "conv_L_cache"},
                                             {"nextn_predict_layers", "num_nextn_predict_layers"},
                                             {"attention.shared_kv_layers", "num_kv_shared_layers"},
                                             {"embedding_length_per_layer_input", "hidden_size_per_layer_input"},
                                             {"moe_latent_size", "moe_latent_size"},
                                             {"ssm.conv_kernel", "conv_kernel"},
                                             {"ssm.state_size", "ssm_state_size"},
                                             {"ssm.group_count", "n_groups"}}};

/// Puts the config together from the header's values.
class ConfigOfHeader {
 public:
  ConfigOfHeader(const GgufHeader& header, std::string architecture)
      : header_(header), architecture_(std::move(architecture)) {
    config_.kind = ConfigValue::Kind::map;
  }

  ConfigValue build() {
    const auto* const known = std::find_if(k_architectures.begin(), k_architectures.end(),
                                           [this](const Names& row) { return row.gguf == architecture_; });
    type_ = known == k_architectures.end() ? architecture_ : std::string(known->transformers);
    if (type_ == "llama" && number("expert_count") > 0) type_ = "mixtral";
    add("model_type", type_);
    for (const Names& field : k_fields)
      if (const auto value = text(field.gguf); !value.empty()) add(field.transformers, value);
    add_vocabulary();
    add_heads();
    add_widths();
    add_latent();
    add_recurrent();
    const bool head = std::any_of(header_.tensors.begin(), header_.tensors.end(),
                                  [](const GgufTensor& tensor) { return tensor.name == "output.weight"; });
    add("tie_word_embeddings", head ? "false" : "true");
    return std::move(config_);
  }

 private:
  void add(std::string_view key, std::string_view text) {
    ConfigValue value;
    value.kind = ConfigValue::Kind::scalar;
    value.scalar = std::string(text);
    config_.members.push_back({std::string(key), std::move(value)});
  }
  void add(std::string_view key, std::int64_t number) { add(key, std::to_string(number)); }
  void add_list(std::string_view key, const std::vector<std::string>& words) {
    ConfigValue list;
    list.kind = ConfigValue::Kind::sequence;
    for (const std::string& word : words) {
      ConfigValue item;
      item.kind = ConfigValue::Kind::scalar;
      item.scalar = word;
      list.items.push_back(std::move(item));
    }
    config_.members.push_back({std::string(key), std::move(list)});
  }

  [[nodiscard]] std::string key(std::string_view name) const { return architecture_ + "." + std::string(name); }
  /// A scalar, or the largest item of an array (one number for each layer).
  [[nodiscard]] std::string text(std::string_view name) const {
    if (const auto value = header_.values.find(key(name)); value != header_.values.end()) return value->second;
    const std::vector<std::int64_t> items = array(name);
    return items.empty() ? std::string() : std::to_string(*std::max_element(items.begin(), items.end()));
  }
  [[nodiscard]] std::int64_t number(std::string_view name) const { return parse_integer(text(name)).value_or(0); }
  [[nodiscard]] std::vector<std::int64_t> array(std::string_view name) const {
    const auto items = header_.arrays.find(key(name));
    return items == header_.arrays.end() ? std::vector<std::int64_t>() : items->second;
  }

  void add_vocabulary() {
    const std::int64_t stated = number("vocab_size");
    const auto tokens = header_.array_lengths.find("tokenizer.ggml.tokens");
    if (stated > 0)
      add("vocab_size", stated);
    else if (tokens != header_.array_lengths.end())
      add("vocab_size", static_cast<std::int64_t>(tokens->second));
  }

  void add_heads() {
    const std::int64_t sliding = number("attention.key_length_swa");
    const std::int64_t length = number("attention.key_length");
    if (sliding > 0) {
      add("head_dim", sliding);
      add("global_head_dim", length);
    } else if (length > 0 && number("attention.kv_lora_rank") == 0) {
      add("head_dim", length);
    }
    const std::vector<std::int64_t> heads = array("attention.head_count_kv");
    const std::vector<std::int64_t> slides = array("attention.sliding_window_pattern");
    if (const std::string most = text("attention.head_count_kv"); !most.empty()) add("num_key_value_heads", most);
    if (slides.empty() || slides.size() != heads.size()) return add_layer_kinds(heads);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < slides.size(); ++i) {
      words.emplace_back(slides[i] != 0 ? "sliding_attention" : "full_attention");
      if (slides[i] != 0) continue;
      add("num_global_key_value_heads", heads[i]);
    }
    add_list("layer_types", words);
  }

  /// 0 heads stand for a layer without attention.
  void add_layer_kinds(const std::vector<std::int64_t>& heads) {
    if (std::find(heads.begin(), heads.end(), 0) == heads.end()) return;
    const std::vector<std::int64_t> widths = array("feed_forward_length");
    if (type_ == "nemotron_h") {
      std::string pattern;
      for (std::size_t i = 0; i < heads.size(); ++i)
        pattern += heads[i] > 0                           ? '*'
                   : i >= widths.size() || widths[i] == 0 ? 'M'
                   : number("expert_count") > 0           ? 'E'
                                                          : '-';
      return add("hybrid_override_pattern", pattern);
    }
    std::vector<std::string> words;
    words.reserve(heads.size());
    for (const std::int64_t count : heads)
      words.emplace_back(count > 0 ? "full_attention" : type_ == "lfm2" ? "conv" : "mamba");
    add_list("layer_types", words);
  }

  void add_widths() {
    const std::int64_t width = number("feed_forward_length");
    if (width > 0) add(type_ == "granitemoehybrid" ? "shared_intermediate_size" : "intermediate_size", width);
    if (type_ == "mixtral" || type_ == "gpt_oss") return;
    if (number("expert_count") > 0 && number("expert_feed_forward_length") == 0 && width > 0)
      add("moe_intermediate_size", width);
    if (type_ == "gemma4_text" && number("expert_count") > 0) {
      add("enable_moe_block", "true");
      add("top_k_experts", text("expert_used_count"));
    }
  }

  void add_latent() {
    if (number("attention.kv_lora_rank") == 0) return;
    const bool mla = number("attention.key_length_mla") > 0;
    const std::int64_t rope = number("rope.dimension_count");
    add("qk_rope_head_dim", rope);
    add("qk_nope_head_dim", number(mla ? "attention.key_length_mla" : "attention.key_length") - rope);
    add("v_head_dim", number(mla ? "attention.value_length_mla" : "attention.value_length"));
  }

  void add_recurrent() {
    const std::int64_t heads = number("ssm.time_step_rank");
    const std::int64_t inner = number("ssm.inner_size");
    if (heads <= 0 || inner <= 0) return;
    if (!type_.starts_with("qwen3")) {
      add("mamba_num_heads", heads);
      add("mamba_head_dim", inner / heads);
      return;
    }
    add("linear_num_value_heads", heads);
    add("linear_value_head_dim", inner / heads);
    add("linear_num_key_heads", number("ssm.group_count"));
    add("linear_key_head_dim", number("ssm.state_size"));
    add("linear_conv_kernel_dim", number("ssm.conv_kernel"));
  }

  const GgufHeader& header_;
  std::string architecture_, type_;
  ConfigValue config_;
};

}  // namespace

Result<ConfigValue> config_of_gguf(const GgufHeader& header) {
  const auto architecture = header.values.find("general.architecture");
  if (architecture == header.values.end())
    return failure(ErrorKind::malformed, "the header names no general.architecture");
  return ConfigOfHeader(header, architecture->second).build();
}

Known<ModelQuantization> quantization_of_gguf(const TensorTotals& totals) {
  const auto largest = std::max_element(totals.by_dtype.begin(), totals.by_dtype.end(),
                                        [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  if (largest == totals.by_dtype.end()) return unknown("the file holds no tensors");
  constexpr double k_bits_of_byte = 8;
  ModelQuantization q;
  q.method = "gguf";
  q.format = to_lower(largest->first);
  const DtypeTotal& total = largest->second;
  if (total.elements > 0)
    q.bits = as_derived(k_bits_of_byte * static_cast<double>(total.bytes.value) / static_cast<double>(total.elements));
  else
    q.bits = unknown("the tensors hold no weights");
  q.weight_bits = unknown("GGUF blocks mix weights and scales");
  q.group = unknown("GGUF blocks have their own groups");
  q.double_quantization = unknown("a setting of bitsandbytes");
  q.compute_dtype = unknown("GGUF does not tell");
  return as_derived(std::move(q));
}

}  // namespace sparkops::facts
