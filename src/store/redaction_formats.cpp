#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "store/redaction.h"
#include "store/redaction_patterns.h"

namespace sparkops::store {

namespace {

/// Variables that readers and verdicts use. Prefixes end in '_'.
constexpr std::array<std::string_view, 30> k_kept_prefixes{
    "CUDA_",      "NCCL_",          "GLOO_",   "VLLM_",       "SGLANG_", "SGL_",          "OLLAMA_",     "PYTORCH_",
    "TORCH_",     "TORCHINDUCTOR_", "TRITON_", "NVIDIA_",     "HF_",     "TRANSFORMERS_", "OMP_",        "UCX_",
    "TRTLLM_",    "TLLM_",          "TRT_",    "LLAMA_",      "XLA_",    "JAX_",          "ACCELERATE_", "FSDP_",
    "DEEPSPEED_", "UNSLOTH_",       "RAY_",    "FLASHINFER_", "NVTE_",   "LMCACHE_"};
constexpr std::array<std::string_view, 23> k_kept_names{
    "LD_LIBRARY_PATH", "LD_PRELOAD",       "PYTHONPATH",    "VIRTUAL_ENV",  "CONDA_PREFIX",  "PATH",
    "WORLD_SIZE",      "LOCAL_WORLD_SIZE", "RANK",          "LOCAL_RANK",   "MASTER_ADDR",   "MASTER_PORT",
    "container",       "SLURM_JOB_ID",     "SLURM_NNODES",  "SLURM_NTASKS", "HOME",          "PYTHONNOUSERSITE",
    "PYTHONUSERBASE",  "PYTHONHOME",       "PYENV_VERSION", "PYENV_ROOT",   "PIP_CONSTRAINT"};

constexpr std::string_view k_value_left_out = "(left out)";

bool is_kept(std::string_view name) {
  return std::any_of(k_kept_prefixes.begin(), k_kept_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(k_kept_names.begin(), k_kept_names.end(), name) != k_kept_names.end();
}

/// The name of an option without its dashes: "--api-key" → "api-key"; empty for a word that is none.
std::string_view option_name(std::string_view word) {
  if (!word.starts_with('-')) return {};
  while (word.starts_with('-')) word.remove_prefix(1);
  return word.substr(0, word.find('='));
}

/// "8000:8000", "127.0.0.1:80/tcp", "1000:1000": ports and ids, not credentials.
bool is_numbers(std::string_view word) {
  return word.find_first_not_of("0123456789:.,-/tcpud") == std::string_view::npos;
}

bool is_path(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.starts_with('.') || word.starts_with('~');
}

/// Where in the value of an option without a telling name its secret begins: of "-u name:password" (curl, wget) after
/// the colon, of "-p password" (docker login, sshpass) at the start. Nothing for ports, ids and paths, which the same
/// options stand for elsewhere.
std::optional<std::size_t> credential_in(std::string_view option, std::string_view word) {
  const bool user = option == "u" || option == "U" || option == "user" || option == "proxy-user";
  const std::size_t colon = word.find(':');
  if (user && colon != std::string_view::npos && colon + 1 < word.size() && !is_numbers(word)) return colon + 1;
  if (option == "p" && !word.empty() && !is_numbers(word) && !is_path(word)) return 0;
  return std::nullopt;
}

/// Pieces that each end in NUL; the last one may not.
template <class Redact>
std::string for_each_piece(std::string_view block, Redact redact) {
  std::string out;
  while (!block.empty()) {
    const std::size_t end = block.find('\0');
    out += redact(block.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\0';
    block.remove_prefix(end + 1);
  }
  return out;
}

/// Whether a word such as `X-Api-Key:` or `{"password":` says that the next one is secret.
bool announces_secret(std::string_view word) {
  if (!word.ends_with(':')) return false;
  word.remove_suffix(1);
  while (!word.empty() && !patterns::is_word(word.front())) word.remove_prefix(1);
  while (!word.empty() && !patterns::is_word(word.back())) word.remove_suffix(1);
  return patterns::names_a_secret(word);
}

}  // namespace

std::string Redactor::option_value(std::string_view option, std::string_view word) {
  const auto secret = credential_in(option, word);
  if (!secret) return value(option, word);
  return text(word.substr(0, *secret)) + placeholder(Kind::secret, word.substr(*secret));
}

std::string Redactor::option_word(std::string_view word) {
  // "-uname:password", "-ppassword"; a long option, or a few letters together, is no value.
  constexpr std::size_t k_prefix = 2;
  const bool may_hold_value = word.size() > k_prefix && (word.starts_with("-u") || word.starts_with("-p")) &&
                              word.find('=') == std::string_view::npos;
  if (!may_hold_value) return text(word);
  const std::string_view rest = word.substr(k_prefix);
  const bool password = word[1] == 'p' && std::any_of(rest.begin(), rest.end(), [](char c) {
                          return c < 'a' || c > 'z';  // letters alone may be any option: -python
                        });
  const auto secret = word[1] == 'u' || password ? credential_in(word.substr(1, 1), rest) : std::nullopt;
  if (!secret) return text(word);
  return text(word.substr(0, k_prefix + *secret)) + placeholder(Kind::secret, rest.substr(*secret));
}

std::string Redactor::command_line(std::string_view words) {
  std::string_view option;  // the one whose value the next word may be
  return for_each_piece(words, [&](std::string_view word) -> std::string {
    const std::size_t equals = word.find('=');
    const std::string_view name = option_name(word);
    if (!name.empty()) {
      option = equals == std::string_view::npos ? name : std::string_view{};
      if (equals == std::string_view::npos) return option_word(word);
      return text(word.substr(0, equals + 1)) + value(name, word.substr(equals + 1));
    }
    const std::string_view of = std::exchange(option, {});
    const bool is_value = word.find(' ') == std::string_view::npos || patterns::names_a_secret(of);
    if (!of.empty() && is_value) return option_value(of, word);
    // "NAME=value" as env(1) and Hydra take it; a command in one word (sh -c) is text, with its assignments.
    const bool assignment = equals != std::string_view::npos && equals > 0 &&
                            std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
                              return patterns::is_word(c) || c == '.' || c == '-' || c == '+';
                            });
    if (assignment && word.find(' ') == std::string_view::npos)
      return text(word.substr(0, equals + 1)) + value(word.substr(0, equals), word.substr(equals + 1));
    return word.find(' ') == std::string_view::npos ? text(word) : shell_text(word);
  });
}

std::string Redactor::shell_text(std::string_view line) {
  std::string out;
  std::string_view option;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
    const std::string_view word = line.substr(0, end);
    const std::size_t equals = word.find('=');
    const std::string_view name = word.starts_with('-') ? option_name(word) : word.substr(0, equals);
    if (equals != std::string_view::npos && !name.empty())
      out += text(word.substr(0, equals + 1)) + value(name, word.substr(equals + 1));
    else if (!option.empty() && !word.empty() && !word.starts_with('-') && !announces_secret(word))
      out += option_value(option, word);
    else
      out += word.starts_with('-') ? option_word(word) : text(word);
    // "Authorization: Bearer X" is the other way to put a credential behind a blank.
    const bool announces =
        word == "Bearer" || word == "Basic" || announces_secret(word) || (word.starts_with('-') && equals == word.npos);
    if (!word.empty()) option = !announces ? std::string_view{} : name.empty() || name == word ? "bearer" : name;
    if (end == line.size()) break;
    out += line[end];
    line.remove_prefix(end + 1);
  }
  return out;
}

std::string Redactor::environment(std::string_view block) {
  return for_each_piece(block, [&](std::string_view entry) -> std::string {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return entry.empty() ? "" : std::string(k_value_left_out);
    const std::string_view name = entry.substr(0, equals);
    const std::string_view content = entry.substr(equals + 1);
    std::string out = text(name) + "=";
    if (!is_kept(name)) return out + std::string(content.empty() ? "" : k_value_left_out);
    // Versions of four numbers look like addresses.
    const bool version = name.ends_with("_VERSION") || name.ends_with("_BUILD_ID");
    return out + (version ? std::string(content) : value(name, content));
  });
}

std::string Redactor::assignments(std::string_view lines) {
  std::string out;
  for (const std::string_view line : split_lines(lines)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      out += text(line) + "\n";
      continue;
    }
    std::string_view content = line.substr(equals + 1);
    const bool quoted = content.size() >= 2 && content.front() == '"' && content.back() == '"';
    if (quoted) content = content.substr(1, content.size() - 2);
    const std::string redacted = value(line.substr(0, equals), content);
    out += std::string(line.substr(0, equals + 1)) + (quoted ? "\"" + redacted + "\"" : redacted) + "\n";
  }
  return out;
}

}  // namespace sparkops::store
