#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/known.h"
#include "facts/software/software.h"
#include "knowledge/tables.h"

namespace sparkops::verdicts {

struct CudaVersion {
  int major = 0, minor = 0;
  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
};

[[nodiscard]] std::string to_string(const CudaVersion& version);

/// "13.0" or "13.0.88"; nothing for what is no such text.
[[nodiscard]] std::optional<CudaVersion> parse_cuda_version(std::string_view text);

/// Of a tag in a version or address: "+cu130" → 13.0, "2.8.3+cu12torch2.9" → 12.0, ".../whl/cu128" → 12.8.
[[nodiscard]] std::optional<CudaVersion> cuda_of_tag(std::string_view text);

/// Whether a version is that of a build from NVIDIA's catalogue: "2.10.0a0+b558c986e8.nv25.11".
[[nodiscard]] bool is_ngc_version(std::string_view version);

/// For which CUDA something is built, and how that is known.
struct CudaBuild {
  enum class Kind { cuda, cpu_only, unknown };
  Kind kind = Kind::unknown;
  std::optional<CudaVersion> version;  ///< of `cuda` where it is known; of a tag such as cu13 the minor is 0
  bool is_ngc = false;                 ///< NVIDIA's own build: made for the image's CUDA
  Provenance provenance;
  std::string how;  ///< "torch/version.py says 13.0"
};

/// Of torch: by torch/version.py, its tag, its index, the nvidia packages beside it, and what is published of PyPI's
/// wheels. Nothing when torch is not there.
[[nodiscard]] std::optional<CudaBuild> torch_build(const facts::Software& software, const knowledge::Tables& tables);

/// The version of the torch that is imported; empty when there is none. An empty text for one whose version is unknown.
[[nodiscard]] std::optional<std::string> torch_version(const facts::PythonEnvironment& environment);

/// Of another package: by its tag, the tag of its index, or what is published of PyPI's wheels.
[[nodiscard]] CudaBuild wheel_build(const facts::Distribution& distribution, const knowledge::Tables& tables);

/// Of a package that carries CUDA libraries themselves ("nvidia-cublas-cu12", "nvidia-cuda-runtime" 13.0.96): its
/// major; nothing for other packages.
[[nodiscard]] std::optional<int> cuda_major_of_library_package(const facts::Distribution& distribution);

}  // namespace sparkops::verdicts
