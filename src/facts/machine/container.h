#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/root.h"

namespace sparkops::facts {

/// Whether this process runs inside a container. Only a positive sign is proof: a miss leaves `inside` unknown,
/// never false, except that PID 1 being a host init with host namespaces is reported as evidence.
struct Container {
  Known<bool> inside;               ///< true, or unknown with "no container marker found: …"
  std::vector<std::string> signs;   ///< each marker found, in words ("/.dockerenv exists", "cgroup of PID 1: docker")
  Known<std::string> runtime;       ///< docker, podman, containerd, kubepods, …
  Known<std::string> image;         ///< e.g. "NVIDIA PyTorch 25.09 (build …)" from the NGC version variables or labels
  Known<std::string> cuda_version;  ///< CUDA_VERSION of the image
  Known<std::string> ngc_product;   ///< NVIDIA_PRODUCT_NAME
  Known<std::string> ngc_version;   ///< e.g. NVIDIA_PYTORCH_VERSION=25.09
};

/// Signs, in this order (seed-facts G9): /.dockerenv, /run/.containerenv, docker|containerd|kubepods|libpod in the
/// cgroup file of PID 1, an overlay root in the mount table, the environment of PID 1 (container=…, NVIDIA_*).
[[nodiscard]] Container read_container(const Root& root);

}  // namespace sparkops::facts
