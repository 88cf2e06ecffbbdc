#include "facts/workload/training_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "facts/workload/training_words.h"

namespace sparkops::facts {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class WorkloadFolder : public testing::Test {
 protected:
  WorkloadFolder() { fs::create_directories(directory()); }
  ~WorkloadFolder() override { fs::remove_all(directory()); }
  static std::string directory() { return testing::TempDir() + "sparkops-training-" + std::to_string(::getpid()); }
  static std::string write(const std::string& name, const std::string& content) {
    std::ofstream(directory() + "/" + name) << content;
    return directory() + "/" + name;
  }
  static WorkloadConfig read(const std::string& path) {
    const auto config = read_workload_config(path);
    EXPECT_TRUE(config) << (config ? "" : config.error().message);
    return config ? *config : WorkloadConfig{};
  }
  static TrainingConfig training(const std::string& name, const std::string& content) {
    const WorkloadConfig config = read(write(name, content));
    EXPECT_THAT(config.trainings, SizeIs(1));
    return config.trainings.empty() ? TrainingConfig{} : config.trainings.front();
  }
};

std::vector<std::string> keys(const std::vector<Setting>& settings) {
  std::vector<std::string> result;
  for (const Setting& setting : settings) result.push_back(setting.key);
  return result;
}

TEST_F(WorkloadFolder, OfAxolotl) {
  const TrainingConfig c = training("qlora.yml", R"(
base_model: NousResearch/Llama-3.2-1B
load_in_4bit: true
adapter: qlora
lora_r: 32
lora_alpha: 16
lora_dropout: 0.05
lora_target_linear: true
datasets:
  - path: teknium/GPT4-LLM-Cleaned
    type: alpaca
sequence_len: 2048
sample_packing: true
micro_batch_size: 2
gradient_accumulation_steps: 4
optimizer: adamw_bnb_8bit
bf16: auto
gradient_checkpointing: true
attn_implementation: flash_attention_2
plugins:
  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin
learning_rate: 0.0002
frobnicate: 7
)");
  EXPECT_EQ(*c.framework, TrainingFramework::axolotl);
  EXPECT_EQ(*c.model, "NousResearch/Llama-3.2-1B");
  EXPECT_EQ(*c.method, TrainingMethod::qlora);
  EXPECT_EQ(*c.weights, "nf4");
  EXPECT_EQ(*c.lora_rank, 32);
  EXPECT_DOUBLE_EQ(*c.lora_dropout, 0.05);
  EXPECT_THAT(*c.lora_targets, ElementsAre("all-linear"));
  EXPECT_EQ(*c.sequence, 2048);
  EXPECT_TRUE(*c.packing);
  EXPECT_EQ(*c.batch, 2);
  EXPECT_EQ(*c.gradient_accumulation, 4);
  EXPECT_EQ(*c.optimizer, "adamw_bnb_8bit");
  EXPECT_EQ(*c.checkpointing, GradientCheckpointing::full);
  EXPECT_EQ(*c.attention, AttentionImplementation::flash);
  EXPECT_EQ(*c.loss, LossImplementation::cut_cross_entropy);
  EXPECT_EQ(*c.dataset, "teknium/GPT4-LLM-Cleaned");
  EXPECT_THAT(keys(c.unknown_keys), ElementsAre("frobnicate"));
  EXPECT_FALSE(c.uses_dora);
}

TEST_F(WorkloadFolder, OfAxolotlWithoutAnAdapterTrainsEverything) {
  const TrainingConfig c =
      training("fft.yml", "base_model: Qwen/Qwen3-8B\nadapter:\nsequence_len: 4096\nmicro_batch_size: 1\nrl: dpo\n");
  EXPECT_EQ(*c.method, TrainingMethod::full);
  EXPECT_EQ(*c.objective, Objective::dpo);
}

TEST_F(WorkloadFolder, OfLlamaFactory) {
  const TrainingConfig c = training("llama3_lora_sft.yaml", R"(
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: sft
do_train: true
finetuning_type: lora
lora_rank: 8
lora_target: q_proj,v_proj
additional_target: embed_tokens, lm_head
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
bf16: true
flash_attn: fa2
enable_liger_kernel: true
deepspeed: examples/deepspeed/ds_z3_config.json
)");
  EXPECT_EQ(*c.framework, TrainingFramework::llama_factory);
  EXPECT_EQ(*c.method, TrainingMethod::lora);
  EXPECT_EQ(*c.objective, Objective::sft);
  EXPECT_THAT(*c.lora_targets, ElementsAre("q_proj", "v_proj"));
  EXPECT_THAT(*c.modules_to_save, ElementsAre("embed_tokens", "lm_head"));
  EXPECT_EQ(*c.sequence, 2048);
  EXPECT_EQ(*c.dtype, "bf16");
  EXPECT_EQ(*c.loss, LossImplementation::liger);
  EXPECT_EQ(*c.attention, AttentionImplementation::flash);
}

TEST_F(WorkloadFolder, OfTorchtune) {
  const TrainingConfig c = training("8B_qlora.yaml", R"(
model:
  _component_: torchtune.models.llama3_1.qlora_llama3_1_8b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 8
  lora_alpha: 16
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
  path: /models/tokenizer.model
  max_seq_len: 8192
checkpointer:
  _component_: torchtune.training.FullModelHFCheckpointer
  checkpoint_dir: /models/Meta-Llama-3.1-8B-Instruct/
dataset:
  _component_: torchtune.datasets.alpaca_cleaned_dataset
  packed: True
batch_size: 2
optimizer:
  _component_: torch.optim.AdamW
  fused: True
loss:
  _component_: torchtune.modules.loss.LinearCrossEntropyLoss
dtype: bf16
enable_activation_checkpointing: True
enable_activation_offloading: False
compile: False
gradient_accumulation_steps: 8
)");
  EXPECT_EQ(*c.framework, TrainingFramework::torchtune);
  EXPECT_EQ(*c.method, TrainingMethod::qlora);
  EXPECT_EQ(*c.model, "/models/Meta-Llama-3.1-8B-Instruct/");
  EXPECT_THAT(*c.lora_targets, ElementsAre("q_proj", "v_proj", "output_proj"));
  EXPECT_EQ(*c.sequence, 8192);
  EXPECT_TRUE(*c.packing);
  EXPECT_EQ(*c.optimizer, "adamw");
  EXPECT_EQ(*c.loss, LossImplementation::chunked);
  EXPECT_EQ(*c.checkpointing, GradientCheckpointing::full);
  EXPECT_FALSE(*c.activation_offload);
}

TEST_F(WorkloadFolder, OfNemoAutomodel) {
  const TrainingConfig c = training("finetune.yaml", R"(
recipe:
  _target_: nemo_automodel.recipes.llm.train_ft.TrainFinetuneRecipeForNextTokenPrediction
step_scheduler:
  global_batch_size: 64
  local_batch_size: 8
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: meta-llama/Llama-3.2-1B
peft:
  _target_: nemo_automodel.components._peft.lora.PeftConfig
  match_all_linear: True
  dim: 8
  alpha: 32
loss_fn:
  _target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy
dataset:
  _target_: nemo_automodel.components.datasets.llm.squad.make_squad_dataset
  dataset_name: rajpurkar/squad
packed_sequence:
  packed_sequence_size: 4096
optimizer:
  _target_: torch.optim.Adam
)");
  EXPECT_EQ(*c.framework, TrainingFramework::nemo_automodel);
  EXPECT_EQ(*c.model, "meta-llama/Llama-3.2-1B");
  EXPECT_EQ(*c.method, TrainingMethod::lora);
  EXPECT_EQ(*c.lora_rank, 8);
  EXPECT_EQ(*c.batch, 8);
  EXPECT_EQ(*c.sequence, 4096);
  EXPECT_TRUE(*c.packing);
  EXPECT_EQ(*c.optimizer, "adam");
  EXPECT_EQ(*c.loss, LossImplementation::hf);
  EXPECT_EQ(*c.dataset, "rajpurkar/squad");
}

TEST_F(WorkloadFolder, OfAccelerateAndDeepspeedBesideARun) {
  write("accelerate.yaml", "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 2\nmixed_precision: bf16\n");
  write("ds.json", R"({"zero_optimization":{"stage":3,"offload_optimizer":{"device":"cpu"},
                       "offload_param":{"device":"none"}},"train_micro_batch_size_per_gpu":"auto"})");
  write("args.json", R"({"model_name_or_path":"Qwen/Qwen3-4B","max_length":1024,"per_device_train_batch_size":4,
                         "use_peft":true,"lora_r":16,"optim":"paged_adamw_8bit"})");
  const WorkloadConfig config = read(directory());
  ASSERT_THAT(config.trainings, SizeIs(1));
  const TrainingConfig& c = config.trainings.front();
  EXPECT_EQ(*c.batch, 4);
  EXPECT_EQ(*c.parallelism.nodes, 2);
  EXPECT_TRUE(*c.optimizer_offload);
  EXPECT_FALSE(c.parameter_offload.value_or(false));
  EXPECT_EQ(*c.dtype, "bf16");
  EXPECT_EQ(*c.optimizer, "paged_adamw_8bit");
  EXPECT_EQ(*c.method, TrainingMethod::lora);
}

