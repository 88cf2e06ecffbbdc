#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "facts/software/libraries.h"
#include "facts/software/loader_resolution.h"

namespace sparkops::facts {

/// Libraries of CUDA whose version decides what runs.
enum class CudaLibrary { cudart, cuda_driver, nvrtc, cublas, cudnn, nccl };

/// "libcudart", "libcuda" …
[[nodiscard]] std::string_view to_string(CudaLibrary library);

/// Who would find a library file.
enum class CudaPlace {
  loader,                 ///< ld.so.cache, LD_LIBRARY_PATH or the default directories
  environment,            ///< inside the directories of the environment (the nvidia wheels, torch/lib)
  toolkit,                ///< a toolkit below usr/local/cuda* that the loader does not know
  forward_compatibility,  ///< a newer libcuda that an image brings along (usr/local/cuda*/compat)
};

/// One file.
struct CudaLibraryFile {
  CudaLibrary library = CudaLibrary::cudart;
  CudaPlace place = CudaPlace::loader;
  std::string path;            ///< as it is found
  std::string soname;          ///< "libcudart.so.13"; of the file name where the file has none
  Known<int> major;            ///< 13
  Known<std::string> version;  ///< "13.0.96", from the name of the file behind its links; the driver's for libcuda
  std::string machine;         ///< "aarch64"
};

/// The CUDA version that a driver line supports: 580 → 13.0. From NVIDIA's release notes; unknown for other lines. NVML
/// says it where a driver answers (GpuInventory::cuda_version).
[[nodiscard]] Known<std::string> cuda_version_of_driver(std::string_view driver_version);

/// One ptxas that Triton brings along.
struct TritonCompiler {
  std::string path;            ///< ".../triton/backends/nvidia/bin/ptxas-blackwell"
  Known<std::string> version;  ///< "12.9.86", from the text inside the file
};

/// The CUDA libraries of one environment and of the system around it.
struct CudaRuntimes {
  std::vector<CudaLibraryFile> files;  ///< sorted by library, place, path
  std::vector<TritonCompiler> triton_compilers;

  /// The majors that files of this library have in this place, sorted, without repetition.
  [[nodiscard]] std::vector<int> majors(CudaLibrary library, CudaPlace place) const;
};

/// Looks at the system and at `site_directories` (those on Python's path; may be empty). Never fails as a whole: what
/// is not there is not listed.
[[nodiscard]] CudaRuntimes read_cuda_runtimes(LoaderResolver& resolver,
                                              const std::vector<std::string>& site_directories);

}  // namespace sparkops::facts
