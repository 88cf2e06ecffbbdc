#include "facts/workload/program_kind.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "facts/workload/command_unwrap.h"

namespace sparkops::facts {

namespace {

constexpr std::array<std::string_view, 27> k_training_keys = {
    "learning_rate",
    "lr",
    "num_train_epochs",
    "num_epochs",
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "micro_batch_size",
    "global_batch_size",
    "train_iters",
    "distributed_type",
    "fsdp_version",
    "fsdp_sharding_strategy",
    "finetuning_type",
    "lora_rank",
    "lora_r",
    "lora_alpha",
    "lora_target",
    "weight_decay",
    "warmup_steps",
    "warmup_ratio",
    "gradient_checkpointing",
    "zero_stage",
    "max_grad_norm",
    "optimizer",
    "num_generations",
};

/// Whether the words leave the choice of the program to the image.
bool names_no_program(const std::vector<std::string>& words) {
  return words.empty() || words.front().starts_with('-') || words.front().ends_with(".sh");
}

}  // namespace

bool is_training_key(std::string_view key) {
  return std::find(k_training_keys.begin(), k_training_keys.end(), key) != k_training_keys.end();
}

Known<ServerKind> server_of_image(std::string_view image) {
  std::string name = to_lower(image.substr(0, image.find('@')));
  if (const std::size_t slash = name.rfind('/'), colon = name.rfind(':');
      colon != std::string::npos && (slash == std::string::npos || colon > slash))
    name.resize(colon);
  for (const std::string_view companion : {"webui", "exporter", "proxy", "router", "gateway", "llama-factory"})
    if (contains(name, companion)) return unknown("the image " + std::string(image) + " is no server's");
  constexpr std::array<std::pair<std::string_view, ServerKind>, 13> k_images = {{
      {"tritonserver", ServerKind::triton_server},
      {"tensorrt-llm", ServerKind::tensorrt_llm},
      {"tensorrt_llm", ServerKind::tensorrt_llm},
      {"trtllm", ServerKind::tensorrt_llm},
      {"text-generation-inference", ServerKind::tgi},
      {"vllm", ServerKind::vllm},
      {"sglang", ServerKind::sglang},
      {"ollama", ServerKind::ollama},
      {"llama.cpp", ServerKind::llama_cpp},
      {"llama-cpp", ServerKind::llama_cpp},
      {"llamacpp", ServerKind::llama_cpp},
      {"llama-swap", ServerKind::llama_cpp},
      {"comfyui", ServerKind::comfyui},
  }};
  for (const auto& [part, kind] : k_images)
    if (contains(name, part)) return as_derived(ServerKind(kind));
  return unknown("the image " + std::string(image) + " is not known to be a server's");
}

Known<ServerKind> server_of_options(const CommandOptions& options) {
  constexpr std::array<std::pair<std::string_view, ServerKind>, 24> k_options = {{
      {"gpu_memory_utilization", ServerKind::vllm},
      {"kv_cache_memory_bytes", ServerKind::vllm},
      {"max_model_len", ServerKind::vllm},
      {"max_num_seqs", ServerKind::vllm},
      {"max_num_batched_tokens", ServerKind::vllm},
      {"distributed_executor_backend", ServerKind::vllm},
      {"enforce_eager", ServerKind::vllm},
      {"async_scheduling", ServerKind::vllm},
      {"kv_cache_dtype", ServerKind::vllm},
      {"served_model_name", ServerKind::vllm},
      {"enable_prefix_caching", ServerKind::vllm},
      {"mem_fraction_static", ServerKind::sglang},
      {"context_length", ServerKind::sglang},
      {"dist_init_addr", ServerKind::sglang},
      {"chunked_prefill_size", ServerKind::sglang},
      {"kv_cache_free_gpu_memory_fraction", ServerKind::tensorrt_llm},
      {"free_gpu_memory_fraction", ServerKind::tensorrt_llm},
      {"extra_llm_api_options", ServerKind::tensorrt_llm},
      {"n_gpu_layers", ServerKind::llama_cpp},
      {"ngl", ServerKind::llama_cpp},
      {"gpu_layers", ServerKind::llama_cpp},
      {"ctx_size", ServerKind::llama_cpp},
      {"cuda_memory_fraction", ServerKind::tgi},
      {"max_batch_prefill_tokens", ServerKind::tgi},
  }};
  // The most telling options stand first for each server; SGLang's own decide over names it shares with vLLM.
  for (const ServerKind preferred :
       {ServerKind::sglang, ServerKind::tensorrt_llm, ServerKind::llama_cpp, ServerKind::tgi, ServerKind::vllm})
    for (const auto& [name, kind] : k_options)
      if (kind == preferred && options.find(name) != nullptr) return as_derived(ServerKind(kind));
  return unknown("no option tells which server this is");
}

Program identify_program(const std::vector<std::string>& words, const Known<std::string>& image) {
  if (names_no_program(words) && image) {
    if (const Known<ServerKind> server = server_of_image(*image))
      return {LaunchRole::server, server, base_name(*image), 0, false};
  }
  if (words.empty() || words.front().starts_with('-')) return {};
  return recognise_program({words.begin(), words.end()});
}

}  // namespace sparkops::facts
