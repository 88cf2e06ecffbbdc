#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "verdicts/memory/resolve_run.h"

namespace sparkops::verdicts {

std::optional<double> cache_value_bytes(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, double>, 18> k_types{{{"auto", 2},
                                                                         {"bf16", 2},
                                                                         {"bfloat16", 2},
                                                                         {"fp16", 2},
                                                                         {"f16", 2},
                                                                         {"float16", 2},
                                                                         {"fp8", 1},
                                                                         {"fp8_e4m3", 1},
                                                                         {"fp8_e5m2", 1},
                                                                         {"int8", 1},
                                                                         {"nvfp4", 0.5625},
                                                                         {"q8_0", 34.0 / 32},
                                                                         {"q5_1", 0.75},
                                                                         {"q5_0", 0.6875},
                                                                         {"q4_1", 0.625},
                                                                         {"q4_0", 0.5625},
                                                                         {"iq4_nl", 0.5625},
                                                                         {"f32", 4}}};
  for (const auto& [name, bytes] : k_types)
    if (name == word) return bytes;
  return std::nullopt;
}

std::optional<double> gguf_mix_bits(std::string_view name) {
  // llama.cpp's quantize README, Llama-3.1-8B (memory-model.md §4); a file's own tensor table is exact.
  constexpr std::array<std::pair<std::string_view, double>, 27> k_mixes{
      {{"iq1_s", 2.0042},  {"iq1_m", 2.1460},   {"iq2_xxs", 2.3824}, {"iq2_xs", 2.5882}, {"iq2_s", 2.7403},
       {"iq2_m", 2.9294},  {"iq3_xxs", 3.2548}, {"iq3_xs", 3.4977},  {"iq3_s", 3.6606},  {"iq3_m", 3.7628},
       {"iq4_xs", 4.4597}, {"iq4_nl", 4.6818},  {"q2_k_s", 2.9697},  {"q2_k", 3.1593},   {"q3_k_s", 3.6429},
       {"q3_k_l", 4.2979}, {"q4_k_s", 4.6672},  {"q4_k_m", 4.8944},  {"q5_k_s", 5.5704}, {"q5_k_m", 5.7036},
       {"q6_k", 6.5633},   {"q8_0", 8.5008},    {"f16", 16.0005},    {"bf16", 16.0005},  {"f32", 32},
       {"mxfp4", 4.34},    {"q4_0", 4.6}}};
  const std::string word = to_lower(name);
  for (const auto& [mix, bits] : k_mixes)
    if (mix == word) return bits;
  return std::nullopt;
}

}  // namespace sparkops::verdicts
