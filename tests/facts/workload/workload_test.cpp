#include "facts/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A folder of files that goes away with the test.
class WorkloadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / ("sparkops_workload_" + std::string(info->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  Workload read(const std::string& path) {
    auto workload = read_workload(path);
    EXPECT_TRUE(workload) << workload.error().message;
    return workload ? *workload : Workload{};
  }
  Workload read_one(const std::string& name, const std::string& text) { return read(put(name, text)); }

  std::filesystem::path folder_;
};

TEST_F(WorkloadTest, AnAccelerateConfigIsATrainersWithItsFigures) {
  const Workload workload = read_one("a.yaml",
                                     "distributed_type: FSDP\nnum_machines: 4\nnum_processes: 4\n"
                                     "parallelism_config:\n  parallelism_config_tp_size: 4\n");
  EXPECT_TRUE(workload.launches.empty());
  EXPECT_EQ(workload.trains.value_or(false), true);
  EXPECT_EQ(workload.parallelism.nodes.value_or(0), 4);
  EXPECT_EQ(workload.parallelism.tensor.value_or(0), 4);
  EXPECT_THAT(workload.parallelism.data_parallel_kinds, ElementsAre("fsdp"));
}

TEST_F(WorkloadTest, LookAlikesOfTensorParallelKeysDoNotCount) {
  const Workload workload =
      read_one("model.yaml",
               "# tensor_parallel: 8\npretraining_tp: 8\nhttp_port: 2\nstop: 4\noutput_tp_dir: 2\nlearning_rate: 1e-4\n"
               "note: 'tensor_parallel_size: 2'\ntp_plan: auto\nnum_nodes_description: 2\n");
  EXPECT_FALSE(workload.parallelism.tensor);
  EXPECT_FALSE(workload.parallelism.nodes);
}

TEST_F(WorkloadTest, DeepSpeedJsonGivesItsStage) {
  const Workload workload =
      read_one("ds.json", R"({"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": 1})");
  EXPECT_THAT(workload.parallelism.data_parallel_kinds, ElementsAre("zero-2"));
  EXPECT_TRUE(workload.trains.value_or(false));
}

TEST_F(WorkloadTest, TorchtitanTomlIsRead) {
  const Workload workload = read_one("job.toml",
                                     "[optimizer]\nlr = 8e-4\n[parallelism]\ntensor_parallel_degree = 2\n"
                                     "data_parallel_shard_degree = -1\n");
  EXPECT_EQ(workload.parallelism.tensor.value_or(0), 2);
  EXPECT_FALSE(workload.parallelism.data);
  EXPECT_TRUE(workload.trains.value_or(false));
}

TEST_F(WorkloadTest, TrainersOwnGenerationEngineIsKeptApart) {
  const Workload workload =
      read_one("grpo.yaml", "learning_rate: 1e-6\nnum_generations: 8\nvllm_tensor_parallel_size: 2\nnum_machines: 2\n");
  EXPECT_FALSE(workload.parallelism.tensor);
  EXPECT_EQ(workload.parallelism.tensor_of_generation.value_or(0), 2);
}

TEST_F(WorkloadTest, ComposeCommandsMayBeTextsListsOrFlagsOfTheImage) {
  const Workload workload = read_one("compose.yaml", R"(
services:
  text: {image: "my/image", command: "python -m vllm.entrypoints.openai.api_server --model org/a --gpu-memory-utilization=0.35"}
  list:
    image: lmsysorg/sglang:v1
    entrypoint: ["python3", "-m"]
    command: ["sglang.launch_server", "--model-path", "org/b", "--mem-fraction-static", "0.6", "--tp", "1"]
  flags: {image: "vllm/vllm-openai:v1", command: ["--model", "org/c-FP8", "--gpu-memory-utilization", "0.2"]}
  web: {image: "ghcr.io/x/open-webui:main"}
)");
  ASSERT_EQ(workload.launches.size(), 4U);
  EXPECT_EQ(workload.launches[0].cap.fraction.value_or(0), 0.35);
  EXPECT_EQ(*workload.launches[0].model, "org/a");
  EXPECT_EQ(*workload.launches[1].server, ServerKind::sglang);
  EXPECT_EQ(workload.launches[1].cap.kind, CapKind::fraction_static);
  EXPECT_EQ(workload.launches[1].parallelism.tensor.value_or(0), 1);
  EXPECT_EQ(*workload.launches[2].server, ServerKind::vllm);
  EXPECT_EQ(workload.launches[2].cap.setting, "--gpu-memory-utilization 0.2");
  EXPECT_EQ(*workload.launches[2].quantization, "fp8");
  EXPECT_EQ(workload.launches[3].role, LaunchRole::other);
}

TEST_F(WorkloadTest, ComposeTakesVariablesFromItsEnvFilesAndDefaults) {
  put(".env", "UTIL=0.45\n");
  put("server.env", "OLLAMA_GPU_MEMORY=20GiB\n");
  put("compose.yml", R"(
x-base: &base {mem_limit: 8g}
services:
  a: {<<: *base, image: vllm/vllm-openai, command: "--model m --gpu-memory-utilization ${UTIL:-0.9} --port ${PORT:-8000}"}
  b: {image: ollama/ollama, env_file: server.env, profiles: [night]}
)");
  const Workload workload = read(folder_.string());
  ASSERT_EQ(workload.launches.size(), 2U);
  EXPECT_EQ(workload.launches[0].cap.fraction.value_or(0), 0.45);
  ASSERT_EQ(workload.launches[0].container_limits.size(), 1U);
  EXPECT_EQ(workload.launches[1].cap.bytes.value_or(Bytes{0}), gibibytes(20));
  EXPECT_THAT(workload.launches[1].profiles, ElementsAre("night"));
  EXPECT_TRUE(workload.settings.empty());
}

TEST_F(WorkloadTest, AFileThatACommandNamesIsReadFromTheSameFolder) {
  put("conf/x.yaml", "kv_cache_config:\n  free_gpu_memory_fraction: 0.25\n");
  put("run.sh", "#!/bin/bash\nset -e\nexec trtllm-serve org/m --extra_llm_api_options=/etc/somewhere/x.yaml\n");
  const Workload workload = read(folder_.string());
  ASSERT_EQ(workload.launches.size(), 1U);
  EXPECT_EQ(workload.launches[0].cap.kind, CapKind::fraction_of_free);
  EXPECT_EQ(workload.launches[0].cap.fraction.value_or(0), 0.25);
  EXPECT_THAT(workload.launches[0].cap.setting, HasSubstr("conf/x.yaml:2"));
  EXPECT_TRUE(workload.settings.empty());
}

TEST_F(WorkloadTest, AScriptsArraysAndVariablesReachItsCommand) {
  const Workload workload = read_one("s.sh",
                                     "TP=2\nexport NCCL_IB_DISABLE=1\nARGS=(\n  --tensor-parallel-size $TP # two\n"
                                     "  --gpu-memory-utilization 0.7\n)\nvllm serve org/m \"${ARGS[@]}\" &\nwait\n");
  ASSERT_EQ(workload.launches.size(), 1U);
  const Launch& launch = workload.launches[0];
  EXPECT_EQ(launch.parallelism.tensor.value_or(0), 2);
  EXPECT_EQ(launch.cap.fraction.value_or(0), 0.7);
  EXPECT_EQ(launch.order, LaunchOrder::together);
  ASSERT_EQ(launch.environment.size(), 1U);
  EXPECT_EQ(launch.environment[0].key, "NCCL_IB_DISABLE");
}

TEST_F(WorkloadTest, ARecipeOfArgumentsIsOneLaunch) {
  const Workload workload =
      read_one("r.conf", "NNODES=3\nTRAIN_ARGS=\"--tensor-model-parallel-size 3 --micro-batch-size 1\"\n");
  ASSERT_EQ(workload.launches.size(), 1U);
  EXPECT_EQ(workload.launches[0].role, LaunchRole::trainer);
  EXPECT_EQ(workload.launches[0].parallelism.tensor.value_or(0), 3);
  EXPECT_EQ(workload.launches[0].parallelism.nodes.value_or(0), 3);
}

TEST_F(WorkloadTest, SchedulerDirectivesTellTheNodes) {
  const Workload workload =
      read_one("job.sbatch", "#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun --nnodes $SLURM_NNODES train.py --tp 2\n");
  ASSERT_EQ(workload.launches.size(), 1U);
  EXPECT_EQ(workload.launches[0].role, LaunchRole::trainer);
  EXPECT_EQ(workload.launches[0].parallelism.nodes.value_or(0), 2);
  EXPECT_EQ(workload.launches[0].parallelism.tensor.value_or(0), 2);
}

TEST_F(WorkloadTest, KubernetesContainersAndTimeSlicing) {
  const Workload workload = read_one("k.yaml", R"(
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: s
        image: vllm/vllm-openai
        args: ["--model", "m", "--gpu-memory-utilization", "0.5"]
        env: [{name: NCCL_NET, value: Socket}]
---
apiVersion: v1
kind: ConfigMap
data:
  cfg: "version: v1\nsharing:\n  mps:\n    resources:\n    - {name: nvidia.com/gpu, replicas: 3}\n"
)");
  ASSERT_EQ(workload.launches.size(), 1U);
  EXPECT_EQ(workload.launches[0].name, "s");
  EXPECT_EQ(workload.launches[0].cap.fraction.value_or(0), 0.5);
  EXPECT_EQ(workload.gpu_sharing_replicas.value_or(0), 3);
}

TEST_F(WorkloadTest, ModelsOfASwappingProxyTakeTurns) {
  const Workload workload =
      read_one("config.yaml",
               "models:\n  a:\n    cmd: llama-server -m /m/a.gguf -ngl 99\n  b:\n    cmd: |\n      vllm serve b \\\n"
               "        --gpu-memory-utilization 0.6\n");
  ASSERT_EQ(workload.launches.size(), 2U);
  EXPECT_EQ(workload.launches[0].order, LaunchOrder::in_turn);
  EXPECT_EQ(workload.launches[1].cap.fraction.value_or(0), 0.6);
}

TEST_F(WorkloadTest, HostileFilesAreNamedWithTheirReason) {
  put("good.yaml", "learning_rate: 1\n");
  put("bad.yaml", "a: [1\nb: {");
  put("bomb.yaml", "a: &a\n  b: *a\n");
  put("binary.json", std::string("{\0}", 3));
  put("big.toml", std::string(std::size_t{5} << 20, ' '));
  put("open.sh", "echo \"never closed\n");
  put("1/2/3/4/5/deep.yaml", "tp_size: 2\n");
  const Workload workload = read(folder_.string());
  for (const char* const part :
       {"bad.yaml: line", "bomb.yaml: line 2: an anchor inside itself", "binary.json: it holds NUL",
        "big.toml: ", "open.sh: line 1: a quote", "deeper than 4 levels"})
    EXPECT_THAT(workload.not_understood, Contains(HasSubstr(part)));
  EXPECT_THAT(workload.files, Contains("good.yaml"));
}

TEST_F(WorkloadTest, WhatShouldHaveBeenReadIsToldApartFromWhatIsNeverRead) {
  put("good.yaml", "learning_rate: 1\n");
  put("README.md", "# tp_size: 2\n");
  put("train.py", "tp_size = 2\n");
  put("1/2/3/4/5/picture.png", "x");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.yaml").c_str(), 0600), 0);
  const Workload workload = read(folder_.string());
  EXPECT_THAT(workload.not_understood, ElementsAre(HasSubstr("pipe.yaml")));
  EXPECT_THAT(workload.not_read, ElementsAre(HasSubstr("train.py: Python is not read")));
}

TEST_F(WorkloadTest, ServicesOfAWrongTypeAreNotUnderstood) {
  put("good.yaml", "learning_rate: 1\n");
  put("list.yaml", "services:\n  - image: vllm/vllm-openai\n");
  put("word.yaml", "services: many\n");
  put("mixed.yaml", "services:\n  a: {image: vllm/vllm-openai}\n  b: 5\n");
  const Workload workload = read(folder_.string());
  EXPECT_THAT(workload.not_understood,
              ::testing::UnorderedElementsAre(HasSubstr("list.yaml: line 2: services is no map"),
                                              HasSubstr("word.yaml: line 1: services is no map"),
                                              HasSubstr("mixed.yaml: line 3: service b is no map")));
}

TEST_F(WorkloadTest, SizesThatCannotBeReadAreUnknownAndStayInTheEvidence) {
  const Workload workload =
      read(put("a.yaml", "learning_rate: 1\ntensor_parallel_size: 2x\nnum_nodes: 1:2\ncp: /tmp\n"));
  EXPECT_FALSE(workload.parallelism.tensor);
  EXPECT_THAT(workload.parallelism.tensor.reason(),
              HasSubstr("tensor-parallel size '2x' cannot be read (tensor_parallel_size, a.yaml:2)"));
  EXPECT_EQ(workload.parallelism.nodes.value_or(0), 2);
  EXPECT_EQ(workload.parallelism.context.reason(), Known<int>().reason());
  ASSERT_FALSE(workload.parallelism.evidence.empty());
  EXPECT_EQ(workload.parallelism.evidence.front().value, "2x");
}

TEST_F(WorkloadTest, NothingUnderstoodIsAnErrorWithItsReason) {
  const auto missing = read_workload((folder_ / "none").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::usage);
  const auto empty = read_workload(folder_.string());
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("no configuration"));
  const auto broken = read_workload(put("x.json", "{\"a\": "));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::usage);
  EXPECT_THAT(broken.error().message, HasSubstr("x.json"));
  EXPECT_FALSE(read_workload(put("train.py", "tp_size = 2\n")));
}

