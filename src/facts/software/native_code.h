#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "facts/software/cuda_runtimes.h"
#include "facts/software/environment.h"
#include "facts/software/libraries.h"
#include "facts/software/loader_resolution.h"

namespace sparkops::facts {

/// One shared object that a distribution installed.
struct NativeLibrary {
  std::string distribution;  ///< its normalised name ("flash-attn")
  std::string path;
  Known<std::string> machine;  ///< "aarch64"; unknown: the file cannot be read, with the reason
  bool uses_torch = false;     ///< needs libtorch…, libc10…
  bool uses_cuda = false;      ///< needs a library of CUDA (libcudart, libcublas, libcuda …)
  /// What loading it comes to after `import torch`. Read for those that use torch or CUDA; unknown("…") for others.
  Known<LibraryResolution> resolution;
  /// Its device code, read for the same ones, but not for torch's and NVIDIA's own libraries.
  Known<FatBinary> code;
};

/// The machine code of an environment, as the verdicts G1, G2 and G7 see it. Headers of files alone; nothing is loaded.
struct NativeCode {
  std::vector<NativeLibrary> libraries;  ///< sorted by distribution and path
  CudaRuntimes cuda;
  ElfMachine machine = ElfMachine::none;  ///< of the interpreter
  std::vector<std::string> could_not;     ///< distributions and files that could not be looked at, with the reason

  /// The libraries of one distribution.
  [[nodiscard]] std::vector<const NativeLibrary*> of(std::string_view distribution) const;
};

/// Looks at every shared object that the distributions of `environment` installed (at most 20000), with the loader's
/// search path of `variables`. `libraries` remembers what was read, for a capture. Symbols are compared only for
/// libraries that use torch and are not torch's own: there they tell a wheel that was built for another torch.
[[nodiscard]] NativeCode read_native_code(Libraries& libraries, const PythonEnvironment& environment,
                                          const Known<SoftwareVariables>& variables);

}  // namespace sparkops::facts
