#include "facts/workload/training_config.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "facts/workload/options.h"
#include "facts/workload/parallelism.h"
#include "facts/workload/training_keys.h"
#include "facts/workload/training_words.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_most_unknown_keys = 200;

std::string place(const Setting& setting) {
  return setting.where + ": " + printable(setting.key, 100) + " is \"" + printable(setting.value, 60) + "\"";
}

/// Turns settings into a configuration, one after the other.
class TrainingReader {
 public:
  TrainingConfig read(const std::vector<Setting>& settings) {
    clear();
    for (const Setting& setting : settings) take(setting);
    conclude();
    config_.parallelism = read_parallelism(settings);
    config_.framework = framework_of_settings(settings);
    // A config of Axolotl without an adapter trains everything.
    const bool axolotl = config_.framework && *config_.framework == TrainingFramework::axolotl;
    if (axolotl && !config_.method && config_.model && !four_bits_) config_.method = as_derived(TrainingMethod::full);
    return std::move(config_);
  }

 private:
  void clear() {
    const Unknown none = unknown("no setting says it");
    const auto forget = [&none](auto&... fields) { ((fields = none), ...); };
    forget(config_.framework, config_.model, config_.method, config_.objective, config_.weights, config_.dtype,
           config_.optimizer, config_.optimizer_in_backward, config_.optimizer_offload, config_.parameter_offload,
           config_.activation_offload, config_.batch, config_.sequence, config_.packing, config_.gradient_accumulation,
           config_.eval_batch, config_.generations, config_.prompt_length, config_.completion_length,
           config_.checkpointing, config_.attention, config_.loss, config_.compiles, config_.lora_rank,
           config_.lora_alpha, config_.lora_dropout, config_.lora_targets, config_.modules_to_save, config_.uses_dora,
           config_.loader, config_.dataset, config_.gpus_per_node);
  }

  void take(const Setting& setting) {
    const std::string key = without_positions(canonical_key(setting.key));
    const TrainingKey meaning = meaning_of_training_key(key);
    if (meaning == TrainingKey::irrelevant || setting.value.empty() || is_null(setting.value)) return;
    if (meaning == TrainingKey::unknown) {
      if (config_.unknown_keys.size() < k_most_unknown_keys) config_.unknown_keys.push_back(setting);
      return;
    }
    config_.used.push_back(setting);
    if (!take_number(meaning, setting) && !take_switch(meaning, setting) && !take_list(meaning, setting))
      take_word(meaning, setting, key);
  }

  void refuse(const Setting& setting, const std::string& why) {
    config_.not_read.push_back(place(setting) + ", " + why);
  }

  static constexpr std::int64_t k_most = std::int64_t{1} << 40;

  void set(Known<std::int64_t>& field, const Setting& setting, std::int64_t least) {
    const auto number = whole_number(setting.value);
    if (number && *number >= least && *number <= k_most) {
      field = as_read(std::int64_t{*number});
    } else if (to_lower(setting.value) != "auto") {
      field = unknown(place(setting) + ", no whole number from " + std::to_string(least));
      refuse(setting, "no whole number from " + std::to_string(least));
    }
  }

  bool take_number(TrainingKey meaning, const Setting& setting) {
    switch (meaning) {
      case TrainingKey::batch: set(config_.batch, setting, 1); return true;
      case TrainingKey::eval_batch: set(config_.eval_batch, setting, 1); return true;
      case TrainingKey::accumulation: set(config_.gradient_accumulation, setting, 1); return true;
      case TrainingKey::sequence: set(config_.sequence, setting, 1); return true;
      case TrainingKey::generations: set(config_.generations, setting, 1); return true;
      case TrainingKey::prompt_length: set(config_.prompt_length, setting, 1); return true;
      case TrainingKey::completion_length: set(config_.completion_length, setting, 1); return true;
      case TrainingKey::lora_rank:
        set(config_.lora_rank, setting, 1);
        adapter_ = true;
        return true;
      case TrainingKey::lora_alpha: set(config_.lora_alpha, setting, 0); return true;
      case TrainingKey::gpus: {
        Known<std::int64_t> number;
        set(number, setting, 1);
        if (number) config_.gpus_per_node = as_read(static_cast<int>(std::min<std::int64_t>(*number, 1 << 20)));
        return true;
      }
      case TrainingKey::packed_length: {
        Known<std::int64_t> length;
        set(length, setting, 0);
        if (length) config_.packing = as_derived(*length > 0);
        if (length && *length > 0) config_.sequence = length;
        return true;
      }
      case TrainingKey::lora_dropout: {
        const auto number = parse_number(setting.value);
        if (number && *number >= 0 && *number <= 1)
          config_.lora_dropout = as_read(double{*number});
        else
          refuse(setting, "no share from 0 to 1");
        return true;
      }
      default: return false;
    }
  }