TEST_F(WorkloadTest, NeverMoreThanTwoHundredFiles) {
  for (int i = 0; i < 205; ++i) put("f" + std::to_string(i) + ".yaml", "tp_size: 1\n");
  const Workload workload = read(folder_.string());
  EXPECT_EQ(workload.files.size(), 200U);
  EXPECT_THAT(workload.not_understood, Contains(HasSubstr("more than 200 files")));
}

TEST_F(WorkloadTest, LinksOutOfTheFolderAreNotFollowed) {
  put("good.yaml", "learning_rate: 1\n");
  std::filesystem::create_symlink("/etc/hostname", folder_ / "out.conf");
  const Workload workload = read(folder_.string());
  EXPECT_THAT(workload.not_understood, Contains(HasSubstr("out.conf")));
}

TEST_F(WorkloadTest, ACommandReadsTheConfigurationItNames) {
  const std::string config = put("acc.yaml", "distributed_type: MULTI_GPU\nnum_machines: 2\n");
  const Workload workload = read_command({"accelerate", "launch", "--config_file", config, "sft.py"});
  ASSERT_EQ(workload.launches.size(), 1U);
  EXPECT_EQ(workload.launches[0].role, LaunchRole::trainer);
  EXPECT_EQ(workload.launches[0].parallelism.nodes.value_or(0), 2);
  EXPECT_THAT(workload.launches[0].parallelism.data_parallel_kinds, ElementsAre("ddp"));
}

