#include "verdicts/memory/resolve_run.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

std::string word(double value) {
  return fmt::format("{:g}", value);
}
std::string word(bool value) {
  return value ? "yes" : "no";
}
std::string word(const std::string& value) {
  return printable(value, 80);
}
std::string word(const std::vector<std::string>& values) {
  return values.empty() ? "none" : printable(join(values, ","), 120);
}
std::string word(const Estimate& value) {
  return value.low < value.high ? fmt::format("{:g}..{:g}", value.low, value.high) : fmt::format("{:g}", value.value);
}
template <class Enum>
  requires std::is_enum_v<Enum>
std::string word(Enum value) {
  return std::string(to_string(value));
}

/// Chooses each value and notes where it comes from.
class Chooser {
 public:
  explicit Chooser(RunShape& run) : run_(run) {}

  /// Flag, else configuration, else `fallback` as a default.
  template <class T>
  T choose(const char* name, const std::optional<T>& flag, const Known<T>& config, T fallback) {
    if (flag) return note(name, *flag, {Origin::read, {}});
    if (config) return note(name, *config, config.provenance());
    return note(name, std::move(fallback), {Origin::default_value, {}});
  }
  template <class T>
  T choose(const char* name, const std::optional<T>& flag, T fallback) {
    return choose(name, flag, Known<T>(unknown("not said")), std::move(fallback));
  }

 private:
  template <class T>
  T note(const char* name, T value, Provenance provenance) {
    run_.inputs.push_back({name, word(value), std::move(provenance)});
    return value;
  }
  RunShape& run_;
};

Known<double> as_number(const Known<std::int64_t>& value) {
  if (!value) return value.as_unknown();
  return {static_cast<double>(*value), value.provenance()};
}

/// A value of a configuration in the words of the formulas.
template <class To, class From, class Function>
Known<To> translate(const Known<From>& value, Function function) {
  if (!value) return value.as_unknown();
  const std::optional<To> translated = function(*value);
  if (!translated) return unknown("no such word here");
  return {*translated, value.provenance()};
}

const facts::TrainingConfig& no_training() {
  static const facts::TrainingConfig k_none;
  return k_none;
}
const facts::ServerConfig& no_server() {
  static const facts::ServerConfig k_none;
  return k_none;
}

std::optional<RunMethod> method_of(facts::TrainingMethod method) {
  switch (method) {
    case facts::TrainingMethod::full: return RunMethod::full;
    case facts::TrainingMethod::lora: return RunMethod::lora;
    case facts::TrainingMethod::qlora: return RunMethod::qlora;
    case facts::TrainingMethod::nvfp4_lora: return RunMethod::nvfp4_lora;
  }
  return std::nullopt;
}

std::optional<RunObjective> objective_of(facts::Objective objective) {
  switch (objective) {
    case facts::Objective::dpo: return RunObjective::dpo;
    case facts::Objective::orpo: return RunObjective::orpo;
    case facts::Objective::kto: return RunObjective::kto;
    case facts::Objective::grpo:
    case facts::Objective::ppo: return RunObjective::grpo;
    case facts::Objective::pretraining:
    case facts::Objective::sft:
    case facts::Objective::reward: return RunObjective::sft;
  }
  return std::nullopt;
}

std::optional<LossMode> loss_of(facts::LossImplementation loss) {
  switch (loss) {
    case facts::LossImplementation::hf: return LossMode::hf;
    case facts::LossImplementation::hf_in_place: return LossMode::hf_in_place;
    case facts::LossImplementation::fast_ce_1: return LossMode::fast_ce_1;
    case facts::LossImplementation::fast_ce_2: return LossMode::fast_ce_2;
    case facts::LossImplementation::chunked: return LossMode::chunked;
    case facts::LossImplementation::liger: return LossMode::liger;
    case facts::LossImplementation::cut_cross_entropy: return LossMode::cut;
    case facts::LossImplementation::unsloth: return LossMode::unsloth;
  }
  return std::nullopt;
}

std::optional<CheckpointingMode> checkpointing_of(facts::GradientCheckpointing mode) {
  switch (mode) {
    case facts::GradientCheckpointing::none: return CheckpointingMode::none;
    case facts::GradientCheckpointing::full: return CheckpointingMode::full;
    case facts::GradientCheckpointing::unsloth: return CheckpointingMode::unsloth;
    case facts::GradientCheckpointing::selective: return CheckpointingMode::selective;
  }
  return std::nullopt;
}

