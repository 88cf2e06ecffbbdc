#include "commands/plan_options.h"

#include <cmath>

#include "base/quantities.h"
#include "base/text.h"

namespace sparkops::commands {

namespace {

using verdicts::Estimate;
using verdicts::ParallelMode;
using verdicts::RunOverrides;
using verdicts::WeightFormat;

/// More than any model or run has; keeps products finite and honest.
constexpr double k_most_parameters = 1e14, k_most_count = 1e9;

tl::unexpected<Error> wrong(std::string_view option, std::string_view value, const std::string& wanted) {
  return failure(ErrorKind::usage,
                 std::string(option) + ": '" + printable(value, 60) + "' is not what it takes: " + wanted);
}

/// Reads options into overrides and remembers the first error.
class Reader {
 public:
  explicit Reader(const Arguments& arguments) : arguments_(arguments) {}

  template <class T, class Parse>
  void words(std::string_view option, std::optional<T>& into, Parse parse, const std::string& wanted) {
    if (failed() || !arguments_.has(option)) return;
    const std::string value = to_lower(arguments_.value(option));
    const auto parsed = parse(value);
    if (parsed)
      into = *parsed;
    else
      error_ = wrong(option, value, wanted).value();
  }
  void number(std::string_view option, std::optional<double>& into, double least, double most = k_most_count) {
    if (failed() || !arguments_.has(option)) return;
    const std::string value = arguments_.value(option);
    const auto parsed = parse_number(value);
    if (parsed && *parsed >= least && *parsed <= most)
      into = *parsed;
    else
      error_ = wrong(option, value, fmt_range(least, most)).value();
  }
  void count(std::string_view option, std::optional<double>& into, double least = 1, double most = k_most_count) {
    number(option, into, least, most);
    if (!failed() && into && *into != std::floor(*into))
      error_ = wrong(option, arguments_.value(option), "a whole number").value();
  }
  void size(std::string_view option, std::optional<double>& into) {
    if (failed() || !arguments_.has(option)) return;
    const auto parsed = parse_size(arguments_.value(option));
    if (!parsed)
      error_ = Error{ErrorKind::usage, std::string(option) + ": " + parsed.error().message};
    else if (parsed->value < 0)
      error_ = wrong(option, arguments_.value(option), "a size that is not negative").value();
    else
      into = static_cast<double>(parsed->value);
  }
  void flag(std::string_view option, std::optional<bool>& into) {
    if (arguments_.has(option)) into = true;
  }
  void text(std::string_view option, std::optional<std::string>& into) {
    if (arguments_.has(option)) into = to_lower(arguments_.value(option));
  }
  void list(std::string_view option, std::optional<std::vector<std::string>>& into) {
    if (!arguments_.has(option)) return;
    std::vector<std::string> values;
    for (const std::string& each : arguments_.values(option))
      for (const std::string_view piece : split(each, ','))
        if (!trim(piece).empty()) values.emplace_back(trim(piece));
    into = std::move(values);
  }
  void fail(Error error) {
    if (!failed()) error_ = std::move(error);
  }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  static std::string fmt_range(double least, double most) {
    std::string text = "a number from " + std::to_string(static_cast<long long>(least));
    if (most < k_most_count) text += " to " + std::to_string(static_cast<long long>(most));
    return text;
  }
  const Arguments& arguments_;
  std::optional<Error> error_;
};

void read_weights(const Arguments& arguments, Reader& reader, RunOverrides& overrides) {
  if (reader.failed() || !arguments.has("--weights")) return;
  const std::string value = to_lower(arguments.value("--weights"));
  if (value.starts_with("gguf:")) {
    overrides.weights = WeightFormat::gguf;
    overrides.gguf_bits = verdicts::gguf_mix_bits(value.substr(5));
    if (!overrides.gguf_bits)
      reader.fail(wrong("--weights", value, "gguf:MIX with a mix such as Q4_K_M, Q8_0 or F16").value());
    return;
  }
  reader.words("--weights", overrides.weights, verdicts::parse_weight_format, verdicts::weight_words() + ":MIX");
}

/// "4096", or "256..4096" when only bounds are known.
void read_sequence(const Arguments& arguments, Reader& reader, RunOverrides& overrides) {
  constexpr double k_most_tokens = 1e8;
  for (const std::string_view option : {"--sequence", "--packing"}) {
    if (reader.failed() || !arguments.has(option)) continue;
    const std::string value = arguments.value(option);
    const std::size_t dots = value.find("..");
    const auto low = parse_number(dots == std::string::npos ? value : value.substr(0, dots));
    const auto high = dots == std::string::npos ? low : parse_number(value.substr(dots + 2));
    if (!low || !high || *low < 1 || *high < *low || *high > k_most_tokens) {
      reader.fail(wrong(option, value, "tokens (4096), or their bounds (256..4096)").value());
      return;
    }
    // The longest batch decides the peak; how long it is, is what is not known.
    overrides.sequence = Estimate{*low, dots == std::string::npos ? *high : (*low + *high) / 2, *high};
  }
}

void read_parallel(const Arguments& arguments, Reader& reader, RunOverrides& overrides) {
  reader.count("--nodes", overrides.nodes, 1, 64);
  const std::vector<std::pair<std::string_view, ParallelMode>> kinds{{"--ddp", ParallelMode::ddp},
                                                                     {"--fsdp", ParallelMode::fsdp},
                                                                     {"--pp", ParallelMode::pipeline},
                                                                     {"--tp", ParallelMode::tensor}};
  for (const auto& [option, kind] : kinds) {
    if (!arguments.has(option)) continue;
    if (overrides.parallel)
      reader.fail({ErrorKind::usage, "--ddp, --fsdp, --pp and --tp exclude each other: give one of them"});
    overrides.parallel = kind;
    if (!overrides.nodes) overrides.nodes = 2;
  }
}

OptionSpec value(std::string_view name, std::string_view value_name, std::string_view help) {
  return {name, value_name, help, OptionSpec::Takes::value, false};
}
OptionSpec flag(std::string_view name, std::string_view help) {
  return {name, "", help, OptionSpec::Takes::nothing, false};
}

}  // namespace

Result<double> parse_parameter_count(std::string_view text) {
  std::string word = to_lower(trim(text));
  double factor = 1;
  if (!word.empty() && (word.back() == 'b' || word.back() == 'm' || word.back() == 't')) {
    factor = word.back() == 'b' ? 1e9 : word.back() == 'm' ? 1e6 : 1e12;
    word.pop_back();
  }
  const auto number = parse_number(word);
  if (!number || *number <= 0 || *number * factor < 1e5 || *number * factor > k_most_parameters)
    return failure(ErrorKind::usage,
                   "--params: '" + printable(text, 60) + "' is no count of parameters (8e9, 8B, 950M)");
  return *number * factor;
}

Result<RunOverrides> parse_run_overrides(const Arguments& arguments) {
  RunOverrides overrides;
  Reader reader(arguments);
  reader.words("--method", overrides.method, verdicts::parse_method, verdicts::method_words());
  reader.words("--objective", overrides.objective, verdicts::parse_objective, "sft, dpo, orpo, kto, grpo");
  reader.text("--framework", overrides.framework);
  reader.text("--optimizer", overrides.optimizer);
  read_weights(arguments, reader, overrides);
  reader.size("--checkpoint-bytes", overrides.checkpoint_bytes);
  if (!reader.failed() && overrides.checkpoint_bytes == 0.0)
    reader.fail(wrong("--checkpoint-bytes", arguments.value("--checkpoint-bytes"), "a size above zero").value());
  reader.size("--source-bytes", overrides.source_bytes);
  reader.words(
      "--residual", overrides.residual_fp32,
      [](std::string_view word) -> std::optional<bool> {
        if (word == "fp32") return true;
        if (word == "bf16") return false;
        return std::nullopt;
      },
      "bf16, fp32");
  reader.flag("--fp8-compute", overrides.fp8_compute);
  reader.flag("--fp32-master", overrides.fp32_master);
  reader.flag("--keeps-logits", overrides.keeps_logits);
  reader.flag("--compile", overrides.compiled);
  reader.flag("--optimizer-in-backward", overrides.optimizer_in_backward);
  reader.flag("--activation-offload", overrides.activation_offload);
  reader.flag("--expandable-segments", overrides.expandable_segments);
  reader.flag("--lora-dropout", overrides.lora_dropout);
  reader.count("--lora-rank", overrides.rank, 1, 65536);
  reader.words(
      "--adapter-dtype", overrides.adapter_bytes,
      [](std::string_view word) -> std::optional<double> {
        if (word == "fp32") return 4.0;
        if (word == "bf16") return 2.0;
        return std::nullopt;
      },
      "bf16, fp32");
  reader.number("--trainable", overrides.trainable_parameters, 1, k_most_parameters);
  reader.list("--lora-targets", overrides.targets);
  reader.list("--modules-to-save", overrides.modules_to_save);
  reader.count("--batch", overrides.batch, 1, 1e6);
  reader.count("--grad-accum", overrides.gradient_accumulation, 1, 1e6);
  reader.count("--steps", overrides.steps);
  reader.count("--prompt", overrides.prompt, 0, 1e8);
  reader.count("--cached-prefix", overrides.cached_prefix, 0, 1e8);
  read_sequence(arguments, reader, overrides);
  reader.words("--grad-checkpoint", overrides.checkpointing, verdicts::parse_checkpointing,
               "none, full, unsloth, selective");
  reader.words("--attention", overrides.attention, verdicts::parse_attention, "flash, sdpa, eager");
  reader.words("--loss", overrides.loss, verdicts::parse_loss, verdicts::loss_words());
  reader.words("--experts", overrides.experts, verdicts::parse_experts, "grouped, loop, dense");
  reader.words("--loader", overrides.loader, verdicts::parse_loader,
               "mmap, pread, fastsafetensors, instanttensor, runai, llama-mmap, llama-no-mmap");
  reader.words("--cache", overrides.cache, verdicts::parse_cache, "exact, dynamic, tuple");
  read_parallel(arguments, reader, overrides);
  reader.number("--server-fraction", overrides.server_fraction, 0, 1);
  reader.size("--kv-bytes", overrides.kv_bytes);
  reader.words("--kv-dtype", overrides.kv_value_bytes, verdicts::cache_value_bytes,
               "bf16, fp8, int8, q8_0, q4_0, nvfp4, …");
  reader.count("--max-seqs", overrides.max_sequences, 1, 1e6);
  reader.count("--batched-tokens", overrides.batched_tokens, 1, 1e7);
  reader.size("--context-bytes", overrides.context_bytes);
  if (reader.failed()) return tl::unexpected(reader.error());
  return overrides;
}

std::vector<OptionSpec> plan_run_options() {
  return {
      value("--method", "NAME", "full, lora, qlora, nvfp4-lora or inference"),
      value("--objective", "NAME", "sft, dpo, orpo, kto or grpo"),
      value("--weights", "FORMAT",
            "bf16, fp16, fp32, nf4, nf4-single, int8, gptq-int4, gptq-int8, awq-int4, fp8, "
            "nvfp4, mxfp4 or gguf:MIX"),
      value("--checkpoint-bytes", "SIZE", "exact size of the weights in memory, when it is known"),
      value("--source-bytes", "SIZE", "size of the files that are read, when it is another (QLoRA from bf16)"),
      value("--optimizer", "NAME", "adamw, adamw-fused, adamw-8bit, paged-adamw-8bit, adafactor, muon, …"),
      flag("--optimizer-in-backward", "the optimizer steps inside the backward pass: no gradients are kept"),
      flag("--fp32-master", "mixed precision with an fp32 copy of what is trained"),
      value("--residual", "TYPE", "bf16 or fp32 (PEFT's prepare_model_for_kbit_training)"),
      value("--lora-rank", "N", "rank of the adapters"),
      value("--lora-targets", "NAMES", "q_proj,v_proj,… or all-linear"),
      value("--modules-to-save", "NAMES", "modules trained in full beside the adapters: embed_tokens,lm_head"),
      flag("--lora-dropout", "the adapters use dropout"),
      value("--adapter-dtype", "TYPE", "bf16 or fp32 (PEFT's default)"),
      value("--trainable", "N", "trainable parameters, when the trainer printed them"),
      value("--batch", "N", "samples of one micro-batch"),
      value("--sequence", "TOKENS", "tokens of one sample, padding included; or bounds: 256..4096"),
      value("--packing", "TOKENS", "the same, for packed samples"),
      value("--grad-accum", "N", "micro-batches of one step"),
      value("--steps", "N", "1: a trial of one step, no optimizer state during its backward pass"),
      value("--grad-checkpoint", "MODE", "none, full, unsloth or selective"),
      flag("--activation-offload", "activations go to the CPU side (the same pool here)"),
      value("--attention", "NAME", "flash, sdpa or eager"),
      value("--loss", "NAME", "hf, hf-inplace, fastce1, fastce2, chunked, liger, cce, unsloth, hf-shifted or hf-16bit"),
      flag("--keeps-logits", "the training loop holds the logits through the optimizer step"),
      flag("--compile", "torch.compile: fused kernels keep less"),
      flag("--fp8-compute", "Transformer Engine's FP8 matrix multiplications"),
      value("--experts", "WAY", "how routed experts run: grouped, loop or dense (every expert, every token)"),
      value("--cached-prefix", "TOKENS", "tokens in front that are cached and not trained"),
      flag("--expandable-segments", "PYTORCH_ALLOC_CONF=expandable_segments:True"),
      value("--framework", "NAME", "hf, unsloth, torchtune, litgpt, megatron, vllm, sglang, llama.cpp, …"),
      value("--loader", "NAME", "mmap, pread, fastsafetensors, instanttensor, runai, llama-mmap or llama-no-mmap"),
      value("--nodes", "N", "boxes of the run (two unless said otherwise with --ddp, --fsdp, --pp, --tp)"),
      flag("--ddp", "every node holds everything"),
      flag("--fsdp", "weights, gradients and optimizer are spread"),
      flag("--pp", "pipeline: each node holds some layers"),
      flag("--tp", "tensor-parallel inference"),
      value("--server-fraction", "F", "of the pool, as vLLM and SGLang take it"),
      value("--kv-bytes", "SIZE", "of the whole cache of keys and values"),
      value("--kv-dtype", "TYPE", "of the cache: bf16, fp8, int8, q8_0, …"),
      value("--cache", "KIND", "exact, dynamic (transformers) or tuple (older model code)"),
      value("--max-seqs", "N", "sequences a server keeps at the same time"),
      value("--batched-tokens", "N", "tokens of one forward pass of a server"),
      value("--prompt", "TOKENS", "inference: tokens of the prompt, for the prefill"),
      value("--context-bytes", "SIZE", "of the CUDA context, for other GPUs than GB10"),
  };
}

}  // namespace sparkops::commands
