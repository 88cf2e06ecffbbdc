#include "facts/workload/python_training.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/workload/options.h"
#include "facts/workload/training_keys.h"

namespace sparkops::facts {

namespace {

/// Classes whose keyword arguments are settings, and the objective that they tell.
struct SettingsClass {
  std::string_view name;
  std::string_view objective;
};
constexpr std::array<SettingsClass, 24> k_classes = {{{"SFTConfig", "sft"},
                                                      {"SFTTrainer", "sft"},
                                                      {"DPOConfig", "dpo"},
                                                      {"DPOTrainer", "dpo"},
                                                      {"ORPOConfig", "orpo"},
                                                      {"ORPOTrainer", "orpo"},
                                                      {"KTOConfig", "kto"},
                                                      {"KTOTrainer", "kto"},
                                                      {"GRPOConfig", "grpo"},
                                                      {"GRPOTrainer", "grpo"},
                                                      {"CPOConfig", "dpo"},
                                                      {"CPOTrainer", "dpo"},
                                                      {"RewardConfig", "reward"},
                                                      {"RewardTrainer", "reward"},
                                                      {"PPOConfig", "ppo"},
                                                      {"TrainingArguments", ""},
                                                      {"Seq2SeqTrainingArguments", ""},
                                                      {"UnslothTrainingArguments", ""},
                                                      {"UnslothTrainer", ""},
                                                      {"Trainer", ""},
                                                      {"Seq2SeqTrainer", ""},
                                                      {"LoraConfig", ""},
                                                      {"BitsAndBytesConfig", ""},
                                                      {"prepare_model_for_kbit_training", ""}}};

const SettingsClass* find_class(std::string_view name) {
  const auto* const found =
      std::find_if(k_classes.begin(), k_classes.end(), [name](const SettingsClass& row) { return row.name == name; });
  return found == k_classes.end() ? nullptr : found;
}

/// AutoModelForCausalLM, FastLanguageModel, Qwen3ForCausalLM …; not AutoTokenizer, AutoProcessor, AutoConfig,
/// PeftModel.
bool loads_model(const PythonCall& call) {
  if (call.last_name() != "from_pretrained") return false;
  const std::string_view name = call.name;
  const std::string_view receiver = name.substr(0, name.size() - call.last_name().size());
  const bool model = contains(receiver, "AutoModel") || contains(receiver, "Fast") ||
                     contains(receiver, "ForCausalLM") || contains(receiver, "ForConditionalGeneration") ||
                     contains(receiver, "NeMoAuto");
  return model && !contains(receiver, "Peft");
}

bool is_optimizer(const PythonCall& call) {
  return contains(call.name, "optim.") && !contains(call.name, "lr_scheduler") && call.name != "optim.Optimizer";
}

bool is_wanted(const PythonCall& call) {
  const std::string_view name = call.last_name();
  return find_class(name) != nullptr || loads_model(call) || name == "get_peft_model" || name == "load_dataset" ||
         name == "gradient_checkpointing_enable" || call.name == "torch.compile" || call.name == "LLM" ||
         call.name == "vllm.LLM" || is_optimizer(call);
}

class PythonTraining {
 public:
  PythonTraining(const PythonScript& script, std::string file) : script_(script), file_(std::move(file)) {}