const char* const k_unsloth = R"py(
from unsloth import FastLanguageModel
import torch
max_seq_length = 2048
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name = "unsloth/Qwen3-14B",
    max_seq_length = max_seq_length,
    load_in_4bit = True,  # 4 bit
)
model = FastLanguageModel.get_peft_model(
    model, r = 32,
    target_modules = ["q_proj", "k_proj", "v_proj", "o_proj",
                      "gate_proj", "up_proj", "down_proj",],
    lora_alpha = 32, lora_dropout = 0, bias = "none",
    use_gradient_checkpointing = "unsloth",
)
from trl import SFTTrainer, SFTConfig
trainer = SFTTrainer(
    model = model, train_dataset = combined,
    args = SFTConfig(per_device_train_batch_size = 2, gradient_accumulation_steps = 4,
                     packing = pick(), optim = "adamw_8bit", learning_rate = 2e-4))
__import__("os").system("touch /tmp/should-not-exist")
)py";

TEST_F(WorkloadFolder, OfAnUnslothScriptIsReadWithoutRunningIt) {
  const TrainingConfig c = training("train.py", k_unsloth);
  EXPECT_EQ(*c.framework, TrainingFramework::unsloth);
  EXPECT_EQ(*c.model, "unsloth/Qwen3-14B");
  EXPECT_EQ(*c.method, TrainingMethod::qlora);
  EXPECT_EQ(*c.weights, "nf4");
  EXPECT_EQ(*c.sequence, 2048);
  EXPECT_EQ(*c.lora_rank, 32);
  EXPECT_THAT(*c.lora_targets, SizeIs(7));
  EXPECT_EQ(*c.checkpointing, GradientCheckpointing::unsloth);
  EXPECT_EQ(*c.batch, 2);
  EXPECT_EQ(*c.optimizer, "adamw_8bit");
  EXPECT_EQ(*c.objective, Objective::sft);
  EXPECT_FALSE(c.packing);
  EXPECT_THAT(c.not_read, Contains(HasSubstr("packing")));
  EXPECT_THAT(keys(c.unknown_keys), IsEmpty());
}

