#include "facts/workload/known_programs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/text.h"
#include "facts/workload/command_unwrap.h"

namespace sparkops::facts {
namespace {

using Words = std::vector<std::string_view>;

/// How a row of the table is compared with a command line, and what its `with` means ("|" stands between
/// alternatives; empty: nothing more is asked).
enum class By {
  title,          ///< what a process calls itself: the beginning of its first word
  program,        ///< the name of the program, script or module; with: subcommands, others are those of clients
  program_given,  ///< the same for names that say little; with: texts of which one stands in the arguments
  module,         ///< python -m: the module or a module inside it
  path,           ///< a part of the path of the program or script; with: its end
};

/// Whether a program starts another one that tells what it does.
enum class Launches { itself, script, script_on_one_node };

struct Row {
  By by;
  std::string_view pattern;
  std::string_view with = {};
  std::optional<ServerKind> server = {};  ///< none: a trainer
  Launches launches = Launches::itself;
};

/// Everything that is recognised by name.
constexpr std::array k_rows = {
    Row{By::title, "VLLM::", "", ServerKind::vllm},
    // "bench serve" is a client of a running server; the other two load the model themselves.
    Row{By::program, "vllm", "serve|run-batch|bench latency|bench throughput", ServerKind::vllm},
    Row{By::module, "vllm.entrypoints", "", ServerKind::vllm},
    Row{By::title, "sglang::", "", ServerKind::sglang},
    Row{By::program, "sglang", "serve", ServerKind::sglang},
    Row{By::module, "sglang.launch_server", "", ServerKind::sglang},
    Row{By::module, "sglang.srt", "", ServerKind::sglang},
    Row{By::program, "trtllm-serve", "", ServerKind::tensorrt_llm},
    Row{By::module, "tensorrt_llm.commands.serve", "", ServerKind::tensorrt_llm},
    Row{By::program, "tritonserver", "", ServerKind::triton_server},
    Row{By::program, "ollama", "serve|start|runner", ServerKind::ollama},  // start is another name of serve
    Row{By::program, "ollama_llama_server", "", ServerKind::ollama},
    Row{By::program, "llama-server", "", ServerKind::llama_cpp},
    Row{By::program, "llama-cli", "", ServerKind::llama_cpp},
    Row{By::program, "llama-swap", "", ServerKind::llama_cpp},
    Row{By::program, "rpc-server", "", ServerKind::llama_cpp},
    Row{By::program_given, "server", ".gguf", ServerKind::llama_cpp},  // names of before mid-2024
    Row{By::program_given, "main", ".gguf", ServerKind::llama_cpp},
    Row{By::module, "llama_cpp.server", "", ServerKind::llama_cpp},
    Row{By::title, "LM Studio", "", ServerKind::lm_studio},
    Row{By::program, "llmster", "", ServerKind::lm_studio},
    Row{By::program, "lms", "server", ServerKind::lm_studio},
    Row{By::path, ".lmstudio/", "", ServerKind::lm_studio},
    Row{By::program, "text-generation-launcher", "", ServerKind::tgi},
    Row{By::program, "text-generation-router", "", ServerKind::tgi},
    Row{By::program, "text-generation-server", "serve", ServerKind::tgi},
    Row{By::module, "text_generation_server", "", ServerKind::tgi},
    Row{By::program, "comfy", "launch", ServerKind::comfyui},
    Row{By::path, "comfyui", "/main.py", ServerKind::comfyui},
    // Started in its own folder: options that only it has, or its port.
    Row{By::program_given, "main.py",
        "--lowvram|--highvram|--normalvram|--reserve-vram|--gpu-only|--disable-smart-memory|--front-end-version|"
        "--port 8188|--port=8188",
        ServerKind::comfyui},

    Row{By::program, "torchrun", "", {}, Launches::script_on_one_node},
    Row{By::module, "torch.distributed.run", "", {}, Launches::script_on_one_node},
    Row{By::module, "torch.distributed.launch", "", {}, Launches::script_on_one_node},
    Row{By::program, "accelerate", "launch", {}, Launches::script},
    Row{By::module, "accelerate.commands.launch", "", {}, Launches::script},
    Row{By::program, "deepspeed", "", {}, Launches::script},
    Row{By::module, "deepspeed.launcher", "", {}, Launches::script},
    Row{By::program, "colossalai", "run", {}, Launches::script},
    Row{By::program, "composer", "", {}, Launches::script},
    Row{By::program, "tune", "run", {}, Launches::script},
    Row{By::program, "axolotl", "train"},
    Row{By::program, "llamafactory-cli", "train"},
    Row{By::program, "lmf", "train"},
    Row{By::module, "llamafactory.launcher"},
    Row{By::program, "trl", "sft|dpo|grpo|kto|rloo|reward"},
    Row{By::program, "unsloth", "train"},
    Row{By::program, "swift", "sft|pt|rlhf"},
    Row{By::program, "megatron", "sft|pt|rlhf"},
    Row{By::program, "nemo", "llm pretrain|llm finetune"},
    Row{By::program, "automodel", "pretrain|finetune"},
};

/// Beginnings of the words in a script's name that speak of training. "pretrain_gpt.py" is Megatron's.
constexpr std::array<std::string_view, 17> k_training_words = {
    "train", "pretrain", "finetun", "fine_tun", "fine-tun", "sft",  "dpo",     "grpo",   "ppo",
    "orpo",  "kto",      "rlhf",    "lora",     "qlora",    "peft", "unsloth", "distill"};

/// Words in the names of scripts that do something else, with what was trained or before it: "serve_lora.py". Whole
/// words: "finetune_chatbot.py" trains.
constexpr std::array<std::string_view, 22> k_other_words = {
    "infer",    "inference", "generate",  "serve", "server",   "serving", "bench", "benchmark",
    "eval",     "evaluate",  "chat",      "demo",  "client",   "export",  "merge", "convert",
    "quantize", "nccl",      "allreduce", "plot",  "download", "prepare"};

enum class Part { beginning, whole };

/// Whether a word of the name is one of `words` or begins with one: "train" begins a word of "my-trainer.py" and none
/// of "constrained.py".
bool has_word(std::span<const std::string_view> words, Part part, std::string_view name) {
  const std::string lower = to_lower(name);
  const auto is_letter = [&](std::size_t at) { return at < lower.size() && lower[at] >= 'a' && lower[at] <= 'z'; };
  for (std::size_t at = 0; at < lower.size(); ++at) {
    if (!is_letter(at) || (at > 0 && is_letter(at - 1))) continue;
    const std::string_view rest = std::string_view(lower).substr(at);
    for (const std::string_view word : words)
      if (rest.starts_with(word) && (part == Part::beginning || !is_letter(at + word.size()))) return true;
  }
  return false;
}

bool does_something_else(std::string_view name) {
  return has_word(k_other_words, Part::whole, name);
}

bool is_python(std::string_view program) {
  constexpr std::string_view k_python = "python";
  return program.starts_with(k_python) &&
         program.find_first_not_of("0123456789.t", k_python.size()) == std::string_view::npos;
}

/// A command line, taken apart once for all rows.
struct Subject {
  const Words& words;
  std::string_view path;    ///< of the program, or of Python's script
  std::string_view module;  ///< after python -m
  std::string name;         ///< the file name of the path, or the module
  std::size_t arguments_at = 1;
  bool is_script = false;  ///< named by its author: its name may tell what it does
};

Subject take_apart(const Words& words) {
  Subject subject{words, words.front(), {}, base_name(words.front())};
  subject.is_script = subject.name.ends_with(".sh");
  if (!is_python(subject.name)) return subject;
  subject.path = {};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "-X" || word == "-W") {
      ++i;
    } else if (word == "-c") {
      subject.name += " -c";
      break;
    } else if (word == "-m" && i + 1 < words.size()) {
      const std::string_view module = words[i + 1];
      return {words, {}, module, std::string(module), i + 2, true};
    } else if (!word.starts_with('-')) {
      return {words, word, {}, base_name(word), i + 1, true};
    }
  }
  subject.arguments_at = words.size();
  return subject;
}

