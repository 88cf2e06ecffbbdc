#include "facts/machine/known_programs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/text.h"

namespace sparkops::facts {
namespace {

using Words = std::vector<std::string_view>;

/// How a row of the table is compared with a command line.
enum class By {
  title,    ///< what a process calls itself: the beginning of its first word
  program,  ///< the file name of the program, or of the script that Python runs
  module,   ///< python -m: the module or a module inside it
  path,     ///< a part of the path of the program or script
};

struct Row {
  By by;
  std::string_view pattern;
  /// Programs that are servers or trainers with one of these words behind them only ("serve|run"); empty: always.
  std::string_view subcommands;
  std::string_view name;
  ProgramRole role;
  std::optional<ServerKind> server;
};

constexpr auto k_serves = ProgramRole::server;
constexpr auto k_trains = ProgramRole::trainer;

/// Everything that is recognised by name.
constexpr std::array k_rows = {
    Row{By::title, "VLLM::", "", "vllm", k_serves, ServerKind::vllm},
    Row{By::program, "vllm", "serve|run-batch|bench", "vllm", k_serves, ServerKind::vllm},
    Row{By::module, "vllm", "", "vllm", k_serves, ServerKind::vllm},
    Row{By::title, "sglang::", "", "sglang", k_serves, ServerKind::sglang},
    Row{By::program, "sglang", "serve", "sglang", k_serves, ServerKind::sglang},
    Row{By::module, "sglang", "", "sglang", k_serves, ServerKind::sglang},
    Row{By::program, "trtllm-serve", "", "trtllm-serve", k_serves, ServerKind::tensorrt_llm},
    Row{By::program, "trtllm-llmapi-launch", "", "trtllm-llmapi-launch", k_serves, ServerKind::tensorrt_llm},
    Row{By::module, "tensorrt_llm", "", "tensorrt_llm", k_serves, ServerKind::tensorrt_llm},
    Row{By::program, "tritonserver", "", "tritonserver", k_serves, ServerKind::triton_server},
    Row{By::program, "ollama", "serve|start|runner", "ollama", k_serves, ServerKind::ollama},
    Row{By::program, "ollama_llama_server", "", "ollama", k_serves, ServerKind::ollama},
    Row{By::program, "llama-server", "", "llama-server", k_serves, ServerKind::llama_cpp},
    Row{By::program, "llama-cli", "", "llama-cli", k_serves, ServerKind::llama_cpp},
    Row{By::program, "llama-swap", "", "llama-swap", k_serves, ServerKind::llama_cpp},
    Row{By::program, "rpc-server", "", "rpc-server", k_serves, ServerKind::llama_cpp},
    Row{By::module, "llama_cpp", "", "llama_cpp", k_serves, ServerKind::llama_cpp},
    Row{By::path, "llama.cpp/", "", "llama.cpp", k_serves, ServerKind::llama_cpp},
    Row{By::title, "LM Studio", "", "LM Studio", k_serves, ServerKind::lm_studio},
    Row{By::program, "llmster", "", "LM Studio", k_serves, ServerKind::lm_studio},
    Row{By::program, "lms", "server", "LM Studio", k_serves, ServerKind::lm_studio},
    Row{By::path, ".lmstudio/", "", "LM Studio", k_serves, ServerKind::lm_studio},
    Row{By::program, "text-generation-launcher", "", "text-generation-launcher", k_serves, ServerKind::tgi},
    Row{By::program, "text-generation-router", "", "text-generation-router", k_serves, ServerKind::tgi},
    Row{By::program, "text-generation-server", "", "text-generation-server", k_serves, ServerKind::tgi},
    Row{By::module, "text_generation_server", "", "text_generation_server", k_serves, ServerKind::tgi},
    Row{By::path, "comfyui/main.py", "", "ComfyUI", k_serves, ServerKind::comfyui},
    Row{By::program, "comfy", "launch", "ComfyUI", k_serves, ServerKind::comfyui},

    Row{By::program, "torchrun", "", "torchrun", k_trains, {}},
    Row{By::module, "torch.distributed.run", "", "torchrun", k_trains, {}},
    Row{By::module, "torch.distributed.launch", "", "torchrun", k_trains, {}},
    Row{By::program, "accelerate", "launch", "accelerate", k_trains, {}},
    Row{By::module, "accelerate.commands.launch", "", "accelerate", k_trains, {}},
    Row{By::program, "deepspeed", "", "deepspeed", k_trains, {}},
    Row{By::module, "deepspeed", "", "deepspeed", k_trains, {}},
    Row{By::program, "axolotl", "train|preprocess", "axolotl", k_trains, {}},
    Row{By::module, "axolotl", "", "axolotl", k_trains, {}},
    Row{By::program, "llamafactory-cli", "train|webui", "llamafactory-cli", k_trains, {}},
    Row{By::module, "llamafactory", "", "llamafactory", k_trains, {}},
    Row{By::program, "trl", "sft|dpo|grpo|kto|rloo|reward", "trl", k_trains, {}},
    Row{By::module, "trl", "", "trl", k_trains, {}},
    Row{By::program, "tune", "run", "torchtune", k_trains, {}},
    Row{By::module, "torchtune", "", "torchtune", k_trains, {}},
    Row{By::module, "torchtitan", "", "torchtitan", k_trains, {}},
    Row{By::program, "unsloth", "train|studio", "unsloth", k_trains, {}},
    Row{By::program, "unsloth-cli.py", "", "unsloth", k_trains, {}},
    Row{By::program, "swift", "sft|pt|rlhf", "ms-swift", k_trains, {}},
    Row{By::program, "composer", "", "composer", k_trains, {}},
    Row{By::module, "verl", "", "verl", k_trains, {}},
    Row{By::module, "nemo_rl", "", "nemo_rl", k_trains, {}},
};

/// Beginnings of the words in a script's name that speak of training. "pretrain_gpt.py" is Megatron's.
constexpr std::array<std::string_view, 14> k_training_words = {"train", "pretrain", "finetun", "sft",    "dpo",
                                                               "grpo",  "ppo",      "orpo",    "rlhf",   "lora",
                                                               "qlora", "unsloth",  "distill", "axolotl"};

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_python(std::string_view program) {
  constexpr std::string_view k_python = "python";
  return program.starts_with(k_python) &&
         program.find_first_not_of("0123456789.t", k_python.size()) == std::string_view::npos;
}

/// What Python was told to run.
struct PythonTarget {
  std::string_view module;  ///< after -m
  std::string_view script;
  std::size_t arguments_at = 0;
};

PythonTarget python_target(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "-c") break;
    if (word == "-m") return i + 1 < words.size() ? PythonTarget{words[i + 1], {}, i + 2} : PythonTarget{};
    if (word == "-X" || word == "-W") {
      ++i;
    } else if (!word.starts_with('-')) {
      return {{}, word, i + 1};
    }
  }
  return {};
}