TEST_F(WorkloadFolder, OfANotebook) {
  std::string source;
  for (const char* c = k_unsloth; *c != '\0'; ++c)
    source += *c == '\n' ? std::string("\\n") : *c == '"' ? std::string("\\\"") : std::string(1, *c);
  const TrainingConfig c =
      training("n.ipynb", R"({"cells":[{"cell_type":"code","source":")" + source + R"("}],"nbformat":4})");
  EXPECT_EQ(*c.lora_rank, 32);
  EXPECT_EQ(*c.model, "unsloth/Qwen3-14B");
}

TEST_F(WorkloadFolder, OfATransformersScriptWithBitsAndBytes) {
  const TrainingConfig c = training("q.py", R"py(
import peft
bnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B", quantization_config=bnb,
                                             attn_implementation="sdpa", device_map="auto")
tokenizer = AutoTokenizer.from_pretrained("other/tokenizer")
config = LoraConfig(r=64, target_modules="all-linear", task_type="CAUSAL_LM", use_dora=True)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=1, gradient_checkpointing=True, bf16=True)
)py");
  EXPECT_EQ(*c.model, "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(*c.weights, "nf4-single");
  EXPECT_EQ(*c.method, TrainingMethod::qlora);
  EXPECT_THAT(*c.lora_targets, ElementsAre("all-linear"));
  EXPECT_TRUE(*c.uses_dora);
  EXPECT_EQ(*c.attention, AttentionImplementation::sdpa);
}

