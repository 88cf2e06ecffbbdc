#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/workload/architecture_reader.h"

namespace sparkops::facts {

namespace {

/// Bounds of a tower, so that the products of its formula fit.
constexpr std::int64_t k_most_tower_width = std::int64_t{1} << 16;
constexpr std::int64_t k_most_patch = 4096, k_most_frames = 64, k_most_merge = 16, k_most_deepstack = 64;

struct Section {
  std::string_view name;
  Tower::Kind kind;
};

constexpr std::array<Section, 6> k_sections = {{{"vision_config", Tower::Kind::vision},
                                                {"vision_tower", Tower::Kind::vision},
                                                {"visual", Tower::Kind::vision},
                                                {"sound_config", Tower::Kind::audio},
                                                {"audio_config", Tower::Kind::audio},
                                                {"audio_tower", Tower::Kind::audio}}};

/// patch_size may be a list of equal sides.
std::int64_t side(const ConfigFields& fields, ConfigFields::Names names, std::int64_t otherwise, std::int64_t most) {
  const ConfigValue* const value = fields.find(names);
  if (value == nullptr) return otherwise;
  if (value->kind == ConfigValue::Kind::sequence) {
    const auto first = value->items.empty() ? std::nullopt : parse_integer(value->items.front().text());
    return first && *first > 0 && *first <= most ? *first : otherwise;
  }
  return fields.whole(names, most).value_or(otherwise);
}

/// One embedding for each patch of the largest image, where the config gives the image instead of the number.
std::int64_t learned_positions(const ConfigFields& fields, const Tower& tower) {
  const auto stated = fields.whole(
      {"num_position_embeddings", "position_embedding_size", "mm_posemb_size", "num_positions"}, k_most_vocabulary);
  if (stated) return *stated;
  const std::int64_t image = side(fields, {"image_size"}, 0, k_most_tower_width);
  if (image == 0 || tower.patch == 0) return 0;
  const std::int64_t patches = image / tower.patch;
  return patches * patches;
}

Tower read_tower(const ConfigFields& fields, Tower::Kind kind, std::int64_t hidden) {
  constexpr std::int64_t k_gemma4_kernel = 5, k_gemma4_channels = 128, k_gemma4_channels_after = 32;
  Tower tower;
  tower.kind = kind;
  tower.model_type = fields.text({"model_type"});
  tower.layers = fields.whole({"num_hidden_layers", "depth", "num_layers", "n_layers"}, k_most_layers).value_or(0);
  tower.hidden =
      fields.whole({"hidden_size", "embed_dim", "mm_embed_dim", "audio_embed_dim"}, k_most_tower_width).value_or(0);
  tower.intermediate = fields.whole({"intermediate_size", "mlp_dim"}, k_most_tower_width).value_or(0);
  tower.heads = fields.whole({"num_attention_heads", "num_heads"}, k_most_heads).value_or(0);
  tower.head_dim = fields.whole({"head_dim"}, k_most_tower_width).value_or(0);
  tower.patch = side(fields, {"patch_size"}, 0, k_most_patch);
  tower.temporal_patch = side(fields, {"temporal_patch_size"}, 1, k_most_frames);
  tower.channels = fields.whole({"in_channels", "num_channels", "in_chans"}, k_most_frames).value_or(tower.channels);
  tower.positions = learned_positions(fields, tower);
  tower.merge = fields.whole({"spatial_merge_size", "pooling_kernel_size"}, k_most_merge).value_or(1);
  tower.output = fields.whole({"out_hidden_size", "projection_dim", "output_proj_dims"}, k_most_width).value_or(hidden);
  if (const ConfigValue* const deep = fields.find({"deepstack_visual_indexes"}))
    tower.deepstack = static_cast<std::int64_t>(std::min<std::size_t>(deep->items.size(), k_most_deepstack));
  if (kind == Tower::Kind::audio)
    tower.convolution = fields.whole({"conv_kernel_size"}, k_most_heads).value_or(k_gemma4_kernel);
  for (const std::string& channels : fields.texts({"subsampling_conv_channels"}))
    tower.subsampling.push_back(std::clamp<std::int64_t>(parse_integer(channels).value_or(0), 0, k_most_tower_width));
  if (tower.model_type == "gemma4_audio" && tower.subsampling.size() != 2)
    tower.subsampling = {k_gemma4_channels, k_gemma4_channels_after};
  tower.parameters = unknown("the config of a tower does not state it");
  return tower;
}

}  // namespace

std::vector<Tower> read_towers(const ConfigValue& config, std::int64_t hidden, std::vector<std::string>& problems) {
  std::vector<Tower> towers;
  const auto add = [&](const ConfigValue& parent) {
    for (const Section& section : k_sections) {
      const ConfigValue* const value = parent.find(section.name);
      if (value == nullptr || value->kind != ConfigValue::Kind::map || value->members.empty()) continue;
      towers.push_back(read_tower(ConfigFields(*value, problems), section.kind, hidden));
    }
  };
  add(config);
  if (const ConfigValue* const thinker = config.find("thinker_config")) add(*thinker);
  return towers;
}

}  // namespace sparkops::facts