std::optional<AttentionMode> attention_of(facts::AttentionImplementation attention) {
  switch (attention) {
    case facts::AttentionImplementation::flash: return AttentionMode::flash;
    case facts::AttentionImplementation::sdpa: return AttentionMode::sdpa;
    case facts::AttentionImplementation::eager: return AttentionMode::eager;
  }
  return std::nullopt;
}

std::optional<std::string> framework_of(facts::TrainingFramework framework) {
  switch (framework) {
    case facts::TrainingFramework::unsloth: return "unsloth";
    case facts::TrainingFramework::torchtune: return "torchtune";
    case facts::TrainingFramework::litgpt: return "litgpt";
    case facts::TrainingFramework::megatron: return "megatron";
    default: return "hf";
  }
}

std::optional<std::string> server_of(facts::ServerKind server) {
  switch (server) {
    case facts::ServerKind::vllm: return "vllm";
    case facts::ServerKind::sglang: return "sglang";
    case facts::ServerKind::llama_cpp:
    case facts::ServerKind::ollama:
    case facts::ServerKind::lm_studio: return "llama.cpp";
    default: return "server";
  }
}

/// What the model's own files say of its weights.
Known<WeightFormat> stored_format(const RunSources& sources) {
  if (sources.read_model == nullptr) return unknown("no model was read");
  const facts::Model& model = *sources.read_model;
  if (model.quantization) {
    const std::string format = to_lower(model.quantization->format);
    if (format == "int4") return as_read(WeightFormat::gptq_int4);
    if (const auto known = parse_weight_format(format)) return as_read(*known);
    if (model.quantization->method == "gguf") return as_read(WeightFormat::gguf);
  }
  if (!model.dtype) return model.dtype.as_unknown();
  if (contains(*model.dtype, "float32")) return as_read(WeightFormat::fp32);
  return as_read(WeightFormat::bf16);
}

WeightFormat default_weights(RunMethod method, const Known<WeightFormat>& stored) {
  if (method == RunMethod::qlora)
    return stored && *stored != WeightFormat::bf16 && *stored != WeightFormat::fp32 ? *stored : WeightFormat::nf4;
  if (method == RunMethod::nvfp4_lora) return WeightFormat::nvfp4;
  return stored ? *stored : WeightFormat::bf16;
}

bool keeps_adapters_in_16_bit(const std::string& framework) {
  return framework == "torchtune" || framework == "litgpt" || framework == "megatron" ||
         framework == "nvfp4-lora-spark";
}

LossMode default_loss(const std::string& framework) {
  if (framework == "unsloth") return LossMode::unsloth;
  if (framework == "torchtune" || framework == "litgpt") return LossMode::chunked;
  return LossMode::hf;
}

Result<void> check(const RunShape& run) {
  const auto wrong = [](std::string what) { return failure(ErrorKind::usage, std::move(what)); };
  if (run.method == RunMethod::full && run.weights != WeightFormat::bf16 && run.weights != WeightFormat::fp16 &&
      run.weights != WeightFormat::fp32)
    return wrong(fmt::format("--method full trains 16 or 32-bit weights, not {}", to_string(run.weights)));
  if (run.method == RunMethod::inference && run.parallel == ParallelMode::fsdp)
    return wrong("--fsdp is a way to train; for inference on two boxes say --tp or --pp");
  if (run.trains() && run.parallel == ParallelMode::tensor)
    return wrong("tensor-parallel training across two Sparks is no plan (G10): use --ddp, --fsdp or --pp");
  if (run.weights == WeightFormat::gguf && run.trains()) return wrong("GGUF weights are not trained");
  if (run.weights == WeightFormat::gguf && run.gguf_bits <= 0 && !run.checkpoint_bytes)
    return wrong("--weights gguf needs its mix (gguf:Q4_K_M) or the file");
  if (run.server_fraction && (*run.server_fraction <= 0 || *run.server_fraction > 1))
    return wrong("--server-fraction is above 0 and at most 1");
  return {};
}

