#include "verdicts/memory/run_shape.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

template <class Enum>
using Word = std::pair<Enum, std::string_view>;

constexpr std::array<Word<RunMethod>, 5> k_methods{{{RunMethod::full, "full"},
                                                    {RunMethod::lora, "lora"},
                                                    {RunMethod::qlora, "qlora"},
                                                    {RunMethod::nvfp4_lora, "nvfp4-lora"},
                                                    {RunMethod::inference, "inference"}}};
constexpr std::array<Word<RunObjective>, 5> k_objectives{{{RunObjective::sft, "sft"},
                                                          {RunObjective::dpo, "dpo"},
                                                          {RunObjective::orpo, "orpo"},
                                                          {RunObjective::kto, "kto"},
                                                          {RunObjective::grpo, "grpo"}}};
constexpr std::array<Word<CheckpointingMode>, 4> k_checkpointing{{{CheckpointingMode::none, "none"},
                                                                  {CheckpointingMode::full, "full"},
                                                                  {CheckpointingMode::unsloth, "unsloth"},
                                                                  {CheckpointingMode::selective, "selective"}}};
constexpr std::array<Word<AttentionMode>, 3> k_attention{
    {{AttentionMode::flash, "flash"}, {AttentionMode::sdpa, "sdpa"}, {AttentionMode::eager, "eager"}}};
constexpr std::array<Word<LossMode>, 10> k_losses{{{LossMode::hf, "hf"},
                                                   {LossMode::hf_in_place, "hf-inplace"},
                                                   {LossMode::fast_ce_1, "fastce1"},
                                                   {LossMode::fast_ce_2, "fastce2"},
                                                   {LossMode::chunked, "chunked"},
                                                   {LossMode::liger, "liger"},
                                                   {LossMode::cut, "cce"},
                                                   {LossMode::unsloth, "unsloth"},
                                                   {LossMode::hf_shifted, "hf-shifted"},
                                                   {LossMode::hf_16bit, "hf-16bit"}}};
constexpr std::array<Word<LoaderMode>, 8> k_loaders{{{LoaderMode::unknown, "unknown"},
                                                     {LoaderMode::mmap, "mmap"},
                                                     {LoaderMode::pread, "pread"},
                                                     {LoaderMode::fastsafetensors, "fastsafetensors"},
                                                     {LoaderMode::instanttensor, "instanttensor"},
                                                     {LoaderMode::runai, "runai"},
                                                     {LoaderMode::llama_mmap, "llama-mmap"},
                                                     {LoaderMode::llama_no_mmap, "llama-no-mmap"}}};
constexpr std::array<Word<ExpertMode>, 3> k_experts{
    {{ExpertMode::grouped, "grouped"}, {ExpertMode::loop, "loop"}, {ExpertMode::dense, "dense"}}};
constexpr std::array<Word<CacheMode>, 3> k_caches{
    {{CacheMode::exact, "exact"}, {CacheMode::dynamic, "dynamic"}, {CacheMode::tuple, "tuple"}}};
constexpr std::array<Word<ParallelMode>, 5> k_parallel{{{ParallelMode::none, "none"},
                                                        {ParallelMode::ddp, "ddp"},
                                                        {ParallelMode::fsdp, "fsdp"},
                                                        {ParallelMode::pipeline, "pp"},
                                                        {ParallelMode::tensor, "tp"}}};
constexpr std::array<Word<WeightFormat>, 13> k_weights{{{WeightFormat::bf16, "bf16"},
                                                        {WeightFormat::fp16, "fp16"},
                                                        {WeightFormat::fp32, "fp32"},
                                                        {WeightFormat::nf4, "nf4"},
                                                        {WeightFormat::nf4_single, "nf4-single"},
                                                        {WeightFormat::int8, "int8"},
                                                        {WeightFormat::gptq_int8, "gptq-int8"},
                                                        {WeightFormat::gptq_int4, "gptq-int4"},
                                                        {WeightFormat::awq_int4, "awq-int4"},
                                                        {WeightFormat::fp8, "fp8"},
                                                        {WeightFormat::nvfp4, "nvfp4"},
                                                        {WeightFormat::mxfp4, "mxfp4"},
                                                        {WeightFormat::gguf, "gguf"}}};

template <class Enum, std::size_t count>
std::string_view word_of(const std::array<Word<Enum>, count>& words, Enum wanted) {
  for (const auto& [value, word] : words)
    if (value == wanted) return word;
  return "?";
}

template <class Enum, std::size_t count>
std::optional<Enum> value_of(const std::array<Word<Enum>, count>& words, std::string_view wanted) {
  for (const auto& [value, word] : words)
    if (word == wanted) return value;
  return std::nullopt;
}

template <class Enum, std::size_t count>
std::string list(const std::array<Word<Enum>, count>& words) {
  std::vector<std::string> names;
  for (const auto& entry : words) names.emplace_back(entry.second);
  return join(names, ", ");
}

}  // namespace

std::string_view to_string(RunMethod method) {
  return word_of(k_methods, method);
}
std::string_view to_string(RunObjective objective) {
  return word_of(k_objectives, objective);
}
std::string_view to_string(CheckpointingMode mode) {
  return word_of(k_checkpointing, mode);
}
std::string_view to_string(AttentionMode mode) {
  return word_of(k_attention, mode);
}
std::string_view to_string(LossMode mode) {
  return word_of(k_losses, mode);
}
std::string_view to_string(LoaderMode mode) {
  return word_of(k_loaders, mode);
}
std::string_view to_string(ExpertMode mode) {
  return word_of(k_experts, mode);
}
std::string_view to_string(CacheMode mode) {
  return word_of(k_caches, mode);
}
std::string_view to_string(ParallelMode mode) {
  return word_of(k_parallel, mode);
}
std::string_view to_string(WeightFormat format) {
  return word_of(k_weights, format);
}

std::optional<RunMethod> parse_method(std::string_view word) {
  return value_of(k_methods, word);
}
std::optional<RunObjective> parse_objective(std::string_view word) {
  return value_of(k_objectives, word);
}
std::optional<CheckpointingMode> parse_checkpointing(std::string_view word) {
  return value_of(k_checkpointing, word);
}
std::optional<AttentionMode> parse_attention(std::string_view word) {
  return value_of(k_attention, word);
}
std::optional<LossMode> parse_loss(std::string_view word) {
  return value_of(k_losses, word);
}
std::optional<LoaderMode> parse_loader(std::string_view word) {
  return value_of(k_loaders, word);
}
std::optional<ExpertMode> parse_experts(std::string_view word) {
  return value_of(k_experts, word);
}
std::optional<CacheMode> parse_cache(std::string_view word) {
  return value_of(k_caches, word);
}
std::optional<WeightFormat> parse_weight_format(std::string_view word) {
  return value_of(k_weights, word);
}

std::string method_words() {
  return list(k_methods);
}
std::string weight_words() {
  return list(k_weights);
}
std::string loss_words() {
  return list(k_losses);
}

}  // namespace sparkops::verdicts