  /// Offloading to a disk is the one kind that saves memory on a Spark.
  static bool is_disk(const Setting& setting) { return to_lower(trim(setting.value)) == "nvme"; }

  bool take_switch(TrainingKey meaning, const Setting& setting) {
    const bool on = is_on(setting.value);
    switch (meaning) {
      case TrainingKey::bf16:
        if (on) config_.dtype = as_read(std::string("bf16"));
        return true;
      case TrainingKey::fp16:
        if (on) config_.dtype = as_read(std::string("fp16"));
        return true;
      case TrainingKey::load_in_4bit: four_bits_ = on; return true;
      case TrainingKey::load_in_8bit: eight_bits_ = on; return true;
      case TrainingKey::double_quantization: double_quantization_ = on; return true;
      case TrainingKey::uses_adapter: adapter_ = on; return true;
      case TrainingKey::full_finetuning: full_ = on; return true;
      case TrainingKey::lora_all_linear:
        if (on) config_.lora_targets = as_derived(std::vector<std::string>{"all-linear"});
        return true;
      case TrainingKey::dora: config_.uses_dora = as_read(bool{on}); return true;
      case TrainingKey::packing: config_.packing = as_read(bool{on}); return true;
      case TrainingKey::no_checkpointing:
        if (on) config_.checkpointing = as_read(GradientCheckpointing::none);
        return true;
      case TrainingKey::activation_offload: config_.activation_offload = as_read(bool{on}); return true;
      case TrainingKey::optimizer_offload: config_.optimizer_offload = as_read(on && !is_disk(setting)); return true;
      case TrainingKey::parameter_offload: config_.parameter_offload = as_read(on && !is_disk(setting)); return true;
      case TrainingKey::flash:
        if (on) config_.attention = as_read(AttentionImplementation::flash);
        return true;
      case TrainingKey::sdpa:
        if (on) config_.attention = as_read(AttentionImplementation::sdpa);
        return true;
      case TrainingKey::eager:
        if (on) config_.attention = as_read(AttentionImplementation::eager);
        return true;
      case TrainingKey::liger:
        if (on) config_.loss = as_read(LossImplementation::liger);
        return true;
      case TrainingKey::cut_cross_entropy:
        if (on) config_.loss = as_read(LossImplementation::cut_cross_entropy);
        return true;
      case TrainingKey::chunked_cross_entropy:
        if (on) config_.loss = as_read(LossImplementation::chunked);
        return true;
      case TrainingKey::unsloth_cross_entropy:
        if (on) config_.loss = as_read(LossImplementation::unsloth);
        return true;
      case TrainingKey::compile: config_.compiles = as_read(bool{on}); return true;
      case TrainingKey::optimizer_in_backward: config_.optimizer_in_backward = as_read(bool{on}); return true;
      case TrainingKey::pretraining: config_.objective = as_derived(Objective::pretraining); return true;
      default: return false;
    }
  }

  /// "q_proj,v_proj" at once, or one word for each position; position 0 starts anew.
  void extend(Known<std::vector<std::string>>& field, const Setting& setting) {
    constexpr std::size_t k_most_words = 1000;
    const std::string key = canonical_key(setting.key);
    const std::size_t dot = key.rfind('.');
    const auto position = dot == std::string::npos ? std::nullopt : parse_integer(key.substr(dot + 1));
    std::vector<std::string> words;
    if (position && *position > 0 && field) words = *field;
    for (const std::string_view word : split(setting.value, ','))
      if (!trim(word).empty() && words.size() < k_most_words) words.emplace_back(trim(word));
    if (words.size() == 1 && (words[0] == "all" || words[0] == "all-linear")) words[0] = "all-linear";
    field = as_read(std::move(words));
  }