  PythonSettings read() {
    for (const PythonCall& call : script_.calls) take(call);
    conclude();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string where(int line) const { return file_ + ":" + std::to_string(line); }
  void add(const std::string& key, std::string value, int line) {
    result_.training.push_back({key, std::move(value), where(line)});
  }

  void take(const PythonCall& call) {
    const std::string name(call.last_name());
    if (call.name == "LLM" || call.name == "vllm.LLM") return take_engine(call);
    if (loads_model(call)) {
      loads_ = true;
      is_unsloth_ = is_unsloth_ || contains(call.name, "Fast");
      take_first(call, call.name + ".model_name");
      return take_arguments(call, call.name);
    }
    if (name == "load_dataset") return take_first(call, "dataset_name");
    if (name == "gradient_checkpointing_enable") return add("gradient_checkpointing", "true", call.line);
    if (call.name == "torch.compile") return add("torch_compile", "true", call.line);
    if (is_optimizer(call)) return add("optimizer", call.name, call.line);
    if (name == "get_peft_model" || name == "LoraConfig") {
      adapts_ = true;
      add("uses_adapter", "true", call.line);
    }
    if (const SettingsClass* const row = find_class(name); row != nullptr) {
      trains_ = trains_ || name.ends_with("Trainer") || name.ends_with("Arguments") || !row->objective.empty();
      if (!row->objective.empty()) add("stage", std::string(row->objective), call.line);
    }
    take_arguments(call, name);
  }

  /// The first argument by position.
  void take_first(const PythonCall& call, const std::string& key) {
    if (call.arguments.empty() || !call.arguments.front().keyword.empty()) return;
    take_value(call.arguments.front(), key);
  }

  void take_arguments(const PythonCall& call, const std::string& prefix) {
    for (const PythonArgument& argument : call.arguments)
      if (!argument.keyword.empty()) take_value(argument, prefix + "." + argument.keyword);
  }

  void take_value(const PythonArgument& argument, const std::string& key) {
    if (!argument.cannot_tell.empty()) {
      const TrainingKey meaning = meaning_of_training_key(without_positions(canonical_key(key)));
      constexpr std::size_t k_most_notes = 200;
      if (meaning != TrainingKey::irrelevant && meaning != TrainingKey::unknown &&
          result_.not_read.size() < k_most_notes)
        result_.not_read.push_back(where(argument.line) + ": " + key + " is " + argument.cannot_tell);
      return;
    }
    std::vector<Setting> settings;
    append_settings(argument.value, file_, settings);
    for (Setting& setting : settings) {
      setting.key = setting.key.empty() ? key : key + "." + setting.key;
      setting.where = where(argument.line);
      result_.training.push_back(std::move(setting));
    }
  }

  void take_engine(const PythonCall& call) {
    for (const PythonArgument& argument : call.arguments) {
      if (!argument.cannot_tell.empty() || argument.value.kind != ConfigValue::Kind::scalar) continue;
      const std::string key = argument.keyword.empty() ? "model" : argument.keyword;
      result_.server.push_back({key, argument.value.scalar, where(argument.line)});
    }
  }

  void conclude() {
    if (!trains_ && !(loads_ && adapts_)) {
      result_.training.clear();
      return;
    }
    const auto says = [this](std::string_view key) {
      return std::any_of(result_.training.begin(), result_.training.end(),
                         [key](const Setting& setting) { return setting.key.ends_with(key); });
    };
    // Unsloth loads in 4 bits unless told otherwise (unsloth, FastLanguageModel.from_pretrained).
    if (is_unsloth_ && !says("load_in_4bit") && !says("load_in_8bit") && !says("full_finetuning"))
      result_.training.push_back({"load_in_4bit", "true", file_ + " (default of Unsloth)"});
    const bool may_adapt =
        std::find(script_.imports.begin(), script_.imports.end(), "peft") != script_.imports.end() || is_unsloth_;
    if (loads_ && trains_ && !adapts_ && !may_adapt && !says("full_finetuning"))
      result_.training.push_back({"full_finetuning", "true", file_ + " (no adapter in it)"});
  }

  const PythonScript& script_;
  std::string file_;
  PythonSettings result_;
  bool loads_ = false, trains_ = false, adapts_ = false, is_unsloth_ = false;
};

}  // namespace

Result<PythonSettings> read_python_settings(std::string_view source, const std::string& file,
                                            const PythonNames& known) {
  auto script = read_python(source, is_wanted, known);
  if (!script) return failure(script.error().kind, file + ": " + script.error().message);
  return PythonTraining(*script, file).read();
}

}  // namespace sparkops::facts
