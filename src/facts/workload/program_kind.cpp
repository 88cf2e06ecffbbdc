#include "facts/workload/program_kind.h"

#include <algorithm>
#include <array>
#include <span>
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

/// Programs and modules that serve.
struct ServerProgram {
  std::string_view program;  ///< base name of the first word, or a Python module's beginning
  std::string_view subcommand;
  ServerKind kind;
};

constexpr std::array<ServerProgram, 13> k_server_programs = {{
    {"vllm", "serve", ServerKind::vllm},
    {"sglang", "serve", ServerKind::sglang},
    {"trtllm-serve", "", ServerKind::tensorrt_llm},
    {"ollama", "serve", ServerKind::ollama},
    {"ollama", "runner", ServerKind::ollama},
    {"llama-server", "", ServerKind::llama_cpp},
    {"llama-swap", "", ServerKind::llama_cpp},
    {"rpc-server", "", ServerKind::llama_cpp},
    {"lms", "server", ServerKind::lm_studio},
    {"text-generation-launcher", "", ServerKind::tgi},
    {"text-generation-server", "serve", ServerKind::tgi},
    {"tritonserver", "", ServerKind::triton_server},
    {"comfy", "launch", ServerKind::comfyui},
}};

constexpr std::array<std::pair<std::string_view, ServerKind>, 6> k_server_modules = {{
    {"vllm.entrypoints", ServerKind::vllm},
    {"sglang.launch_server", ServerKind::sglang},
    {"sglang.srt", ServerKind::sglang},
    {"tensorrt_llm.commands.serve", ServerKind::tensorrt_llm},
    {"llama_cpp.server", ServerKind::llama_cpp},
    {"text_generation_server", ServerKind::tgi},
}};

/// Titles that worker processes of a server give themselves.
constexpr std::array<std::pair<std::string_view, ServerKind>, 3> k_process_titles = {{
    {"VLLM::", ServerKind::vllm},
    {"sglang::", ServerKind::sglang},
    {"LM Studio", ServerKind::lm_studio},
}};

constexpr std::array<std::string_view, 8> k_trainer_modules = {
    "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
    "axolotl.cli.train",     "torchtitan.train",         "deepspeed.launcher",
    "verl.trainer",          "llamafactory.launcher"};

constexpr std::array<std::string_view, 17> k_training_words = {
    "train", "training", "trainer", "pretrain", "finetune", "finetuning", "sft",  "dpo",    "grpo",
    "ppo",   "rlhf",     "lora",    "qlora",    "kto",      "orpo",       "peft", "distill"};

constexpr std::array<std::string_view, 21> k_other_words = {
    "infer",   "inference", "generate", "serve",     "server", "bench",    "benchmark",
    "eval",    "evaluate",  "chat",     "demo",      "client", "export",   "merge",
    "convert", "quantize",  "nccl",     "allreduce", "plot",   "download", "prepare"};

template <std::size_t N>
bool has_word(const std::array<std::string_view, N>& words, std::string_view name) {
  std::string word;
  const auto matches = [&] { return std::find(words.begin(), words.end(), word) != words.end(); };
  for (const char c : to_lower(name) + "_") {
    if (c >= 'a' && c <= 'z') {
      word += c;
      continue;
    }
    if (matches()) return true;
    word.clear();
  }
  return false;
}

bool names_training(std::string_view name) {
  return has_word(k_training_words, name) && !has_word(k_other_words, name);
}

bool has_training_option(std::span<const std::string> arguments) {
  const CommandOptions options = parse_options(arguments);
  return std::any_of(options.options.begin(), options.options.end(),
                     [](const CommandOption& option) { return is_training_key(last_part(option.name)); });
}

Program server_program(ServerKind kind, std::string name, std::size_t arguments_at) {
  return {LaunchRole::server, as_read(kind), std::move(name), arguments_at, false};
}

/// The index of the script or the module's name behind a launcher's own options: the first word ending in ".py", or
/// the word after -m.
std::size_t script_index(const std::vector<std::string>& words, std::size_t from) {
  for (std::size_t i = from; i < words.size(); ++i) {
    if ((words[i] == "-m" || words[i] == "--module") && i + 1 < words.size()) return i + 1;
    if (words[i].ends_with(".py")) return i;
  }
  return words.size();
}

/// A launcher of distributed training starts a trainer unless its script says that it does something else.
Program launched_program(const std::vector<std::string>& words, std::size_t from, bool starts_one_node) {
  const std::size_t script = script_index(words, from);
  const std::string name = script < words.size() ? base_name(words[script]) : base_name(words.front());
  const bool other = has_word(k_other_words, name) && !has_training_option(std::span(words).subspan(from));
  return {other ? LaunchRole::other : LaunchRole::trainer, unknown("no server"), name, from, starts_one_node};
}

