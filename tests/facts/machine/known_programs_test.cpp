#include "facts/machine/known_programs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "base/text.h"

namespace sparkops::facts {
namespace {

std::optional<KnownProgram> recognise(std::string_view line) {
  return recognise_program(split_words(line));
}

std::string described(std::string_view line) {
  const std::optional<KnownProgram> program = recognise(line);
  if (!program) return "-";
  const char* const role = program->role == ProgramRole::server    ? "server"
                           : program->role == ProgramRole::trainer ? "trainer"
                                                                   : "possible trainer";
  return std::string(role) + " " + std::string(program->name);
}

TEST(KnownPrograms, Servers) {
  EXPECT_EQ(described("/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-32B"), "server vllm");
  EXPECT_EQ(described("vllm serve model --port 8000"), "server vllm");
  EXPECT_EQ(described("VLLM::EngineCore"), "server vllm");
  EXPECT_EQ(described("VLLM::Worker_TP0"), "server vllm");
  EXPECT_EQ(described("python3 -m vllm.entrypoints.openai.api_server --model m"), "server vllm");
  EXPECT_EQ(described("python -u -X dev -m sglang.launch_server --model-path m"), "server sglang");
  EXPECT_EQ(described("sglang::scheduler"), "server sglang");
  EXPECT_EQ(described("/usr/bin/python3 /usr/local/bin/trtllm-serve m"), "server trtllm-serve");
  EXPECT_EQ(described("/usr/local/bin/ollama serve"), "server ollama");
  EXPECT_EQ(described("/usr/local/bin/ollama runner --model x --port 1"), "server ollama");
  EXPECT_EQ(described("./build/bin/llama-server -m model.gguf -ngl 99"), "server llama-server");
  EXPECT_EQ(described("/home/user/llama.cpp/build/bin/main -m m.gguf"), "server llama.cpp");
  EXPECT_EQ(described("/home/user/.lmstudio/bin/llmworker"), "server LM Studio");
  EXPECT_EQ(described("text-generation-launcher --model-id m"), "server text-generation-launcher");
  EXPECT_EQ(described("python3 /opt/ComfyUI/main.py --listen"), "server ComfyUI");
  EXPECT_EQ(described("python main.py --listen --reserve-vram 4"), "server ComfyUI");
  EXPECT_EQ(described("tritonserver --model-repository=/m"), "server tritonserver");
  EXPECT_EQ(recognise("llama-server -m x")->server, ServerKind::llama_cpp);
}

TEST(KnownPrograms, Trainers) {
  EXPECT_EQ(described("/usr/bin/python3 /usr/local/bin/torchrun --nnodes 2 train.py"), "trainer torchrun");
  EXPECT_EQ(described("python -m torch.distributed.run x.py"), "trainer torchrun");
  EXPECT_EQ(described("python3 /venv/bin/accelerate launch run.py"), "trainer accelerate");
  EXPECT_EQ(described("deepspeed --num_gpus 1 x.py"), "trainer deepspeed");
  EXPECT_EQ(described("python3 /venv/bin/axolotl train config.yml"), "trainer axolotl");
  EXPECT_EQ(described("python -m axolotl.cli.train c.yml"), "trainer axolotl");
  EXPECT_EQ(described("llamafactory-cli train c.yaml"), "trainer llamafactory-cli");
  EXPECT_EQ(described("python3.12 /venv/bin/trl sft --model m"), "trainer trl");
  EXPECT_EQ(described("tune run lora_finetune_single_device --config c"), "trainer torchtune");
}

TEST(KnownPrograms, ScriptsNamedAfterTraining) {
  EXPECT_EQ(described("python train.py"), "possible trainer train.py");
  EXPECT_EQ(described("python3 -u /app/run_sft.py"), "possible trainer run_sft.py");
  EXPECT_EQ(described("python pretrain_gpt.py --tp 1"), "possible trainer pretrain_gpt.py");
  EXPECT_EQ(described("python my-finetune-70b.py"), "possible trainer my-finetune-70b.py");
  EXPECT_EQ(described("python fine_tune.py"), "possible trainer fine_tune.py");
  EXPECT_EQ(described("python unsloth_notebook.py"), "possible trainer unsloth_notebook.py");
  EXPECT_EQ(described("python -m mypackage.train"), "possible trainer mypackage.train");
}

TEST(KnownPrograms, ClientsAndOthersAreNothing) {
  for (const char* line : {"ollama run llama3", "vllm chat", "bash -c train.py", "vim train.py", "python constraint.py",
                           "python", "python -c import(train)", "python main.py", "accelerate config", "tune ls",
                           "sshd: user", "nvidia-smi", "/usr/bin/python3 /usr/bin/networkd-dispatcher", "restrain"}) {
    EXPECT_EQ(described(line), "-") << line;
  }
  EXPECT_FALSE(recognise_program({}));
  EXPECT_FALSE(recognise_program({""}));
}

TEST(KnownPrograms, ZombiesByTheirName) {
  EXPECT_EQ(recognise_title("VLLM::EngineCor")->name, "vllm");
  EXPECT_EQ(recognise_title("llama-server")->name, "llama-server");
  EXPECT_FALSE(recognise_title("ollama")) << "server or client: the name does not tell";
  EXPECT_FALSE(recognise_title("kworker/0:1"));
}

RC_GTEST_PROP(KnownPrograms, AnyWordsAreHarmless, (const std::vector<std::string>& words)) {
  const auto program = recognise_program({words.begin(), words.end()});
  RC_ASSERT(!program || !program->name.empty());
}

}  // namespace
}  // namespace sparkops::facts
