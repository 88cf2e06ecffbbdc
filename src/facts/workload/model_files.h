#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"

namespace sparkops::facts {

/// The files of one model among those of its directory.
struct WeightFiles {
  std::vector<std::string> files;   ///< sorted
  std::vector<std::string> doubts;  ///< missing parts, weights of other formats that are not read
};

/// Which *.safetensors make up the model: one file, or a complete set name-00001-of-00003; where several sets lie side
/// by side (consolidated.safetensors beside model-…), the one that `indexed` (the files of the index) names, else the
/// one of transformers. Adapters, optimizer states and the like are left out.
[[nodiscard]] WeightFiles choose_safetensors(const std::vector<std::string>& names,
                                             const std::vector<std::string>& indexed);

/// All parts of the GGUF model that `file` is one of.
[[nodiscard]] WeightFiles gguf_parts(const std::vector<std::string>& names, const std::string& file);

/// The GGUF models among `names`, each by its first part; projectors of vision towers (mmproj) are none.
[[nodiscard]] std::vector<std::string> gguf_models(const std::vector<std::string>& names);

/// The files that a model.safetensors.index.json names, each once, sorted. Errors: malformed, also for a name that is a
/// path.
[[nodiscard]] Result<std::vector<std::string>> parse_safetensors_index(std::string_view text);

/// The snapshot of a model's folder in a Hugging Face cache (models--org--name): the one that refs/main names, else the
/// only one. Errors: not_found.
[[nodiscard]] Result<std::string> find_snapshot(const Root& root, const std::string& model_directory);

/// The folder of a name such as "Qwen/Qwen3-8B" in a hub directory: "models--Qwen--Qwen3-8B".
[[nodiscard]] std::string hub_folder(std::string_view name);

/// $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub; empty when
/// none of these variables is set.
[[nodiscard]] std::string hub_cache_directory();

}  // namespace sparkops::facts