Program python_module(const std::vector<std::string>& words, std::size_t at) {
  const std::string& module = words[at];
  for (const auto& [name, kind] : k_server_modules)
    if (module.starts_with(name)) return server_program(kind, module, at + 1);
  for (const std::string_view name : k_trainer_modules)
    if (module.starts_with(name)) return launched_program(words, at + 1, module.starts_with("torch.distributed"));
  const bool trains = names_training(module) || has_training_option(std::span(words).subspan(at + 1));
  return {trains ? LaunchRole::trainer : LaunchRole::other, unknown("no server"), module, at + 1, false};
}

Program python_program(const std::vector<std::string>& words) {
  std::size_t at = 1;
  while (at < words.size() && words[at].starts_with('-')) {
    if (words[at] == "-m" && at + 1 < words.size()) return python_module(words, at + 1);
    if (words[at] == "-c") return {LaunchRole::other, unknown("no server"), "python -c", words.size(), false};
    at += words[at] == "-X" || words[at] == "-W" ? 2 : 1;
  }
  if (at >= words.size()) return {LaunchRole::other, unknown("no server"), "python", at, false};
  const std::string script = base_name(words[at]);
  const std::span<const std::string> arguments = std::span(words).subspan(at + 1);
  // Console scripts of an environment run as "python …/bin/vllm serve".
  if (script.find('.') == std::string::npos) {
    std::vector<std::string> inner(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    Program program = identify_program(inner, unknown("no image"));
    program.arguments_at += at;
    if (program.role != LaunchRole::other) return program;
  }
  const CommandOptions options = parse_options(arguments);
  const bool comfy_path = contains_ignoring_case(words[at], "comfyui");
  constexpr std::array<std::string_view, 4> k_comfy_options = {"lowvram", "highvram", "normalvram",
                                                               "front_end_version"};
  const CommandOption* const port = options.find("port");
  if (script == "main.py" &&
      (comfy_path || options.find(k_comfy_options) != nullptr || (port != nullptr && port->value == "8188")))
    return server_program(ServerKind::comfyui, script, at + 1);
  const bool trains = names_training(script) || has_training_option(arguments);
  return {trains ? LaunchRole::trainer : LaunchRole::other, unknown("no server"), script, at + 1, false};
}

bool is_python(std::string_view name) {
  if (!name.starts_with("python")) return name == "pypy3";
  return name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

/// Programs whose subcommand trains: "axolotl train", "llamafactory-cli train", "tune run", "swift sft", "trl grpo".
Program trainer_program(const std::vector<std::string>& words, const std::string& name) {
  const std::string second = words.size() > 1 ? words[1] : "";
  const Program none{LaunchRole::other, unknown("no server"), name, 1, false};
  const Program trainer{LaunchRole::trainer, unknown("no server"), name + " " + second, 2, false};
  if (name == "torchrun") return launched_program(words, 1, true);
  if (name == "deepspeed" || name == "colossalai" || name == "composer") return launched_program(words, 1, false);
  if (name == "accelerate") return second == "launch" ? launched_program(words, 2, false) : none;
  if (name == "axolotl" || name == "llamafactory-cli" || name == "lmf" || name == "unsloth" || name == "nemo" ||
      name == "automodel" || name == "swift" || name == "trl" || name == "megatron")
    return names_training(second) || second == "pt" || second == "finetune" ? trainer : none;
  if (name == "tune") return second == "run" ? launched_program(words, 2, false) : none;
  if (name.ends_with(".sh") && names_training(name)) return {LaunchRole::trainer, unknown("no server"), name, 1, false};
  return none;
}

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
  for (const auto& [title, kind] : k_process_titles)
    if (words.front().starts_with(title)) return server_program(kind, words.front(), 1);
  const std::string name = base_name(words.front());
  for (const ServerProgram& server : k_server_programs) {
    if (server.program != name) continue;
    if (server.subcommand.empty()) return server_program(server.kind, name, 1);
    if (words.size() > 1 && words[1] == server.subcommand) return server_program(server.kind, name, 2);
  }
  if (name == "server" && std::any_of(words.begin(), words.end(), [](const auto& w) { return w.ends_with(".gguf"); }))
    return server_program(ServerKind::llama_cpp, name, 1);
  if (is_python(name)) return python_program(words);
  return trainer_program(words, name);
}

}  // namespace sparkops::facts
