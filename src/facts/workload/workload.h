#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/result.h"

namespace sparkops::facts {

/// One setting as it stands in a file or command: nested keys joined by dots ("fsdp_config.fsdp_version").
struct Setting {
  std::string key;
  std::string value;
  std::string where;  ///< "compose.yaml:12" or "command line"
};

enum class ServerKind { vllm, sglang, tensorrt_llm, ollama, llama_cpp, lm_studio, tgi, comfyui, triton_server };

/// How a server bounds its own memory.
enum class CapKind {
  fraction_of_total,  ///< vLLM gpu_memory_utilization: of the whole pool, counting what others already use
  fraction_of_free,   ///< TensorRT-LLM free_gpu_memory_fraction: of what is free at start
  fraction_static,    ///< SGLang mem_fraction_static: weights and KV cache, without activations and graphs
  bytes,              ///< an absolute figure (kv_cache_memory_bytes, OLLAMA_GPU_MEMORY …)
  none_given,         ///< the server has a cap option and nobody set it: its default applies (knowledge/servers.yaml)
  has_no_cap,         ///< this server knows no cap at all
};

struct ServerCap {
  CapKind kind = CapKind::none_given;
  Known<double> fraction;
  Known<Bytes> bytes;
  std::string setting;  ///< as written: "--gpu-memory-utilization 0.90"; empty for none_given and has_no_cap
};

/// Parallelism over GPUs and nodes. On two Sparks every node has one GPU, so a tensor-parallel size above 1 crosses
/// nodes.
struct Parallelism {
  Known<int> nodes;
  Known<int> processes_per_node;
  Known<int> world_size;
  Known<int> tensor, pipeline, data, context, expert;
  Known<int> tensor_of_generation;  ///< of the inference engine inside a trainer (vllm_tensor_parallel_size, rollout.…)
  std::vector<std::string> data_parallel_kinds;  ///< as named: "ddp", "fsdp", "zero-3", "deepspeed", "accelerate"
  std::vector<Setting> evidence;                 ///< each setting a figure was read from
};

enum class LaunchRole { server, trainer, other };

/// Which launches of one file run at the same time.
enum class LaunchOrder {
  together,  ///< services of a compose file, containers of a manifest, background commands of a script
  in_turn,   ///< foreground commands of a script, and those inside if and case: one ends before the next starts
};

/// One program that a workload starts: a compose service, a command of a script, or the command line itself.
struct Launch {
  std::string name;   ///< compose service or script name; "" for a bare command
  std::string where;  ///< file and place
  LaunchRole role = LaunchRole::other;
  Known<ServerKind> server;
  LaunchOrder order = LaunchOrder::together;
  std::vector<std::string> profiles;  ///< of compose: it starts only with one of them
  std::vector<std::string> command;
  std::vector<Setting> environment;
  std::vector<Setting> settings;          ///< its options, and the settings of the configuration files it names
  std::vector<Setting> container_limits;  ///< mem_limit, docker --memory …: none of them sees CUDA memory on GB10
  Known<std::string> image;
  Known<std::string> model;
  Known<std::string>
      quantization;  ///< nvfp4, mxfp4, fp8, … as given; from the flag, else from the model's name (derived)
  ServerCap cap;     ///< for servers
  Parallelism parallelism;
};

/// A workload as files or a command describe it, read without executing anything.
struct Workload {
  std::string name;                ///< what the user named
  std::vector<std::string> files;  ///< every file that was read
  std::vector<Launch> launches;
  std::vector<Setting> settings;    ///< of configuration files that belong to no launch
  Parallelism parallelism;          ///< of all together: the largest figure of each kind
  Known<std::string> quantization;  ///< that the loose settings ask for (fp4_recipe, bnb_4bit_quant_type …)
  Known<bool> trains;               ///< a trainer is among the launches, or the settings are those of one
  Known<int> gpu_sharing_replicas;  ///< Kubernetes time slicing or MPS: several tenants on one GPU without isolation
  std::vector<std::string> not_understood;  ///< files and places that could not be read, each with its reason
  std::vector<std::string> not_read;        ///< files of a kind that this program does not read (Python)
};

/// Reads a file or a directory (searched to a depth of 4, at most 200 files of at most 4 MiB): YAML, JSON, TOML,
/// .conf/.env/shell, compose files, Kubernetes ConfigMaps with YAML inside. Errors: usage when the path cannot be read
/// or nothing in it could be understood.
[[nodiscard]] Result<Workload> read_workload(const std::string& path);

/// A command as given after "--". Configuration files named in it are read too.
[[nodiscard]] Workload read_command(const std::vector<std::string>& command);

/// One command with its environment (of a script line, a compose service, or a running process). Wrappers (env, exec,
/// bash -c, docker run, mpirun, srun, torchrun …) are looked through; nothing is read from disk.
[[nodiscard]] Launch read_launch(const std::vector<std::string>& command, const std::vector<Setting>& environment);

[[nodiscard]] std::string_view to_string(ServerKind kind);

}  // namespace sparkops::facts
