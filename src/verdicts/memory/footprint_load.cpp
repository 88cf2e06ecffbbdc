#include <fmt/format.h>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

/// One file of a sharded checkpoint; the Hub's usual size.
constexpr double k_shard = 5e9;
/// A pinned bounce buffer.
constexpr double k_bounce = 0.5e9;
/// InstantTensor's staging stays resident: 4.43 GiB less for the cache in three repeats on GB10.
constexpr double k_instanttensor_staging = 4.43 * 1024 * 1024 * 1024;
/// The streamer's read buffers; no figure from a GB10 is published.
constexpr double k_runai_low = 0.5e9, k_runai = 2e9, k_runai_high = 8e9;

struct Transient {
  Estimate bytes;
  const char* why;
};

Transient transient_of(const RunShape& run, double file, double largest) {
  const double shard = std::min(file, k_shard);
  switch (run.loader) {
    case LoaderMode::mmap:
      return {{file * 0.9, file, file},
              "a private mapping is copied page by page while it goes to the GPU: the file counts twice until the last "
              "shard is done"};
    case LoaderMode::pread: return {{0, k_bounce, shard}, "one buffer"};
    case LoaderMode::fastsafetensors:
      return {{0, shard, 2 * shard}, "staging buffers (GPUDirect Storage is not supported on GB10)"};
    case LoaderMode::instanttensor:
      return {{k_instanttensor_staging * 0.8, k_instanttensor_staging, k_instanttensor_staging * 1.2},
              "staging that stays resident"};
    case LoaderMode::runai: return {{k_runai_low, k_runai, k_runai_high}, "concurrent read buffers"};
    case LoaderMode::llama_mmap:
      return {{0, file * 0.5, file}, "the file is mapped beside the weights on the GPU; under pressure its pages go"};
    case LoaderMode::llama_no_mmap: return {{0, largest, shard}, "one tensor at a time"};
    case LoaderMode::unknown: break;
  }
  // safetensors before 0.8 doubles the file, from 0.8 on one buffer suffices: which one runs was not said.
  return {{0, file, file},
          "safetensors before 0.8 maps the file privately and doubles it, later versions do not (say --loader)"};
}

}  // namespace

Term load_transient_term(const RunShape& run, const Term& weights) {
  const double source = source_bytes(run);
  const double file = source > 0 ? source : weights.bytes.value;
  const Transient transient = transient_of(run, file, 2 * run.model.largest_matrix);
  Term term{.id = "load-transient",
            .title = fmt::format("while loading ({})", to_string(run.loader)),
            .formula = "by loader: file, shard or buffer",
            .filled = fmt::format("file {} B: {}", figure(file), transient.why),
            .source = "memory-model.md §9",
            .bytes = transient.bytes,
            .zero_because = ""};
  // Quantising while loading holds the 16-bit matrix beside its quantised form.
  if (source > 0) term.bytes += exactly(2 * run.model.largest_matrix);
  return term;
}

}  // namespace sparkops::verdicts