TEST_F(WorkloadTest, ACommandThatIsAScriptIsReadThroughIt) {
  const std::string script = put("go.sh", "vllm serve m --gpu-memory-utilization 0.3\n");
  const Workload workload = read_command({"bash", script});
  EXPECT_THAT(workload.launches, Contains(::testing::Field(&Launch::role, LaunchRole::server)));
}

TEST_F(WorkloadTest, PythonIsRefusedWithTheKindsThatAreReadAndTheWayByTheCommand) {
  const auto workload = read_workload(put("train.py", "import torch\n"));
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().kind, ErrorKind::usage);
  EXPECT_THAT(
      workload.error().message,
      HasSubstr("read are YAML, JSON, TOML, .conf and .env files, shell scripts, compose files and Kubernetes"));
  EXPECT_THAT(workload.error().message, HasSubstr("name the command instead: sparkops preflight -- torchrun … "));
}

TEST_F(WorkloadTest, ATextThatIsNoShellScriptIsRefused) {
  for (const char* const text :
       {"import torch\nlr=1\ntrain(model, lr=2)\n", "from x import (a,\n  b)\n", "x = 1\ndef f(a):\n  , lr=2\n",
        "#!/usr/bin/env -S python3 -u\nlr=1\n", "#!/usr/share/python/python3\nlr=1\n", ", lr=3\n(x lr=2\n; lr=1\n"}) {
    const auto workload = read_workload(put("job", text));
    EXPECT_FALSE(workload) << text;
  }
  EXPECT_FALSE(read_workload(put("job.sh", "#!/usr/bin/python3\nlr=1\n")));
  const Workload script = read_one("start", "#!/bin/bash\npython - <<E\nimport torch\nE\nvllm serve m\n");
  ASSERT_FALSE(script.launches.empty());
  EXPECT_EQ(script.launches.back().role, LaunchRole::server);
}