TEST_F(WorkloadFolder, OfAFullFineTuneScript) {
  const TrainingConfig c = training("full.py", R"py(
from transformers import Trainer, TrainingArguments, AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B", torch_dtype=torch.bfloat16)
model.gradient_checkpointing_enable()
trainer = Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=1, optim="adamw_bnb_8bit"))
)py");
  EXPECT_EQ(*c.method, TrainingMethod::full);
  EXPECT_EQ(*c.weights, "bf16");
  EXPECT_EQ(*c.checkpointing, GradientCheckpointing::full);
}

TEST_F(WorkloadFolder, OfACommandWithItsScriptAndOptions) {
  const std::string script = write("train.py",
                                   "p.add_argument('--batch_size', default=8)\n"
                                   "TrainingArguments(per_device_train_batch_size=args.batch_size, "
                                   "optim='adamw_torch')\n"
                                   "AutoModelForCausalLM.from_pretrained(args.model)\n");
  const WorkloadConfig config = read_command_config({"torchrun", "--nproc_per_node", "1", script, "--batch_size", "2",
                                                     "--model", "Qwen/Qwen3-8B", "--max_seq_length", "4k"});
  ASSERT_THAT(config.trainings, SizeIs(1));
  EXPECT_EQ(*config.trainings[0].batch, 2);
  EXPECT_EQ(*config.trainings[0].model, "Qwen/Qwen3-8B");
  EXPECT_EQ(*config.trainings[0].sequence, 4000);
  EXPECT_EQ(*config.trainings[0].optimizer, "adamw_torch");
}

TEST_F(WorkloadFolder, OfTrlAndTorchtuneCommands) {
  const auto command = [](const std::vector<std::string>& words) {
    const WorkloadConfig config = read_command_config(words);
    EXPECT_THAT(config.trainings, SizeIs(1));
    return config.trainings.empty() ? TrainingConfig{} : config.trainings.front();
  };
  const TrainingConfig trl = command({"trl", "dpo", "--model_name_or_path", "Qwen/Qwen3-0.6B", "--use_peft", "--lora_r",
                                      "8", "--per_device_train_batch_size", "2", "--gradient_checkpointing"});
  EXPECT_EQ(*trl.objective, Objective::dpo);
  EXPECT_EQ(*trl.method, TrainingMethod::lora);
  EXPECT_EQ(*trl.checkpointing, GradientCheckpointing::full);
  const TrainingConfig tune = command({"tune", "run", "lora_finetune_single_device", "--config",
                                       "llama3_1/8B_lora_single_device", "batch_size=4", "tokenizer.max_seq_len=1024"});
  EXPECT_EQ(*tune.framework, TrainingFramework::torchtune);
  EXPECT_EQ(*tune.method, TrainingMethod::lora);
  EXPECT_EQ(*tune.batch, 4);
  EXPECT_EQ(*tune.sequence, 1024);
}

TEST_F(WorkloadFolder, WithNumbersThatAreNoneSaysSo) {
  const TrainingConfig c = training("x.yaml",
                                    "base_model: m\nsequence_len: lots\nmicro_batch_size: -2\nlora_r: 0\n"
                                    "lora_dropout: 7\ngradient_accumulation_steps: 99999999999999999999\n");
  EXPECT_FALSE(c.sequence);
  EXPECT_FALSE(c.batch);
  EXPECT_FALSE(c.lora_rank);
  EXPECT_FALSE(c.gradient_accumulation);
  EXPECT_THAT(c.sequence.reason(), HasSubstr("lots"));
  EXPECT_THAT(c.not_read, SizeIs(5));
}