  bool take_list(TrainingKey meaning, const Setting& setting) {
    switch (meaning) {
      case TrainingKey::lora_targets:
        extend(config_.lora_targets, setting);
        adapter_ = adapter_ || !full_;
        return true;
      case TrainingKey::modules_to_save: extend(config_.modules_to_save, setting); return true;
      case TrainingKey::plugins:
        if (contains_ignoring_case(setting.value, "cut_cross_entropy"))
          config_.loss = as_derived(LossImplementation::cut_cross_entropy);
        return true;
      default: return false;
    }
  }

  void take_word(TrainingKey meaning, const Setting& setting, const std::string& key) {
    const std::string word = to_lower(trim(setting.value));
    switch (meaning) {
      case TrainingKey::model: config_.model = as_read(std::string(setting.value)); return;
      case TrainingKey::dataset:
        if (!config_.dataset) config_.dataset = as_read(std::string(setting.value));
        return;
      case TrainingKey::weights_dtype:
        if (const std::string format = dtype_word(word); !format.empty()) weights_ = format;
        return;
      case TrainingKey::compute_dtype:
        if (const std::string format = dtype_word(word); !format.empty()) config_.dtype = as_read(std::string(format));
        return;
      case TrainingKey::quantization_bits:
        four_bits_ = four_bits_ || word == "4";
        eight_bits_ = eight_bits_ || word == "8";
        return;
      case TrainingKey::quantization_kind: return;
      case TrainingKey::fp4_recipe: weights_ = contains(word, "mxfp4") ? "mxfp4" : "nvfp4"; return;
      case TrainingKey::adapter:
      case TrainingKey::finetuning_type:
        adapter_ = contains(word, "lora") || contains(word, "adalora");
        full_ = word == "full";
        four_bits_ = four_bits_ || word == "qlora";
        return;
      case TrainingKey::checkpointing: return take_checkpointing(word);
      case TrainingKey::attention:
        if (const auto kind = attention_word(word)) config_.attention = as_read(AttentionImplementation(*kind));
        return;
      case TrainingKey::loss_component:
        if (const auto kind = loss_word(word)) config_.loss = as_derived(LossImplementation(*kind));
        return;
      case TrainingKey::optimizer: config_.optimizer = as_read(optimizer_word(setting.value)); return;
      case TrainingKey::objective:
        if (const auto kind = objective_word(word)) config_.objective = as_read(Objective(*kind));
        return;
      case TrainingKey::framework_component:
        adapter_ = adapter_ || contains(word, "lora");
        four_bits_ = four_bits_ || contains(word, "qlora");
        if (!contains(word, "lora") && contains(key, "model._component_")) full_ = !adapter_;
        return;
      default: return;
    }
  }

  void take_checkpointing(const std::string& word) {
    if (word == "unsloth")
      config_.checkpointing = as_read(GradientCheckpointing::unsloth);
    else if (word == "selective")
      config_.checkpointing = as_read(GradientCheckpointing::selective);
    else
      config_.checkpointing = as_read(is_on(word) ? GradientCheckpointing::full : GradientCheckpointing::none);
    if (contains(word, "offload")) config_.activation_offload = as_derived(true);
  }

  /// bitsandbytes quantises its scales again in Axolotl, LLaMA-Factory and Unsloth unless told otherwise; its own
  /// default is not to.
  [[nodiscard]] bool quantises_twice() const {
    if (double_quantization_) return *double_quantization_;
    const bool own_default = std::any_of(config_.used.begin(), config_.used.end(), [](const Setting& setting) {
      return setting.key.starts_with("BitsAndBytesConfig.") || canonical_key(setting.key) == "use_peft";
    });
    return !own_default;
  }

  void conclude() {
    if (four_bits_)
      config_.weights = as_derived(std::string(quantises_twice() ? "nf4" : "nf4-single"));
    else if (eight_bits_)
      config_.weights = as_derived(std::string("int8"));
    else if (!weights_.empty())
      config_.weights = as_read(std::string(weights_));
    if (adapter_ && !full_)
      config_.method = as_derived(four_bits_            ? TrainingMethod::qlora
                                  : weights_ == "nvfp4" ? TrainingMethod::nvfp4_lora
                                                        : TrainingMethod::lora);
    else if (full_)
      config_.method = as_derived(TrainingMethod::full);
  }

  TrainingConfig config_;
  std::string weights_;
  bool four_bits_ = false, eight_bits_ = false, adapter_ = false, full_ = false;
  std::optional<bool> double_quantization_;
};

}  // namespace

TrainingConfig read_training_settings(const std::vector<Setting>& settings) {
  return TrainingReader().read(settings);
}

}  // namespace sparkops::facts
