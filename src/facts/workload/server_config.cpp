#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "facts/workload/options.h"
#include "facts/workload/quantization.h"
#include "facts/workload/server_settings.h"
#include "facts/workload/training_words.h"

namespace sparkops::facts {

namespace {

enum class ServerKey {
  context,
  sequences,
  batched_tokens,
  dtype,
  key_value_dtype,
  loader,
  eager,
  prefix_caching,
  no_prefix_caching,
  memory_map,
  no_memory_map,
  speculative,
  draft_model,
};

struct Row {
  std::string_view name;
  ServerKey key;
};

/// Options of vLLM, SGLang, TensorRT-LLM, llama.cpp and Ollama. One-letter options keep their case.
constexpr std::array k_rows = {
    Row{"max_model_len", ServerKey::context},
    Row{"context_length", ServerKey::context},
    Row{"ctx_size", ServerKey::context},
    Row{"c", ServerKey::context},
    Row{"num_ctx", ServerKey::context},
    Row{"max_seq_len", ServerKey::context},
    Row{"ollama_context_length", ServerKey::context},
    Row{"max_total_tokens", ServerKey::context},
    Row{"max_num_seqs", ServerKey::sequences},
    Row{"max_running_requests", ServerKey::sequences},
    Row{"max_batch_size", ServerKey::sequences},
    Row{"parallel", ServerKey::sequences},
    Row{"np", ServerKey::sequences},
    Row{"ollama_num_parallel", ServerKey::sequences},
    Row{"max_num_batched_tokens", ServerKey::batched_tokens},
    Row{"chunked_prefill_size", ServerKey::batched_tokens},
    Row{"max_num_tokens", ServerKey::batched_tokens},
    Row{"ubatch_size", ServerKey::batched_tokens},
    Row{"ub", ServerKey::batched_tokens},
    Row{"max_batch_prefill_tokens", ServerKey::batched_tokens},
    Row{"dtype", ServerKey::dtype},
    Row{"kv_cache_dtype", ServerKey::key_value_dtype},
    Row{"cache_type_k", ServerKey::key_value_dtype},
    Row{"ctk", ServerKey::key_value_dtype},
    Row{"ollama_kv_cache_type", ServerKey::key_value_dtype},
    Row{"load_format", ServerKey::loader},
    Row{"enforce_eager", ServerKey::eager},
    Row{"disable_cuda_graph", ServerKey::eager},
    Row{"enable_prefix_caching", ServerKey::prefix_caching},
    Row{"no_enable_prefix_caching", ServerKey::no_prefix_caching},
    Row{"disable_radix_cache", ServerKey::no_prefix_caching},
    Row{"mmap", ServerKey::memory_map},
    Row{"no_mmap", ServerKey::no_memory_map},
    Row{"speculative_algorithm", ServerKey::speculative},
    Row{"speculative_config", ServerKey::speculative},
    Row{"speculative_model", ServerKey::draft_model},
    Row{"speculative_draft_model_path", ServerKey::draft_model},
    Row{"model_draft", ServerKey::draft_model},
    Row{"md", ServerKey::draft_model},
};

/// Read elsewhere (cap, model, parallelism, quantization), or without influence on memory.
constexpr std::array<std::string_view, 52> k_others = {"model",
                                                       "model_path",
                                                       "m",
                                                       "hf_repo",
                                                       "hf",
                                                       "model_name",
                                                       "served_model_name",
                                                       "host",
                                                       "port",
                                                       "api_key",
                                                       "gpu_memory_utilization",
                                                       "kv_cache_memory_bytes",
                                                       "mem_fraction_static",
                                                       "mem_fraction",
                                                       "free_gpu_memory_fraction",
                                                       "kv_cache_free_gpu_memory_fraction",
                                                       "cuda_memory_fraction",
                                                       "quantization",
                                                       "q",
                                                       "tensor_parallel_size",
                                                       "tp",
                                                       "tp_size",
                                                       "pipeline_parallel_size",
                                                       "pp",
                                                       "pp_size",
                                                       "data_parallel_size",
                                                       "dp",
                                                       "dp_size",
                                                       "enable_expert_parallel",
                                                       "ep",
                                                       "nnodes",
                                                       "node_rank",
                                                       "dist_init_addr",
                                                       "distributed_executor_backend",
                                                       "trust_remote_code",
                                                       "tokenizer",
                                                       "chat_template",
                                                       "reasoning_parser",
                                                       "tool_call_parser",
                                                       "enable_auto_tool_choice",
                                                       "download_dir",
                                                       "seed",
                                                       "log_level",
                                                       "uvicorn_log_level",
                                                       "n_gpu_layers",
                                                       "ngl",
                                                       "gpu_layers",
                                                       "flash_attn",
                                                       "fa",
                                                       "threads",
                                                       "t",
                                                       "revision"};

void set_whole(Known<std::int64_t>& field, const Setting& setting) {
  const auto number = whole_number(setting.value);
  if (number && *number > 0)
    field = as_read(std::int64_t{*number});
  else
    field = unknown(setting.where + ": " + setting.key + " is \"" + printable(setting.value, 60) + "\"");
}

void take(ServerConfig& config, ServerKey key, const Setting& setting) {
  const bool on = setting.value.empty() || is_on(setting.value);
  switch (key) {
    case ServerKey::context: return set_whole(config.context, setting);
    case ServerKey::sequences: return set_whole(config.sequences, setting);
    case ServerKey::batched_tokens: return set_whole(config.batched_tokens, setting);
    case ServerKey::dtype:
      if (const std::string word = dtype_word(to_lower(setting.value)); !word.empty())
        config.dtype = as_read(std::string(word));
      return;
    case ServerKey::key_value_dtype: config.key_value_dtype = as_read(to_lower(setting.value)); return;
    case ServerKey::loader: config.loader = as_read(to_lower(setting.value)); return;
    case ServerKey::eager: config.eager = as_read(bool{on}); return;
    case ServerKey::prefix_caching: config.prefix_caching = as_read(bool{on}); return;
    case ServerKey::no_prefix_caching: config.prefix_caching = as_read(!on); return;
    case ServerKey::memory_map: config.memory_mapped = as_read(bool{on}); return;
    case ServerKey::no_memory_map: config.memory_mapped = as_read(!on); return;
    case ServerKey::speculative: config.speculative = as_read(std::string(setting.value)); return;
    case ServerKey::draft_model: config.draft_model = as_read(std::string(setting.value)); return;
  }
}

}  // namespace

ServerConfig read_server_settings(const Launch& launch) {
  ServerConfig config;
  const Unknown none = unknown("no setting says it");
  const auto forget = [&none](auto&... fields) { ((fields = none), ...); };
  forget(config.weights, config.dtype, config.key_value_dtype, config.context, config.sequences, config.batched_tokens,
         config.loader, config.eager, config.prefix_caching, config.memory_mapped, config.speculative,
         config.draft_model);
  config.server = launch.server;
  config.where = launch.where;
  config.model = launch.model;
  config.weights = launch.quantization;
  config.cap = launch.cap;
  config.parallelism = launch.parallelism;
  constexpr std::size_t k_most_unknown = 200;
  for (const std::vector<Setting>* const settings : {&launch.environment, &launch.settings})
    for (const Setting& setting : *settings) {
      const std::string name = last_part(canonical_key(setting.key));
      const auto* const row =
          std::find_if(k_rows.begin(), k_rows.end(), [&name](const Row& entry) { return entry.name == name; });
      if (row != k_rows.end()) {
        take(config, row->key, setting);
        config.used.push_back(setting);
      } else if (settings == &launch.settings && config.unknown_keys.size() < k_most_unknown &&
                 std::find(k_others.begin(), k_others.end(), name) == k_others.end()) {
        config.unknown_keys.push_back(setting);
      }
    }
  return config;
}

}  // namespace sparkops::facts
