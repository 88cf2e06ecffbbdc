#include "facts/workload/parallelism.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "facts/workload/options.h"

namespace sparkops::facts {

namespace {

using Figure = Known<int> Parallelism::*;

struct FigureName {
  std::string_view key;  ///< canonical last part
  Figure figure;
};

/// Sources of the names: the configuration references of accelerate, DeepSpeed, Megatron-LM and NeMo, torchtitan,
/// torchrun, vLLM, SGLang, TensorRT-LLM, LLaMA-Factory, axolotl, Lightning, Slurm, and recipe files published for
/// Spark.
constexpr std::array<FigureName, 73> k_figure_names = {{
    {"tensor_parallel", &Parallelism::tensor},
    {"tensor_parallel_size", &Parallelism::tensor},
    {"tensor_parallel_degree", &Parallelism::tensor},
    {"tensor_model_parallel_size", &Parallelism::tensor},
    {"tensor_parallelism", &Parallelism::tensor},
    {"parallelism_config_tp_size", &Parallelism::tensor},
    {"tp_size", &Parallelism::tensor},
    {"tp_degree", &Parallelism::tensor},
    {"autotp_size", &Parallelism::tensor},
    {"num_shard", &Parallelism::tensor},
    {"tp", &Parallelism::tensor},
    {"pipeline_parallel", &Parallelism::pipeline},
    {"pipeline_parallel_size", &Parallelism::pipeline},
    {"pipeline_parallel_degree", &Parallelism::pipeline},
    {"pipeline_model_parallel_size", &Parallelism::pipeline},
    {"pp_size", &Parallelism::pipeline},
    {"pp_degree", &Parallelism::pipeline},
    {"pp", &Parallelism::pipeline},
    {"data_parallel_size", &Parallelism::data},
    {"data_parallel_degree", &Parallelism::data},
    {"data_parallel_shard_degree", &Parallelism::data},
    {"data_parallel_replicate_degree", &Parallelism::data},
    {"parallelism_config_dp_replicate_size", &Parallelism::data},
    {"parallelism_config_dp_shard_size", &Parallelism::data},
    {"dp_replicate_size", &Parallelism::data},
    {"dp_shard_size", &Parallelism::data},
    {"dp_size", &Parallelism::data},
    {"dp", &Parallelism::data},
    {"context_parallel_size", &Parallelism::context},
    {"context_parallel_degree", &Parallelism::context},
    {"parallelism_config_cp_size", &Parallelism::context},
    {"cp_size", &Parallelism::context},
    {"cp", &Parallelism::context},
    {"expert_parallel_size", &Parallelism::expert},
    {"expert_parallel_degree", &Parallelism::expert},
    {"expert_model_parallel_size", &Parallelism::expert},
    {"ep_size", &Parallelism::expert},
    {"ep", &Parallelism::expert},
    {"num_machines", &Parallelism::nodes},
    {"nnodes", &Parallelism::nodes},
    {"num_nodes", &Parallelism::nodes},
    {"n_nodes", &Parallelism::nodes},
    {"nodes", &Parallelism::nodes},
    {"node_count", &Parallelism::nodes},
    {"number_of_nodes", &Parallelism::nodes},
    {"nr_nodes", &Parallelism::nodes},
    {"slurm_nnodes", &Parallelism::nodes},
    {"slurm_job_num_nodes", &Parallelism::nodes},
    {"pet_nnodes", &Parallelism::nodes},
    {"nproc_per_node", &Parallelism::processes_per_node},
    {"nprocs_per_node", &Parallelism::processes_per_node},
    {"num_processes_per_node", &Parallelism::processes_per_node},
    {"gpus_per_node", &Parallelism::processes_per_node},
    {"num_gpus_per_node", &Parallelism::processes_per_node},
    {"n_gpus_per_node", &Parallelism::processes_per_node},
    {"ntasks_per_node", &Parallelism::processes_per_node},
    {"num_gpus", &Parallelism::processes_per_node},
    {"pet_nproc_per_node", &Parallelism::processes_per_node},
    {"world_size", &Parallelism::world_size},
    {"num_processes", &Parallelism::world_size},
    {"n_proc", &Parallelism::world_size},
    {"mpi_processes", &Parallelism::world_size},
    {"tensor_model_parallel_degree", &Parallelism::tensor},
    {"tensor_parallel_world_size", &Parallelism::tensor},
    {"tensor_parallel_num", &Parallelism::tensor},
    {"tp_world_size", &Parallelism::tensor},
    {"pipeline_model_parallel_degree", &Parallelism::pipeline},
    {"pipeline_parallelism", &Parallelism::pipeline},
    {"context_parallel", &Parallelism::context},
    {"context_parallelism", &Parallelism::context},
    {"expert_parallelism", &Parallelism::expert},
    {"num_hosts", &Parallelism::nodes},
    {"num_workers_nodes", &Parallelism::nodes},
}};

/// Names by which a trainer configures the inference engine that generates its samples.
constexpr std::array<std::string_view, 4> k_generation_words = {"vllm_", "rollout", "generation", "inference_engine"};

std::optional<int> small_positive(std::string_view value) {
  constexpr std::int64_t k_largest = 1'000'000;
  const auto number = parse_integer(trim(value));
  if (!number || *number < 1 || *number > k_largest) return std::nullopt;
  return static_cast<int>(*number);
}

/// A figure of parallelism is a small positive number; "1:4" of an elastic launch counts as the larger of the two.
std::optional<int> figure_of(std::string_view value) {
  value = trim(value);
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) return small_positive(value);
  const auto least = small_positive(value.substr(0, colon));
  const auto most = small_positive(value.substr(colon + 1));
  if (!least || !most) return std::nullopt;
  return std::max(*least, *most);
}

/// Words that leave a size to its default or to the program, and −1, which some take for "all the rest".
bool leaves_it_open(std::string_view value, Figure figure) {
  constexpr std::array<std::string_view, 8> k_words = {"", "auto", "null", "none", "~", "false", "gpu", "cpu"};
  const std::string text = to_lower(trim(value));
  const bool takes_the_rest = figure == &Parallelism::data || figure == &Parallelism::processes_per_node;
  return std::find(k_words.begin(), k_words.end(), text) != k_words.end() || (text == "-1" && takes_the_rest);
}

/// Whether a value under this key was meant as a figure. Some of the keys are common words: there only what begins
/// like a number or stands for one is meant.
bool is_meant_as_figure(std::string_view key, std::string_view value) {
  constexpr std::array<std::string_view, 8> k_common_words = {
      "cp", "ep", "dp", "pp", "nodes", "context_parallel", "expert_parallelism", "context_parallelism"};
  if (std::find(k_common_words.begin(), k_common_words.end(), key) == k_common_words.end()) return true;
  const std::string_view text = trim(value);
  return !text.empty() && std::string_view("0123456789+-${").find(text.front()) != std::string_view::npos;
}

std::string name_of(Figure figure) {
  if (figure == &Parallelism::nodes) return "node count";
  if (figure == &Parallelism::processes_per_node) return "number of processes per node";
  if (figure == &Parallelism::world_size) return "number of processes";
  if (figure == &Parallelism::tensor) return "tensor-parallel size";
  if (figure == &Parallelism::tensor_of_generation) return "tensor-parallel size of the generation";
  if (figure == &Parallelism::pipeline) return "pipeline-parallel size";
  if (figure == &Parallelism::data) return "data-parallel size";
  if (figure == &Parallelism::context) return "context-parallel size";
  return "expert-parallel size";
}

std::optional<Figure> figure_named(const std::string& key) {
  const auto found = std::find_if(k_figure_names.begin(), k_figure_names.end(),
                                  [&key](const FigureName& name) { return name.key == key; });
  if (found == k_figure_names.end()) return std::nullopt;
  return found->figure;
}

bool is_of_generation(const std::string& canonical) {
  return std::any_of(k_generation_words.begin(), k_generation_words.end(),
                     [&canonical](std::string_view word) { return contains(canonical, word); });
}

void take_larger(Known<int>& into, const Known<int>& other) {
  // A size of 1 does not answer for one that could not be read; a larger one does.
  if (!other.known()) {
    if (is_unreadable(other) && into.value_or(1) <= 1 && !is_unreadable(into)) into = other;
    return;
  }
  if (is_unreadable(into) ? *other > 1 : !into.known() || *into < *other) into = other;
}

void add_kind(Parallelism& parallelism, const std::string& kind, const Setting& setting) {
  std::vector<std::string>& kinds = parallelism.data_parallel_kinds;
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return;
  kinds.push_back(kind);
  parallelism.evidence.push_back(setting);
}

/// The data-parallel kind that a setting switches on.
void read_kind(Parallelism& parallelism, const std::string& canonical, const std::string& key, const Setting& setting) {
  const std::string value = to_lower(trim(setting.value));
  if (key == "distributed_type") {
    if (value == "fsdp") add_kind(parallelism, "fsdp", setting);
    if (value == "deepspeed") add_kind(parallelism, "deepspeed", setting);
    if (value == "multi_gpu") add_kind(parallelism, "ddp", setting);
    return;
  }
  if (key == "zero_stage" || (key == "stage" && contains(canonical, "zero"))) {
    if (const auto stage = figure_of(value)) add_kind(parallelism, "zero-" + std::to_string(*stage), setting);
    return;
  }
  if (key == "strategy" && (value.starts_with("ddp") || value.starts_with("fsdp") || value.starts_with("deepspeed")))
    add_kind(parallelism, value, setting);
  const bool off = value.empty() || value == "false" || value == "no" || value == "0" || value == "none";
  if (!off && (key == "fsdp" || key == "use_fsdp" || key == "fsdp_version" || key == "fsdp_sharding_strategy" ||
               key == "use_torch_fsdp2" || key == "fsdp_transformer_layer_cls_to_wrap" ||
               (key == "data_parallel_shard_degree" && value != "1")))
    add_kind(parallelism, "fsdp", setting);
  if (!off && (key == "deepspeed" || key == "use_deepspeed" || key == "deepspeed_config" ||
               key == "deepspeed_config_file" || key == "deepspeed_plugin"))
    add_kind(parallelism, "deepspeed", setting);
  if (!off && (key == "ddp" || key == "use_ddp" || key == "multi_gpu" || key == "distributed_data_parallel" ||
               key.starts_with("ddp_")))
    add_kind(parallelism, "ddp", setting);
}

void read_figure(Parallelism& parallelism, const std::string& canonical, const std::string& key,
                 const Setting& setting) {
  std::optional<Figure> figure = figure_named(key);
  if (!figure && key.starts_with("vllm_")) figure = figure_named(key.substr(5));
  if (!figure) return;
  if (*figure == &Parallelism::tensor && is_of_generation(canonical)) figure = &Parallelism::tensor_of_generation;
  const auto number = figure_of(setting.value);
  if (number) {
    take_larger(parallelism.**figure, as_read(*number));
    parallelism.evidence.push_back(setting);
    return;
  }
  if (leaves_it_open(setting.value, *figure) || !is_meant_as_figure(key, setting.value)) return;
  const bool elsewhere = contains(setting.value, "$") || contains(setting.value, "{{");
  take_larger(parallelism.**figure,
              unknown(name_of(*figure) + " '" + printable(setting.value, 60) + "' cannot be read (" + setting.key +
                      ", " + setting.where + ")" + (elsewhere ? ": it is set elsewhere" : "")));
  parallelism.evidence.push_back(setting);
}

}  // namespace

