#include "facts/workload/model.h"

#include <algorithm>

namespace sparkops::facts {

std::int64_t Architecture::count_layers(Mixer mixer) const {
  return std::count_if(layers.begin(), layers.end(), [&](const ModelLayer& layer) { return layer.mixer == mixer; });
}

std::int64_t Architecture::count_attention_layers() const {
  return std::count_if(layers.begin(), layers.end(), [](const ModelLayer& layer) { return layer.attends(); });
}

std::string_view to_string(Mixer mixer) {
  switch (mixer) {
    case Mixer::none: return "none";
    case Mixer::full_attention: return "full attention";
    case Mixer::sliding_attention: return "sliding attention";
    case Mixer::gated_delta_net: return "gated DeltaNet";
    case Mixer::mamba2: return "Mamba2";
    case Mixer::short_convolution: return "short convolution";
  }
  return "";
}

std::string_view to_string(ModelPart part) {
  switch (part) {
    case ModelPart::embedding: return "embedding";
    case ModelPart::attention: return "attention";
    case ModelPart::linear_mixer: return "linear mixers";
    case ModelPart::mlp: return "mlp";
    case ModelPart::experts: return "experts";
    case ModelPart::router: return "router";
    case ModelPart::norm: return "norms";
    case ModelPart::head: return "head";
    case ModelPart::tower: return "towers";
    case ModelPart::next_token: return "next-token layers";
    case ModelPart::other: return "other";
  }
  return "";
}

}  // namespace sparkops::facts
