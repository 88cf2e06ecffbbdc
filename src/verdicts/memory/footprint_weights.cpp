#include <fmt/format.h>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

constexpr double k_bits_per_byte = 8;
constexpr double k_16bit = 2;

/// Parameters that the format applies to; the rest stays 16-bit.
double quantised_parameters(const RunShape& run) {
  const ModelShape& model = run.model;
  const double matrices = model.matrix_parameters();
  switch (run.weights) {
    case WeightFormat::mxfp4:  // gpt-oss: the experts alone
      return model.expert_parameters > 0 ? model.expert_parameters : matrices;
    case WeightFormat::nvfp4:  // modelopt's mixed files of hybrid models: the experts alone
      return model.expert_parameters > 0 && model.recurrent_layers > 0 ? model.expert_parameters : matrices;
    default: return matrices;
  }
}

bool is_quantised(WeightFormat format) {
  return format != WeightFormat::bf16 && format != WeightFormat::fp16 && format != WeightFormat::fp32;
}

bool is_bnb_4bit(WeightFormat format) {
  return format == WeightFormat::nf4 || format == WeightFormat::nf4_single;
}

/// Bounds of a counted figure by how sure the widths are.
Estimate bounded(const RunShape& run, double bytes) {
  using namespace constants;
  const bool sure = run.model.widths_known && run.model.family_known && run.model.doubts.empty();
  Estimate estimate =
      sure ? about(bytes, k_weights_below, k_weights_above) : about(bytes, k_unsure_weights, k_unsure_weights);
  if (is_quantised(run.weights) && run.weights != WeightFormat::gguf)
    estimate.high = std::max(estimate.high, bytes * (1 + k_quantised_above));
  if (is_bnb_4bit(run.weights) && run.model.fused_experts)  // passed over by bitsandbytes unless the framework helps
    estimate.high = std::max(estimate.high,
                             bytes + run.model.expert_parameters * (k_16bit - bits_per_weight(run) / k_bits_per_byte));
  return estimate;
}

}  // namespace

double bits_per_weight(const RunShape& run) {
  using namespace constants;
  switch (run.weights) {
    case WeightFormat::bf16:
    case WeightFormat::fp16: return 16;
    case WeightFormat::fp32: return 32;
    case WeightFormat::nf4: return k_bits_nf4;
    case WeightFormat::nf4_single: return k_bits_nf4_single;
    case WeightFormat::int8:  // one fp32 scale for each output row
      return 8 + (run.model.hidden > 0 ? 32.0 / run.model.hidden : 0);
    case WeightFormat::gptq_int8: return k_bits_int8_group;
    case WeightFormat::gptq_int4:
    case WeightFormat::awq_int4: return k_bits_int4_group;
    case WeightFormat::fp8: return k_bits_fp8;
    case WeightFormat::nvfp4: return k_bits_nvfp4;
    case WeightFormat::mxfp4: return k_bits_mxfp4;
    case WeightFormat::gguf: return run.gguf_bits;
  }
  return 16;
}

Term weights_term(const RunShape& run) {
  const ModelShape& model = run.model;
  Term term{.id = "weights",
            .title = fmt::format("weights ({})", to_string(run.weights)),
            .formula = "P · bits / 8",
            .filled = "",
            .source = "memory-model.md §2, §4 (exact layouts)",
            .bytes = {},
            .zero_because = ""};
  if (run.checkpoint_bytes) {
    term.formula = "bytes of all tensors";
    term.filled = fmt::format("{} B", figure(*run.checkpoint_bytes));
    term.source = "headers of the weight files, or given";
    term.bytes = about(*run.checkpoint_bytes, constants::k_weights_below, constants::k_weights_above);
    return term;
  }
  const double bits = bits_per_weight(run);
  if (run.weights == WeightFormat::gguf || !is_quantised(run.weights)) {
    term.filled = fmt::format("{} · {:.4g} / 8", figure(model.parameters), bits);
    term.bytes = bounded(run, model.parameters * bits / k_bits_per_byte);
    return term;
  }
  const double quantised = quantised_parameters(run);
  const double rest = model.parameters - quantised;
  double bytes = quantised * bits / k_bits_per_byte + rest * k_16bit;
  term.formula = "P(quantised) · bits / 8 + P(others) · 2";
  term.filled = fmt::format("{} · {:.5g} / 8 + {} · 2", figure(quantised), bits, figure(rest));
  if (run.weights == WeightFormat::fp8 && model.head_parameters == 0) {
    // FP8 checkpoints of models with tied embeddings carry a head of their own.
    bytes += model.embedding_parameters * k_16bit;
    term.formula += " + V · h · 2 (head of its own)";
    term.filled += fmt::format(" + {} · 2", figure(model.embedding_parameters));
  }
  term.bytes = bounded(run, bytes);
  return term;
}

Term upcast_term(const RunShape& run) {
  const ModelShape& model = run.model;
  Term term{.id = "fp32-upcast",
            .title = "embedding, head and norms cast to fp32",
            .formula = "2 · (V·h + head + norms)",
            .filled = "",
            .source = "memory-model.md §4: PEFT prepare_model_for_kbit_training (read in its code)",
            .bytes = {},
            .zero_because = ""};
  if (!run.residual_fp32 || !run.trains_adapters()) {
    term.zero_because = "the residual stream stays 16-bit";
    return term;
  }
  const double parameters = model.embedding_parameters + model.head_parameters + model.small_parameters;
  term.filled = fmt::format("2 · {}", figure(parameters));
  term.bytes = exactly(2 * parameters);
  return term;
}

Term dequantise_term(const RunShape& run) {
  Term term{.id = "dequantised",
            .title = "one matrix in 16 bit while it is used",
            .formula = "2 · largest linear layer",
            .filled = fmt::format("2 · {}", figure(run.model.largest_matrix)),
            .source = "memory-model.md §4 (derived from the libraries' code)",
            .bytes = {},
            .zero_because = ""};
  switch (run.weights) {
    case WeightFormat::nf4:
    case WeightFormat::nf4_single:
    case WeightFormat::gptq_int4:
    case WeightFormat::gptq_int8:
    case WeightFormat::awq_int4:
      // Small forward passes use fused kernels; once the whole matrix is needed it is needed in full.
      term.bytes = {0, 2 * run.model.largest_matrix, 2 * run.model.largest_matrix};
      return term;
    case WeightFormat::nvfp4:
      if (run.trains()) {
        term.bytes = {0, 2 * run.model.largest_matrix, 4 * run.model.largest_matrix};
        return term;
      }
      break;
    default: break;
  }
  term.zero_because = "the weights are multiplied as they are stored";
  return term;
}

double source_bytes(const RunShape& run) {
  if (run.source_bytes) return *run.source_bytes;
  if (is_bnb_4bit(run.weights) || run.weights == WeightFormat::int8) return run.model.parameters * k_16bit;
  return 0;
}

}  // namespace sparkops::verdicts