/// How many words of the arguments are the subcommand that the row asks for; nothing when it is not there.
std::optional<std::size_t> subcommand_length(const Row& row, const Subject& subject) {
  if (row.by != By::program || row.with.empty()) return 0;
  const Words arguments(subject.words.begin() + static_cast<std::ptrdiff_t>(subject.arguments_at), subject.words.end());
  for (const std::string_view allowed : split(row.with, '|')) {
    const Words parts = split_words(allowed);
    if (parts.size() <= arguments.size() && std::equal(parts.begin(), parts.end(), arguments.begin()))
      return parts.size();
  }
  return std::nullopt;
}

bool is_given(const Row& row, const Words& words) {
  const std::string line = join({words.begin(), words.end()}, " ");
  const auto texts = split(row.with, '|');
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) { return contains(line, text); });
}

bool matches(const Row& row, const Subject& subject) {
  const std::string_view module = subject.module;
  switch (row.by) {
    case By::title: return subject.words.front().starts_with(row.pattern);
    case By::program: return subject.name == row.pattern;
    case By::program_given: return subject.name == row.pattern && is_given(row, subject.words);
    case By::module:
      return module.starts_with(row.pattern) &&
             (module.size() == row.pattern.size() || module[row.pattern.size()] == '.');
    case By::path: return contains_ignoring_case(subject.path, row.pattern) && subject.path.ends_with(row.with);
  }
  return false;
}

