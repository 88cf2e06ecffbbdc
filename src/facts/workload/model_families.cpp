#include "facts/workload/model_families.h"

#include <algorithm>
#include <array>

namespace sparkops::facts {

namespace {

constexpr auto k_per_head = QueryKeyNorm::per_head;
constexpr auto k_full_width = QueryKeyNorm::full_width;
constexpr auto k_no_norm = QueryKeyNorm::none;
constexpr auto k_parameter = CorrectionBias::parameter;

/// Columns: type, bias, tied, norm of queries and keys, window, its pattern, experts, norms, correction bias, gated,
/// norm bias.
constexpr std::array k_families = {
    ModelFamily{"llama", BiasRule::by_config},
    ModelFamily{"mistral", BiasRule::none, false, k_no_norm, WindowRule::all_when_set},
    ModelFamily{"ministral", BiasRule::none, false, k_no_norm, WindowRule::all_when_set},
    ModelFamily{"ministral3", BiasRule::none, false, k_no_norm, WindowRule::all_when_set},
    ModelFamily{"mixtral", BiasRule::none, false, k_no_norm, WindowRule::all_when_set, 0, ExpertRule::all_when_counted},
    ModelFamily{"qwen2", BiasRule::query_key_value},
    ModelFamily{"qwen2_vl", BiasRule::query_key_value},
    ModelFamily{"qwen2_vl_text", BiasRule::query_key_value},
    ModelFamily{"qwen2_5_vl", BiasRule::query_key_value},
    ModelFamily{"qwen2_5_vl_text", BiasRule::query_key_value},
    ModelFamily{"qwen2_moe", BiasRule::query_key_value, false, k_no_norm, WindowRule::none, 0, ExpertRule::stepped},
    ModelFamily{"qwen3", BiasRule::by_config, false, k_per_head},
    ModelFamily{"qwen3_vl_text", BiasRule::by_config, false, k_per_head},
    ModelFamily{"qwen3_moe", BiasRule::by_config, false, k_per_head, WindowRule::none, 0, ExpertRule::stepped},
    ModelFamily{"qwen3_vl_moe_text", BiasRule::by_config, false, k_per_head, WindowRule::none, 0, ExpertRule::stepped},
    ModelFamily{"qwen3_next", BiasRule::by_config, false, k_per_head, WindowRule::none, 0, ExpertRule::stepped},
    ModelFamily{"qwen3_5_text", BiasRule::by_config, false, k_per_head},
    ModelFamily{"qwen3_5", BiasRule::by_config, false, k_per_head},
    ModelFamily{"qwen3_5_moe_text", BiasRule::by_config, false, k_per_head, WindowRule::none, 0,
                ExpertRule::all_when_counted},
    ModelFamily{"qwen3_5_moe", BiasRule::by_config, false, k_per_head, WindowRule::none, 0,
                ExpertRule::all_when_counted},
    ModelFamily{"gemma", BiasRule::by_config, true},
    ModelFamily{"gemma2", BiasRule::by_config, true, k_no_norm, WindowRule::alternating, 0, ExpertRule::none, 4},
    ModelFamily{"gemma3_text", BiasRule::by_config, true, k_per_head, WindowRule::every_nth, 6, ExpertRule::none, 4},
    ModelFamily{"gemma3", BiasRule::by_config, true, k_per_head, WindowRule::every_nth, 6, ExpertRule::none, 4},
    ModelFamily{"gemma4_text", BiasRule::by_config, true, k_per_head, WindowRule::every_nth, 6,
                ExpertRule::beside_dense, 4},
    ModelFamily{"gemma4", BiasRule::by_config, true, k_per_head, WindowRule::every_nth, 6, ExpertRule::beside_dense, 4},
    ModelFamily{"gemma4_unified_text", BiasRule::by_config, true, k_per_head, WindowRule::every_nth, 6,
                ExpertRule::beside_dense, 4},
    ModelFamily{"gemma4_unified", BiasRule::by_config, true, k_per_head, WindowRule::every_nth, 6,
                ExpertRule::beside_dense, 4},
    ModelFamily{"phi3", BiasRule::none, false, k_no_norm, WindowRule::all_when_set},
    ModelFamily{"olmo2", BiasRule::by_config, false, k_full_width},
    ModelFamily{"olmo3", BiasRule::by_config, false, k_full_width, WindowRule::every_nth, 4},
    ModelFamily{"smollm3", BiasRule::by_config, true},
    ModelFamily{"glm", BiasRule::by_config_query_key_value},
    ModelFamily{"glm4", BiasRule::by_config_query_key_value, false, k_no_norm, WindowRule::none, 0, ExpertRule::none,
                4},
    ModelFamily{"glm4_moe", BiasRule::by_config_query_key_value, false, k_no_norm, WindowRule::none, 0,
                ExpertRule::after_dense, 2, k_parameter},
    ModelFamily{"glm4_moe_lite", BiasRule::none, false, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense, 2,
                k_parameter},
    ModelFamily{"glm_moe_dsa", BiasRule::none, false, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense, 2,
                k_parameter},
    ModelFamily{"deepseek_v2", BiasRule::none, false, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense},
    ModelFamily{"deepseek_v3", BiasRule::none, false, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense, 2,
                k_parameter},
    ModelFamily{"deepseek_v32", BiasRule::none, false, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense, 2,
                k_parameter},
    ModelFamily{"kimi_k2", BiasRule::none, false, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense, 2,
                k_parameter},
    ModelFamily{"gpt_oss", BiasRule::all, false, k_no_norm, WindowRule::alternating, 0, ExpertRule::all_when_counted},
    ModelFamily{"minimax_m2", BiasRule::none, false, k_full_width, WindowRule::none, 0, ExpertRule::all_when_counted, 2,
                k_parameter},
    ModelFamily{"ernie4_5", BiasRule::none, true},
    ModelFamily{"ernie4_5_moe", BiasRule::none, true, k_no_norm, WindowRule::none, 0, ExpertRule::after_dense, 2,
                k_parameter},
    ModelFamily{"granite", BiasRule::by_config, true},
    ModelFamily{"granitemoehybrid", BiasRule::by_config, true, k_no_norm, WindowRule::none, 0,
                ExpertRule::all_when_counted},
    ModelFamily{"nemotron_h", BiasRule::by_config, false, k_no_norm, WindowRule::none, 0, ExpertRule::all_when_counted,
                1, CorrectionBias::buffer, false},
    ModelFamily{"lfm2", BiasRule::none, true, k_per_head},
    ModelFamily{"gpt_neox", BiasRule::all, false, k_no_norm, WindowRule::none, 0, ExpertRule::none, 2,
                CorrectionBias::none, false, true},
    ModelFamily{"gpt2", BiasRule::all, true, k_no_norm, WindowRule::none, 0, ExpertRule::none, 2, CorrectionBias::none,
                false, true},
};

}  // namespace

const ModelFamily* find_family(std::string_view model_type) {
  const auto* const found = std::find_if(k_families.begin(), k_families.end(),
                                         [&](const ModelFamily& row) { return row.type == model_type; });
  return found == k_families.end() ? nullptr : found;
}

}  // namespace sparkops::facts