bool has_subcommand(const Row& row, const Words& words, std::size_t at) {
  if (row.subcommands.empty()) return true;
  if (at >= words.size()) return false;
  for (const std::string_view allowed : split(row.subcommands, '|')) {
    if (words[at] == allowed) return true;
  }
  return false;
}

bool is_module(std::string_view module, std::string_view pattern) {
  return module.starts_with(pattern) && (module.size() == pattern.size() || module[pattern.size()] == '.');
}

/// A command line, taken apart once for all rows.
struct Subject {
  const Words& words;
  std::string_view path;  ///< of the program, or of Python's script
  PythonTarget python;
  std::size_t arguments_at = 1;
};

bool matches(const Row& row, const Subject& subject) {
  switch (row.by) {
    case By::title: return subject.words.front().starts_with(row.pattern);
    case By::program:
      return file_name(subject.path) == row.pattern && has_subcommand(row, subject.words, subject.arguments_at);
    case By::module: return is_module(subject.python.module, row.pattern);
    case By::path: return contains_ignoring_case(subject.path, row.pattern);
  }
  return false;
}

/// Whether one of the words of a name begins like a word of training: "run_sft.py" and "my-trainer.py", but not
/// "constraint.py".
bool speaks_of_training(std::string_view name) {
  const std::string lower = to_lower(name);
  std::size_t at = 0;
  while (at < lower.size()) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const bool starts_a_word = is_letter(lower[at]) && (at == 0 || !is_letter(lower[at - 1]));
    const std::string_view rest = std::string_view(lower).substr(at);
    if (starts_a_word && (rest.starts_with("fine_tun") || rest.starts_with("fine-tun"))) return true;
    if (starts_a_word && std::any_of(k_training_words.begin(), k_training_words.end(),
                                     [&](std::string_view word) { return rest.starts_with(word); })) {
      return true;
    }
    ++at;
  }
  return false;
}

/// ComfyUI started in its own folder is "python main.py" with options that only it has.
bool has_comfyui_options(const Words& words) {
  constexpr std::array<std::string_view, 6> k_options = {"--lowvram",      "--highvram", "--normalvram",
                                                         "--reserve-vram", "--gpu-only", "--disable-smart-memory"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(k_options.begin(), k_options.end(), word) != k_options.end();
  });
}

}  // namespace

std::optional<KnownProgram> recognise_program(const Words& words) {
  if (words.empty() || words.front().empty()) return std::nullopt;
  Subject subject{words, words.front(), {}, 1};
  const bool python = is_python(file_name(words.front()));
  if (python) {
    subject.python = python_target(words);
    subject.path = subject.python.script;
    subject.arguments_at = subject.python.arguments_at;
  }
  for (const Row& row : k_rows) {
    if (matches(row, subject)) return KnownProgram{row.name, row.role, row.server};
  }
  if (!python) return std::nullopt;
  if (file_name(subject.path) == "main.py" && has_comfyui_options(words)) {
    return KnownProgram{"ComfyUI", ProgramRole::server, ServerKind::comfyui};
  }
  const std::string_view script = file_name(subject.path);
  if (speaks_of_training(script)) return KnownProgram{script, ProgramRole::possible_trainer, std::nullopt};
  const std::string_view module = subject.python.module;
  if (speaks_of_training(module)) return KnownProgram{module, ProgramRole::possible_trainer, std::nullopt};
  return std::nullopt;
}

std::optional<KnownProgram> recognise_title(std::string_view title) {
  for (const Row& row : k_rows) {
    const bool same = row.by == By::title ? title.starts_with(row.pattern)
                                          : row.by == By::program && row.subcommands.empty() && title == row.pattern;
    if (same) return KnownProgram{row.name, row.role, row.server};
  }
  return std::nullopt;
}

}  // namespace sparkops::facts
