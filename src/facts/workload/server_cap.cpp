#include "facts/workload/server_cap.h"

#include <array>
#include <span>
#include <string_view>

#include "base/text.h"
#include "facts/workload/options.h"

namespace sparkops::facts {

namespace {

/// The options of one server that bound its memory (its documentation), and the names recipe files give them.
struct CapOptions {
  ServerKind server;
  CapKind kind;
  std::span<const std::string_view> names;
};

constexpr std::array<std::string_view, 1> k_kv_bytes = {"kv_cache_memory_bytes"};
constexpr std::array<std::string_view, 8> k_vllm_fraction = {"gpu_memory_utilization",
                                                             "vllm_gpu_memory_utilization",
                                                             "gpu_mem_util",
                                                             "gpu_memory_util",
                                                             "gpu_util",
                                                             "vllm_gpu_memory_util",
                                                             "gpu_mem",
                                                             "vllm_gpu_mem_util"};
constexpr std::array<std::string_view, 3> k_sglang_fraction = {"mem_fraction_static", "sglang_mem_fraction_static",
                                                               "mem_fraction"};
constexpr std::array<std::string_view, 2> k_tensorrt_fraction = {"free_gpu_memory_fraction",
                                                                 "kv_cache_free_gpu_memory_fraction"};
constexpr std::array<std::string_view, 2> k_ollama_bytes = {"ollama_gpu_memory", "ollama_max_vram"};
constexpr std::array<std::string_view, 1> k_tgi_fraction = {"cuda_memory_fraction"};

/// In the order in which they decide: vLLM ignores its fraction once KV bytes are given.
constexpr std::array<CapOptions, 6> k_cap_options = {{
    {ServerKind::vllm, CapKind::bytes, k_kv_bytes},
    {ServerKind::vllm, CapKind::fraction_of_total, k_vllm_fraction},
    {ServerKind::sglang, CapKind::fraction_static, k_sglang_fraction},
    {ServerKind::tensorrt_llm, CapKind::fraction_of_free, k_tensorrt_fraction},
    {ServerKind::ollama, CapKind::bytes, k_ollama_bytes},
    {ServerKind::tgi, CapKind::fraction_of_total, k_tgi_fraction},
}};

bool has_cap_option(ServerKind kind) {
  return kind == ServerKind::vllm || kind == ServerKind::sglang || kind == ServerKind::tensorrt_llm ||
         kind == ServerKind::tgi;
}

Known<double> read_fraction(const Setting& setting) {
  std::string_view text = trim(setting.value);
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number || *number <= 0)
    return unknown(setting.where + ": " + setting.key + " is \"" + setting.value + "\", which is no fraction");
  constexpr double k_hundred = 100;
  return as_read(percent ? *number / k_hundred : *number);
}

Known<Bytes> read_bytes(const Setting& setting) {
  const auto size = parse_size(trim(setting.value), Bytes{1});
  if (!size || size->value <= 0)
    return unknown(setting.where + ": " + setting.key + " is \"" + setting.value + "\", which is no size");
  return as_read(*size);
}

/// "--gpu-memory-utilization 0.9" for an option, "free_gpu_memory_fraction: 0.9 (extra.yml:3)" for a file.
std::string as_written(const Setting& setting, bool from_environment) {
  if (setting.key.starts_with('-')) return setting.key + " " + setting.value;
  if (from_environment) return setting.key + "=" + setting.value;
  return setting.key + ": " + setting.value + " (" + setting.where + ")";
}

}  // namespace

ServerCap read_server_cap(ServerKind kind, const std::vector<Setting>& settings,
                          const std::vector<Setting>& environment) {
  for (const CapOptions& options : k_cap_options) {
    if (options.server != kind) continue;
    const Setting* setting = find_setting(settings, options.names);
    const bool from_environment = setting == nullptr;
    if (from_environment) setting = find_setting(environment, options.names);
    if (setting == nullptr) continue;
    ServerCap cap;
    cap.kind = options.kind;
    cap.fraction = unknown("the cap is not given as a fraction");
    cap.bytes = unknown("the cap is not given in bytes");
    if (options.kind == CapKind::bytes)
      cap.bytes = read_bytes(*setting);
    else
      cap.fraction = read_fraction(*setting);
    cap.setting = as_written(*setting, from_environment);
    return cap;
  }
  ServerCap cap;
  cap.kind = has_cap_option(kind) ? CapKind::none_given : CapKind::has_no_cap;
  cap.fraction = unknown("no cap was given");
  cap.bytes = unknown("no cap was given");
  return cap;
}

}  // namespace sparkops::facts
