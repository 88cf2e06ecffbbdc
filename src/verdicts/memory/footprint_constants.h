#pragma once

// Every constant of the memory model that is not the exact layout of a number format, with what it means and where it
// was seen. docs/memory-model.md lists them with the rows of the bench they rest on.
namespace sparkops::verdicts::constants {

// --- weights ---------------------------------------------------------------------------------------------------------
/// 4 bits, an 8-bit scale for 64 weights, a 32-bit scale for 256 of those (bitsandbytes, double quantisation).
inline constexpr double k_bits_nf4 = 4 + 8.0 / 64 + 32.0 / (64 * 256);
inline constexpr double k_bits_nf4_single = 4 + 32.0 / 64;
/// 4 bits, 16-bit scale and 4-bit zero for each group of 128.
inline constexpr double k_bits_int4_group = 4 + (16.0 + 4.0) / 128;
inline constexpr double k_bits_int8_group = 8 + (16.0 + 8.0) / 128;
/// A 32-bit scale for each block of 128 × 128.
inline constexpr double k_bits_fp8 = 8 + 32.0 / (128 * 128);
inline constexpr double k_bits_nvfp4 = 4 + 8.0 / 16;
inline constexpr double k_bits_mxfp4 = 4 + 8.0 / 32;
/// How far a count from verified widths may be off: buffers, rope tables, alignment of blocks.
inline constexpr double k_weights_below = 0.01, k_weights_above = 0.01;
/// … with widths nobody verified, or a parameter count alone.
inline constexpr double k_unsure_weights = 0.04;
/// … of quantised checkpoints whose headers were not read: some keep whole blocks 16-bit (Unsloth's dynamic 4-bit,
/// modelopt's mixed files were 7 to 29 % above the plain figure).
inline constexpr double k_quantised_above = 0.20;

// --- activations -----------------------------------------------------------------------------------------------------
/// Kept for backward without checkpointing, bytes per token and layer (memory-model.md §3.2).
inline constexpr double k_saved_intermediate_fused = 6, k_saved_hidden_fused = 16;
inline constexpr double k_saved_intermediate = 8, k_saved_hidden = 22;
/// Up-and-down blocks with GELU: 34·h at i = 4h (Korthikanti et al.).
inline constexpr double k_saved_plain_intermediate = 4, k_saved_plain_hidden = 18;
/// Query heads wider than the residual stream keep q, rotated q and the attention's output.
inline constexpr double k_saved_wide_heads = 6;
/// bitsandbytes' 4-bit matrix multiplication keeps its input: MLP product (2·i) and both normed inputs (4·h).
inline constexpr double k_saved_by_bnb_intermediate = 2, k_saved_by_bnb_hidden = 4;
/// Transformer Engine keeps inputs in FP8 instead of 16 bit: measured slope 29·h·L instead of 34·h·L; and holds each
/// matrix in FP8 twice (as it is and transposed).
inline constexpr double k_saved_less_with_fp8 = 5, k_fp8_copies_bytes = 2;
/// One layer computed again, with its gradients, bytes per token: 14·(i + h).
inline constexpr double k_layer = 14;
/// Unfused norms: 14·i + 22·h; the upper bound for plain transformers.
inline constexpr double k_layer_unfused_hidden = 22;
/// Expert layers that gather token copies: 16·(k·(m + width)); the same for "every expert computes every token".
inline constexpr double k_layer_experts = 16;
/// One expert at a time: input, output (4 bytes each with their gradient) and two or four inner tensors.
inline constexpr double k_loop_width = 4, k_loop_inner = 4, k_loop_inner_gated = 8;
/// transformers builds a one-hot mask of 64-bit integers: active × experts for each token.
inline constexpr double k_one_hot_bytes = 8;
/// LoRA dropout keeps one more copy of the input of the layer.
inline constexpr double k_dropout_copy = 2;
/// Eager attention: scores, probabilities (2 each), softmax in fp32, per head and earlier token.
inline constexpr double k_eager_scores = 8;
inline constexpr double k_activations_below = 0.05, k_activations_above = 0.10;
/// A cached prefix in front of the trained tokens: the cache, its concatenation, and the expanded keys and values.
inline constexpr double k_prefix_copies = 3;

// --- loss ------------------------------------------------------------------------------------------------------------
/// Bytes per token and vocabulary entry. 14 = logits 2, in fp32 4, log-softmax 4, gradient 4.
inline constexpr double k_lambda_hf = 14, k_lambda_hf_in_place = 12, k_lambda_fast_1 = 10, k_lambda_fast_2 = 8;
/// Model code that casts the head's output at once and copies the shifted logits: 4 + 4 + 4 + 4.
inline constexpr double k_lambda_shifted = 16;
/// Model code that never casts: logits, shifted copy, log-softmax, gradient, 2 each.
inline constexpr double k_lambda_16bit = 8;
/// torchtune: a list of chunks in 16 bit and, when the head is trained, their gradients.
inline constexpr double k_lambda_chunked_frozen = 2, k_lambda_chunked = 4;
/// DPO and its kin hold the reference's logits in fp32 beside the policy's.
inline constexpr double k_lambda_reference = 4;
/// A loop that keeps its outputs holds the fp32 logits through the optimizer step.
inline constexpr double k_lambda_retained = 4;
/// Final hidden states, their normed copy and gradients: bytes per token and width.
inline constexpr double k_kappa_low = 2, k_kappa = 6, k_kappa_high = 12;
/// A fused loss computes its chunk in 16 bit and fp32: bytes per row and vocabulary entry.
inline constexpr double k_chunk_entry = 8;
/// Unsloth sizes its chunks by the free memory it sees; a chunk of this size is its aim.
inline constexpr double k_unsloth_chunk_low = 0.1e9, k_unsloth_chunk = 0.5e9, k_unsloth_chunk_high = 1.2e9;

// --- allocator, process, system (memory-model.md §8, §10)
// -------------------------------------------------------------
/// Slack of what comes and goes with the default allocator: fused kernels, full logits, no checkpointing.
inline constexpr double k_slack_fused_low = 1.06, k_slack_fused = 1.12, k_slack_fused_high = 1.20;
inline constexpr double k_slack_logits_low = 1.04, k_slack_logits = 1.31, k_slack_logits_high = 1.60;
inline constexpr double k_slack_stored_low = 1.17, k_slack_stored = 1.30, k_slack_stored_high = 1.40;
/// … with Transformer Engine's FP8, which allocates casts and transposes of changing sizes.
inline constexpr double k_slack_fp8_low = 1.22, k_slack_fp8 = 1.38, k_slack_fp8_high = 1.45;
/// … of everything with expandable segments, without and with full logits.
inline constexpr double k_slack_expandable_low = 1.01, k_slack_expandable = 1.04, k_slack_expandable_high = 1.12;
inline constexpr double k_slack_expandable_logits = 1.12, k_slack_expandable_logits_high = 1.15;
inline constexpr double k_slack_inference_low = 1.0, k_slack_inference = 1.02, k_slack_inference_high = 1.10;
/// Interpreter, libraries and data loaders of one training process: derived, no published figure.
inline constexpr double k_host_low = 1e9, k_host = 2e9, k_host_high = 4e9;

// --- servers ---------------------------------------------------------------------------------------------------------
/// What vLLM books as "non-torch" on a GB10 beside weights and its profile run, page cache included.
inline constexpr double k_server_other_low = 1.0e9, k_server_other = 4.5e9, k_server_other_high = 9e9;
/// Outside the tracked pool while a server starts (memory-model.md §10): SGLang 25 to 40 GB, vLLM up to 25 GB.
inline constexpr double k_sglang_start_low = 5e9, k_sglang_start = 25e9, k_sglang_start_high = 40e9;
inline constexpr double k_vllm_start_low = 1e9, k_vllm_start = 4e9, k_vllm_start_high = 25e9;

}  // namespace sparkops::verdicts::constants