bool is_unreadable(const Known<int>& size) {
  return !size.known() && size.reason() != Known<int>().reason();
}

Parallelism read_parallelism(const std::vector<Setting>& settings) {
  Parallelism parallelism;
  for (const Setting& setting : settings) {
    const std::string canonical = canonical_key(setting.key);
    const std::string key = last_part(canonical);
    read_figure(parallelism, canonical, key, setting);
    read_kind(parallelism, canonical, key, setting);
  }
  // Accelerate alone calls the nodes machines, and it is data parallel where nothing else is said.
  constexpr std::array<std::string_view, 1> k_machines = {"num_machines"};
  const Setting* const machines = find_setting(settings, k_machines);
  if (machines != nullptr && parallelism.data_parallel_kinds.empty()) add_kind(parallelism, "accelerate", *machines);
  return parallelism;
}

void merge_parallelism(Parallelism& into, const Parallelism& other) {
  for (const Figure figure : {&Parallelism::nodes, &Parallelism::processes_per_node, &Parallelism::world_size,
                              &Parallelism::tensor, &Parallelism::pipeline, &Parallelism::data, &Parallelism::context,
                              &Parallelism::expert, &Parallelism::tensor_of_generation})
    take_larger(into.*figure, other.*figure);
  for (const std::string& kind : other.data_parallel_kinds)
    if (std::find(into.data_parallel_kinds.begin(), into.data_parallel_kinds.end(), kind) ==
        into.data_parallel_kinds.end())
      into.data_parallel_kinds.push_back(kind);
  into.evidence.insert(into.evidence.end(), other.evidence.begin(), other.evidence.end());
}

}  // namespace sparkops::facts