TEST_F(WorkloadTest, AWordThatIsNoProgramNameIsNoJob) {
  const Workload workload = read_one("a.conf", "A=1\n, --learning_rate 3\nls\ncd x\npwd\n");
  for (const Launch& launch : workload.launches) EXPECT_NE(launch.name, ",");
  EXPECT_NE(read_launch({",", "--learning_rate", "3"}, {}).role, LaunchRole::trainer);
  EXPECT_EQ(read_launch({"./job", "--learning_rate", "3"}, {}).role, LaunchRole::trainer);
}

TEST_F(WorkloadTest, ComposeWithoutAFileIsSaid) {
  EXPECT_THAT(read_command({"docker", "compose", "up"}).not_understood, Contains(HasSubstr("no compose.yaml")));
}

struct CommandKind {
  std::vector<std::string> command;
  LaunchRole role;
  std::string server;  ///< empty: none
};

class LaunchKind : public ::testing::TestWithParam<CommandKind> {};

TEST_P(LaunchKind, IsToldFromTheCommand) {
  const Launch launch = read_launch(GetParam().command, {});
  EXPECT_EQ(launch.role, GetParam().role) << launch.name;
  EXPECT_EQ(launch.server ? std::string(to_string(*launch.server)) : "", GetParam().server);
}