void resolve_weights(const RunSources& sources, Chooser& chooser, RunShape& run) {
  const RunOverrides& flags = sources.overrides;
  const facts::TrainingConfig& training = sources.training != nullptr ? *sources.training : no_training();
  const facts::ServerConfig& server = sources.server != nullptr ? *sources.server : no_server();
  const Known<WeightFormat> stored = stored_format(sources);
  const auto parse = [](const std::string& text) { return parse_weight_format(to_lower(text)); };
  Known<WeightFormat> said = translate<WeightFormat>(training.weights ? training.weights : server.weights, parse);
  if (!said && run.method == RunMethod::inference) said = stored;
  run.weights = chooser.choose("weights", flags.weights, said, default_weights(run.method, stored));
  run.gguf_bits = flags.gguf_bits.value_or(0);
  run.checkpoint_bytes = flags.checkpoint_bytes;
  run.source_bytes = flags.source_bytes;
  if (sources.read_model != nullptr && sources.read_model->tensors) {
    const double bytes = static_cast<double>(sources.read_model->tensors->bytes.value);
    // The headers are exact for what the file holds; a run that quantises while loading ends up with less.
    if (!run.checkpoint_bytes && stored && *stored == run.weights) run.checkpoint_bytes = bytes;
    if (!run.source_bytes && stored && *stored != run.weights) run.source_bytes = bytes;
  }
  run.fp8_compute = flags.fp8_compute.value_or(false);
  run.fp32_master = flags.fp32_master.value_or(false);
  const bool kbit = run.method == RunMethod::qlora && run.framework == "hf";
  run.residual_fp32 = chooser.choose("residual-fp32", flags.residual_fp32, kbit);
}

void resolve_training(const RunSources& sources, Chooser& chooser, RunShape& run) {
  const RunOverrides& flags = sources.overrides;
  const facts::TrainingConfig& config = sources.training != nullptr ? *sources.training : no_training();
  run.objective = chooser.choose("objective", flags.objective, translate<RunObjective>(config.objective, objective_of),
                                 RunObjective::sft);
  run.optimizer = chooser.choose("optimizer", flags.optimizer, config.optimizer, std::string("adamw"));
  run.optimizer_in_backward =
      chooser.choose("optimizer-in-backward", flags.optimizer_in_backward, config.optimizer_in_backward, false);
  run.compiled = chooser.choose("compile", flags.compiled, config.compiles, false);
  run.checkpointing = chooser.choose("grad-checkpoint", flags.checkpointing,
                                     translate<CheckpointingMode>(config.checkpointing, checkpointing_of),
                                     run.framework == "unsloth" ? CheckpointingMode::unsloth : CheckpointingMode::full);
  run.activation_offload =
      chooser.choose("activation-offload", flags.activation_offload, config.activation_offload, false);
  run.loss = chooser.choose("loss", flags.loss, translate<LossMode>(config.loss, loss_of), default_loss(run.framework));
  run.gradient_accumulation =
      chooser.choose("grad-accum", flags.gradient_accumulation, as_number(config.gradient_accumulation), 1.0);
  run.steps = flags.steps.value_or(0);
  run.keeps_logits = flags.keeps_logits.value_or(run.framework == "nvfp4-lora-spark");
  run.cached_prefix = flags.cached_prefix.value_or(0);
  if (config.optimizer_offload && *config.optimizer_offload && !flags.optimizer) run.optimizer = "adamw-offload";
  if (!run.trains_adapters()) return;
  run.lora_rank = chooser.choose("lora-rank", flags.rank, as_number(config.lora_rank), 16.0);
  run.lora_targets =
      chooser.choose("lora-targets", flags.targets, config.lora_targets, std::vector<std::string>{"all-linear"});
  run.modules_to_save = chooser.choose("modules-to-save", flags.modules_to_save, config.modules_to_save, {});
  run.lora_dropout = flags.lora_dropout.value_or(config.lora_dropout && *config.lora_dropout > 0);
  run.adapter_bytes =
      chooser.choose("adapter-bytes", flags.adapter_bytes, keeps_adapters_in_16_bit(run.framework) ? 2.0 : 4.0);
  run.trainable_parameters = flags.trainable_parameters;
}

