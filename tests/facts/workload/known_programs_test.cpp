#include "facts/workload/known_programs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "base/text.h"

namespace sparkops::facts {
namespace {

/// "vllm" for its server, "trainer train.py", "-" for what is neither.
std::string described(std::string_view line) {
  const Program program = recognise_program(split_words(line));
  EXPECT_EQ(program.role == LaunchRole::server, program.server.known()) << line;
  if (program.role == LaunchRole::trainer) return "trainer " + program.name;
  return program.server ? std::string(to_string(*program.server)) : "-";
}

TEST(KnownPrograms, Servers) {
  EXPECT_EQ(described("/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-32B"), "vllm");
  EXPECT_EQ(described("vllm serve model --port 8000"), "vllm");
  EXPECT_EQ(described("VLLM::EngineCore"), "vllm");
  EXPECT_EQ(described("VLLM::Worker_TP0"), "vllm");
  EXPECT_EQ(described("python3 -m vllm.entrypoints.openai.api_server --model m"), "vllm");
  EXPECT_EQ(described("python -u -X dev -m sglang.launch_server --model-path m"), "sglang");
  EXPECT_EQ(described("sglang::scheduler"), "sglang");
  EXPECT_EQ(described("/usr/bin/python3 /usr/local/bin/trtllm-serve m"), "tensorrt_llm");
  EXPECT_EQ(described("/usr/local/bin/ollama serve"), "ollama");
  EXPECT_EQ(described("/usr/local/bin/ollama runner --model x --port 1"), "ollama");
  EXPECT_EQ(described("./build/bin/llama-server -m model.gguf -ngl 99"), "llama_cpp");
  EXPECT_EQ(described("/home/user/llama.cpp/build/bin/main -m m.gguf"), "llama_cpp");
  EXPECT_EQ(described("/home/user/.lmstudio/bin/llmworker"), "lm_studio");
  EXPECT_EQ(described("text-generation-launcher --model-id m"), "tgi");
  EXPECT_EQ(described("python3 /opt/ComfyUI/main.py --listen"), "comfyui");
  EXPECT_EQ(described("python main.py --listen --reserve-vram 4"), "comfyui");
  EXPECT_EQ(described("tritonserver --model-repository=/m"), "triton_server");
  EXPECT_EQ(described("python main.py --port 8188"), "comfyui");
  EXPECT_EQ(described("python3 -m text_generation_server.cli serve m"), "tgi");
}

TEST(KnownPrograms, Trainers) {
  EXPECT_EQ(described("/usr/bin/python3 /usr/local/bin/torchrun --nnodes 2 train.py"), "trainer train.py");
  EXPECT_EQ(described("python -m torch.distributed.run x.py"), "trainer x.py");
  EXPECT_EQ(described("python3 /venv/bin/accelerate launch run.py"), "trainer run.py");
  EXPECT_EQ(described("deepspeed --num_gpus 1 x.py"), "trainer x.py");
  EXPECT_EQ(described("python3 /venv/bin/axolotl train config.yml"), "trainer axolotl train");
  EXPECT_EQ(described("python -m axolotl.cli.train c.yml"), "trainer axolotl.cli.train");
  EXPECT_EQ(described("llamafactory-cli train c.yaml"), "trainer llamafactory-cli train");
  EXPECT_EQ(described("python3.12 /venv/bin/trl sft --model m"), "trainer trl sft");
  EXPECT_EQ(described("tune run lora_finetune_single_device --config c"), "trainer tune");
}

TEST(KnownPrograms, ProgramsThatLoadAnEngineOfTheirOwnCountAsItsServer) {
  EXPECT_EQ(described("vllm run-batch -i in.jsonl -o out.jsonl --model m"), "vllm");
  EXPECT_EQ(described("vllm bench throughput --model m"), "vllm");
  EXPECT_EQ(described("/app/llama-cli -m m.gguf"), "llama_cpp");
  EXPECT_EQ(described("ollama start"), "ollama") << "another name of ollama serve";
}

TEST(KnownPrograms, ArgumentsStandBehindTheSubcommand) {
  EXPECT_EQ(recognise_program(split_words("python3 /v/bin/vllm bench latency --model m")).arguments_at, 4U);
  EXPECT_EQ(recognise_program(split_words("python -X dev -m sglang.launch_server --tp 1")).arguments_at, 5U);
  EXPECT_TRUE(recognise_program(split_words("torchrun --nnodes 2 x.py")).starts_one_node);
}

TEST(KnownPrograms, ScriptsNamedAfterTraining) {
  EXPECT_EQ(described("python train.py"), "trainer train.py");
  EXPECT_EQ(described("python3 -u /app/run_sft.py"), "trainer run_sft.py");
  EXPECT_EQ(described("python pretrain_gpt.py --tp 1"), "trainer pretrain_gpt.py");
  EXPECT_EQ(described("python my-finetune-70b.py"), "trainer my-finetune-70b.py");
  EXPECT_EQ(described("python fine_tune.py"), "trainer fine_tune.py");
  EXPECT_EQ(described("python unsloth_notebook.py"), "trainer unsloth_notebook.py");
  EXPECT_EQ(described("python -m mypackage.train"), "trainer mypackage.train");
}

TEST(KnownPrograms, ClientsAndOthersAreNothing) {
  for (const char* line : {"ollama run llama3",
                           "vllm chat",
                           "vllm bench serve --model m",
                           "/home/user/.lmstudio/bin/lms ls",
                           "python -m sglang.bench_serving",
                           "axolotl preprocess c.yml",
                           "python -m axolotl.cli.inference c.yml",
                           "llamafactory-cli webui",
                           "bash -c train.py",
                           "vim train.py",
                           "python constraint.py",
                           "python",
                           "python -c import(train)",
                           "python main.py",
                           "./main --help",
                           "accelerate config",
                           "tune ls",
                           "sshd: user",
                           "nvidia-smi",
                           "/usr/bin/python3 /usr/bin/networkd-dispatcher",
                           "restrain"}) {
    EXPECT_EQ(described(line), "-") << line;
  }
  EXPECT_EQ(recognise_program({}).role, LaunchRole::other);
  EXPECT_EQ(recognise_program({""}).role, LaunchRole::other);
}

TEST(KnownPrograms, ScriptsThatSayTheyDoSomethingElseAreNoTrainers) {
  for (const char* line :
       {"python serve_lora.py", "python3 eval_sft.py", "python -m mypackage.train.benchmark", "python merge_lora.py",
        "torchrun --nproc_per_node 1 inference.py", "accelerate launch -m lm.evaluate"}) {
    EXPECT_EQ(described(line), "-") << line;
  }
  EXPECT_EQ(described("python finetune_chatbot.py"), "trainer finetune_chatbot.py");
}

TEST(KnownPrograms, ZombiesByTheirName) {
  EXPECT_TRUE(is_known_title("VLLM::EngineCor"));
  EXPECT_TRUE(is_known_title("llama-server"));
  EXPECT_TRUE(is_known_title("text-generation")) << "the kernel keeps 15 bytes";
  EXPECT_FALSE(is_known_title("ollama")) << "server or client: the name does not tell";
  EXPECT_FALSE(is_known_title("kworker/0:1"));
}

RC_GTEST_PROP(KnownPrograms, AnyWordsAreHarmless, (const std::vector<std::string>& words)) {
  const Program program = recognise_program({words.begin(), words.end()});
  RC_ASSERT(program.role == LaunchRole::other || !program.name.empty());
  RC_ASSERT(program.arguments_at <= words.size());
}

}  // namespace
}  // namespace sparkops::facts