TEST_F(WorkloadFolder, ThatTrainsNothingIsRefused) {
  EXPECT_EQ(read_workload_config(write("a.py", "print('hello')")).error().kind, ErrorKind::usage);
  EXPECT_EQ(read_workload_config(write("b.py", "x = 'open")).error().kind, ErrorKind::usage);
  EXPECT_EQ(read_workload_config(directory() + "/absent.yaml").error().kind, ErrorKind::usage);
  EXPECT_FALSE(read_workload_config(write("c.ipynb", "{}")));
}

TEST_F(WorkloadFolder, OfAServerTellsContextSequencesAndFormats) {
  const WorkloadConfig config =
      read_command_config({"vllm", "serve", "nvidia/Qwen3-32B-NVFP4", "--max-model-len", "32k", "--max-num-seqs", "16",
                           "--kv-cache-dtype", "fp8", "--gpu-memory-utilization", "0.6", "--enforce-eager",
                           "--load-format", "fastsafetensors", "--strange", "1"});
  ASSERT_THAT(config.servers, SizeIs(1));
  const ServerConfig& server = config.servers.front();
  EXPECT_EQ(*server.server, ServerKind::vllm);
  EXPECT_EQ(*server.model, "nvidia/Qwen3-32B-NVFP4");
  EXPECT_EQ(*server.weights, "nvfp4");
  EXPECT_EQ(*server.context, 32'000);
  EXPECT_EQ(*server.sequences, 16);
  EXPECT_EQ(*server.key_value_dtype, "fp8");
  EXPECT_EQ(*server.loader, "fastsafetensors");
  EXPECT_TRUE(*server.eager);
  EXPECT_DOUBLE_EQ(*server.cap.fraction, 0.6);
  EXPECT_THAT(keys(server.unknown_keys), Contains(HasSubstr("strange")));
  const WorkloadConfig llama =
      read_command_config({"llama-server", "-m", "q.gguf", "-c", "8192", "-np", "4", "--no-mmap"});
  ASSERT_THAT(llama.servers, SizeIs(1));
  EXPECT_EQ(*llama.servers[0].context, 8192);
  EXPECT_EQ(*llama.servers[0].sequences, 4);
  EXPECT_FALSE(*llama.servers[0].memory_mapped);
}

TEST_F(WorkloadFolder, OfAScriptWithAnEngine) {
  const WorkloadConfig config =
      read(write("infer.py",
                 "from vllm import LLM\nllm = LLM(model='Qwen/Qwen3-8B', max_model_len=4096,\n"
                 "    gpu_memory_utilization=0.5)\n"));
  ASSERT_THAT(config.servers, SizeIs(1));
  EXPECT_EQ(*config.servers[0].model, "Qwen/Qwen3-8B");
  EXPECT_EQ(*config.servers[0].context, 4096);
  EXPECT_DOUBLE_EQ(*config.servers[0].cap.fraction, 0.5);
}

TEST(TrainingWords, AreReadAsTheFrameworksWriteThem) {
  EXPECT_EQ(optimizer_word("bitsandbytes.optim.PagedAdamW8bit"), "paged_adamw_8bit");
  EXPECT_EQ(optimizer_word("torch.optim.AdamW"), "adamw");
  EXPECT_EQ(optimizer_word("adamw_torch_fused"), "adamw_torch_fused");
  EXPECT_EQ(optimizer_word("Muon"), "muon");
  EXPECT_EQ(dtype_word("torch.bfloat16"), "bf16");
  EXPECT_EQ(dtype_word("auto"), "");
  EXPECT_EQ(*whole_number("32K"), 32'768);
  EXPECT_EQ(*whole_number("4096.0"), 4096);
  EXPECT_FALSE(whole_number("4.5"));
  EXPECT_FALSE(whole_number("1e300"));
  EXPECT_FALSE(whole_number(""));
}

}  // namespace
}  // namespace sparkops::facts