/// The script or module behind a launcher's own options: the first word ending in ".py", or the word after -m.
std::optional<std::string> launched_script(const Words& words, std::size_t from) {
  for (std::size_t i = from; i < words.size(); ++i) {
    if ((words[i] == "-m" || words[i] == "--module") && i + 1 < words.size()) return base_name(words[i + 1]);
    if (words[i].ends_with(".py")) return base_name(words[i]);
  }
  return std::nullopt;
}

Program program_of(const Row& row, const Subject& subject, std::size_t subcommand) {
  Program program;
  program.name = subject.name;
  program.arguments_at = subject.arguments_at + subcommand;
  if (row.server) {
    program.role = LaunchRole::server;
    program.server = as_read(ServerKind(*row.server));
    return program;
  }
  program.role = LaunchRole::trainer;
  if (row.launches == Launches::itself) {
    for (std::size_t i = subject.arguments_at; i < program.arguments_at; ++i)
      program.name += " " + std::string(subject.words[i]);
    return program;
  }
  // A launcher of distributed training starts a trainer unless its script says that it does something else.
  program.name = launched_script(subject.words, program.arguments_at).value_or(subject.name);
  program.starts_one_node = row.launches == Launches::script_on_one_node;
  if (does_something_else(program.name)) program.role = LaunchRole::other;
  return program;
}

}  // namespace

Program recognise_program(const Words& words) {
  if (words.empty() || words.front().empty()) return {};
  const Subject subject = take_apart(words);
  for (const Row& row : k_rows) {
    if (!matches(row, subject)) continue;
    if (const auto subcommand = subcommand_length(row, subject)) return program_of(row, subject, *subcommand);
    break;
  }
  Program program;
  program.name = subject.name;
  program.arguments_at = subject.arguments_at;
  if (subject.is_script && has_word(k_training_words, Part::beginning, subject.name) &&
      !does_something_else(subject.name))
    program.role = LaunchRole::trainer;
  return program;
}

bool is_known_title(std::string_view title) {
  constexpr std::size_t k_longest_title = 15;  // TASK_COMM_LEN without its NUL
  return std::any_of(k_rows.begin(), k_rows.end(), [&](const Row& row) {
    if (row.by == By::title) return title.starts_with(row.pattern);
    return row.by == By::program && row.with.empty() && title == row.pattern.substr(0, k_longest_title);
  });
}

}  // namespace sparkops::facts
