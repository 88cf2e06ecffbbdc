#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "facts/machine/nvml_calls.h"
#include "facts/machine/nvml_library.h"
#include "facts/machine/nvml_notebook.h"

namespace sparkops::facts {

/// Which calls make up a reading. Each writes its answers into the notebook as it goes; a symbol that is absent or
/// not supported is followed by its older form.
class NvmlQuestions {
 public:
  NvmlQuestions(const NvmlLibrary& library, NvmlNotebook& notebook) : library_(library), notebook_(notebook) {}

  [[nodiscard]] bool initialise(NvmlAnswers& page) const;
  void shut_down() const;
  /// Driver, NVML and CUDA version.
  void ask_versions(NvmlAnswers& page) const;
  [[nodiscard]] std::optional<std::uint32_t> count_devices(NvmlAnswers& page) const;
  /// The handle of GPU `index`, or nothing.
  [[nodiscard]] NvmlLibrary::Device find_device(std::uint32_t index, NvmlAnswers& page) const;
  void ask_identity(NvmlLibrary::Device device, NvmlAnswers& page) const;
  void ask_sample(NvmlLibrary::Device device, const std::optional<SlowdownCounterFields>& counters,
                  NvmlAnswers& page) const;

 private:
  void ask_numbers(NvmlLibrary::Device device, NvmlAnswers& page) const;
  void ask_fields(NvmlLibrary::Device device, const std::vector<std::uint32_t>& ids, NvmlAnswers& page) const;
  void ask_processes(NvmlLibrary::Device device, NvmlAnswers& page) const;

  const NvmlLibrary& library_;
  NvmlNotebook& notebook_;
};

}  // namespace sparkops::facts