using Words = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Commands, LaunchKind,
    ::testing::Values(
        CommandKind{Words{"/opt/v/bin/python3.12", "/opt/v/bin/vllm", "serve", "m"}, LaunchRole::server, "vllm"},
        CommandKind{Words{"python3", "-u", "-m", "vllm.entrypoints.openai.api_server"}, LaunchRole::server, "vllm"},
        CommandKind{Words{"VLLM::EngineCore"}, LaunchRole::server, "vllm"},
        CommandKind{Words{"vllm", "bench", "serve"}, LaunchRole::other, ""},
        CommandKind{Words{"vllm", "bench", "throughput", "--model", "m"}, LaunchRole::server, "vllm"},
        CommandKind{Words{"ollama", "start"}, LaunchRole::server, "ollama"},
        CommandKind{Words{"llama-cli", "-m", "x.gguf"}, LaunchRole::server, "llama_cpp"},
        CommandKind{Words{"python", "-m", "axolotl.cli.inference", "c.yml"}, LaunchRole::other, ""},
        CommandKind{Words{"torchrun", "inference.py", "--learning-rate", "1"}, LaunchRole::trainer, ""},
        CommandKind{Words{"bash", "-lc", "cd /x && exec vllm serve m"}, LaunchRole::server, "vllm"},
        CommandKind{Words{"env", "A=1", "nohup", "ollama", "serve"}, LaunchRole::server, "ollama"},
        CommandKind{Words{"ollama", "run", "m"}, LaunchRole::other, ""},
        CommandKind{Words{"/app/llama-server", "-m", "x.gguf"}, LaunchRole::server, "llama_cpp"},
        CommandKind{Words{"docker", "run", "--rm", "-it", "--gpus", "all", "-e", "A=b", "-p8000:8000",
                          "vllm/vllm-openai:v1", "--model", "m"},
                    LaunchRole::server, "vllm"},
        CommandKind{
            Words{"docker", "run", "-d", "--name", "t", "nvcr.io/nvidia/pytorch:26.02-py3", "torchrun", "train.py"},
            LaunchRole::trainer, ""},
        CommandKind{Words{"mpirun", "-n", "2", "-H", "a,b", "--mca", "btl", "tcp", "-x", "X=1", "trtllm-llmapi-launch",
                          "trtllm-serve", "m"},
                    LaunchRole::server, "tensorrt_llm"},
        CommandKind{Words{"python", "-m", "sglang.launch_server"}, LaunchRole::server, "sglang"},
        CommandKind{Words{"text-generation-launcher", "--model-id", "m"}, LaunchRole::server, "tgi"},
        CommandKind{Words{"python", "/home/u/ComfyUI/main.py", "--listen"}, LaunchRole::server, "comfyui"},
        CommandKind{Words{"tritonserver", "--model-repository=/m"}, LaunchRole::server, "triton_server"},
        CommandKind{Words{"uv", "run", "--with", "trl", "python", "grpo_run.py"}, LaunchRole::trainer, ""},
        CommandKind{Words{"axolotl", "train", "c.yml"}, LaunchRole::trainer, ""},
        CommandKind{Words{"llamafactory-cli", "chat", "c.yml"}, LaunchRole::other, ""},
        CommandKind{Words{"deepspeed", "--num_nodes", "2", "run.py"}, LaunchRole::trainer, ""},
        CommandKind{Words{"torchrun", "--nnodes=2", "inference.py"}, LaunchRole::other, ""},
        CommandKind{Words{"python", "constrained_decoding.py"}, LaunchRole::other, ""},
        CommandKind{Words{"python", "job.py", "--per_device_train_batch_size", "4"}, LaunchRole::trainer, ""},
        CommandKind{Words{"echo", "vllm", "serve"}, LaunchRole::other, ""},
        CommandKind{Words{}, LaunchRole::other, ""}));

}  // namespace
}  // namespace sparkops::facts
