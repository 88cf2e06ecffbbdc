#include <fmt/format.h>

#include "verdicts/memory/footprint_parts.h"

namespace sparkops::verdicts {

namespace {

constexpr double k_16bit = 2;

Term extra(std::string title, std::string filled, Estimate bytes) {
  return {.id = "parallel",
          .title = std::move(title),
          .formula = "by kind of parallelism",
          .filled = std::move(filled),
          .source = "docs/memory-model.md (derived from how each kind works)",
          .bytes = bytes,
          .zero_because = ""};
}

double one_layer(const ModelShape& model) {
  return model.layers > 0 ? model.matrix_parameters() / model.layers * k_16bit : 0;
}

/// The largest share of a pipeline: the last stage holds the head beside its layers.
double pipeline_share(const RunShape& run) {
  const ModelShape& model = run.model;
  if (model.parameters <= 0) return 1.0 / run.nodes;
  const double ends = std::max(model.embedding_parameters, model.head_parameters);
  return std::min(1.0, (model.matrix_parameters() / run.nodes + ends + model.tower_parameters) / model.parameters);
}

}  // namespace

Shares shares_of(const RunShape& run, const Trainable& trainable) {
  Shares shares;
  shares.extra = extra("parallel training", "", {});
  shares.extra.zero_because = "one node";
  if (run.nodes <= 1 || run.parallel == ParallelMode::none) return shares;
  shares.extra.zero_because.clear();
  const double part = 1.0 / run.nodes;
  switch (run.parallel) {
    case ParallelMode::ddp: {
      // Buckets hold every gradient once more unless gradient_as_bucket_view is set.
      const double gradients = trainable.total() * (run.trains_adapters() ? run.adapter_bytes : k_16bit);
      shares.extra =
          extra("gradient buckets of DDP", fmt::format("{} B", figure(gradients)), {0, gradients, gradients});
      break;
    }
    case ParallelMode::fsdp: {
      shares.weights = shares.trainable = shares.optimizer = shares.gradients = part;
      const double gathered = 2 * one_layer(run.model);
      const double ends = (run.model.embedding_parameters + run.model.head_parameters) * k_16bit;
      shares.extra = extra("layers that FSDP has gathered", fmt::format("2 · {} B + embedding", figure(gathered / 2)),
                           {gathered / 2, gathered + ends / 2, gathered + ends});
      break;
    }
    case ParallelMode::pipeline:
      shares.weights = shares.trainable = shares.optimizer = shares.gradients = pipeline_share(run);
      // Each stage keeps as many micro-batches in flight as there are stages: the first keeps what one node would.
      shares.activations = 1;
      shares.extra = extra("activations between stages", "small", {0, 0, 0.2e9});
      break;
    case ParallelMode::tensor:
      shares.weights = part;
      shares.cache = part;
      shares.extra = extra("buffers of the collectives", "by NCCL and engine", {0.2e9, 0.5e9, 2e9});
      break;
    case ParallelMode::none: break;
  }
  return shares;
}

}  // namespace sparkops::verdicts