void resolve_serving(const RunSources& sources, Chooser& chooser, RunShape& run) {
  const RunOverrides& flags = sources.overrides;
  const facts::ServerConfig& config = sources.server != nullptr ? *sources.server : no_server();
  run.server_fraction = flags.server_fraction;
  if (!run.server_fraction && config.cap.fraction && *config.cap.fraction > 0) {
    run.server_fraction = *config.cap.fraction;
    run.inputs.push_back({"server-fraction", word(*run.server_fraction), config.cap.fraction.provenance()});
  }
  run.kv_bytes = flags.kv_bytes;
  if (!run.kv_bytes && config.cap.bytes) run.kv_bytes = static_cast<double>(config.cap.bytes->value);
  run.max_sequences = chooser.choose("max-seqs", flags.max_sequences, as_number(config.sequences), 1.0);
  run.batched_tokens = chooser.choose("batched-tokens", flags.batched_tokens, as_number(config.batched_tokens), 2048.0);
  const auto bytes = [](const std::string& text) { return cache_value_bytes(to_lower(text)); };
  run.kv_value_bytes =
      chooser.choose("kv-value-bytes", flags.kv_value_bytes, translate<double>(config.key_value_dtype, bytes), 2.0);
  run.cache = chooser.choose("cache", flags.cache, run.is_server() ? CacheMode::exact : CacheMode::dynamic);
  run.prompt = flags.prompt.value_or(0);
}

void resolve_shape(const RunSources& sources, Chooser& chooser, RunShape& run) {
  const RunOverrides& flags = sources.overrides;
  const facts::TrainingConfig& training = sources.training != nullptr ? *sources.training : no_training();
  const facts::ServerConfig& server = sources.server != nullptr ? *sources.server : no_server();
  run.batch = chooser.choose("batch", flags.batch, as_number(training.batch), 1.0);
  Known<Estimate> length = unknown("not said");
  const Known<std::int64_t>& said = training.sequence ? training.sequence : server.context;
  if (said) length = {exactly(static_cast<double>(*said)), said.provenance()};
  run.sequence = chooser.choose("sequence", flags.sequence, length, exactly(2048));
  run.attention = chooser.choose("attention", flags.attention,
                                 translate<AttentionMode>(training.attention, attention_of), AttentionMode::sdpa);
  const auto loader = [](const std::string& text) { return parse_loader(to_lower(text)); };
  const LoaderMode usual = run.framework == "llama.cpp" ? LoaderMode::llama_mmap : LoaderMode::unknown;
  run.loader = chooser.choose("loader", flags.loader,
                              translate<LoaderMode>(training.loader ? training.loader : server.loader, loader), usual);
  run.experts_known = flags.experts.has_value();
  run.experts = flags.experts.value_or(ExpertMode::grouped);
  run.expandable_segments = flags.expandable_segments.value_or(false);
  const facts::Parallelism& parallelism = sources.training != nullptr ? training.parallelism : server.parallelism;
  Known<double> nodes = unknown("not said");
  if (parallelism.nodes) nodes = {static_cast<double>(*parallelism.nodes), parallelism.nodes.provenance()};
  run.nodes = chooser.choose("nodes", flags.nodes, nodes, 1.0);
  run.parallel = flags.parallel.value_or(ParallelMode::none);
  if (run.nodes > 1 && run.parallel == ParallelMode::none)
    run.parallel = run.trains() ? ParallelMode::ddp : ParallelMode::tensor;
  if (flags.context_bytes) run.context_bytes = *flags.context_bytes;
}

}  // namespace

Result<RunShape> resolve_run(const RunSources& sources) {
  RunShape run;
  run.model = sources.model;
  run.pool_bytes = sources.pool_bytes;
  Chooser chooser(run);
  const RunOverrides& flags = sources.overrides;
  const facts::TrainingConfig& training = sources.training != nullptr ? *sources.training : no_training();
  Known<RunMethod> method = translate<RunMethod>(training.method, method_of);
  if (sources.training == nullptr && sources.server != nullptr) method = {RunMethod::inference, {Origin::derived, {}}};
  // A trainer that says nothing of adapters trains every weight.
  const RunMethod usual = sources.training != nullptr ? RunMethod::full : RunMethod::inference;
  run.method = chooser.choose("method", flags.method, method, usual);
  Known<std::string> framework = translate<std::string>(training.framework, framework_of);
  if (sources.server != nullptr && sources.training == nullptr)
    framework = translate<std::string>(sources.server->server, server_of);
  run.framework = chooser.choose("framework", flags.framework, framework, std::string("hf"));
  resolve_weights(sources, chooser, run);
  resolve_shape(sources, chooser, run);
  if (run.trains())
    resolve_training(sources, chooser, run);
  else
    resolve_serving(sources, chooser, run);
  if (const auto good = check(run); !good) return tl::unexpected(good.error());
  return run;
}

}  // namespace sparkops::verdicts
