#pragma once

#include "base/known.h"
#include "facts/machine/gpu.h"
#include "facts/machine/nvml_recording.h"

namespace sparkops::facts {

/// Turns raw answers into what they say, in our units: mW become W, counters stay in ns, energy in mJ, a process
/// figure of all ones becomes unknown, and every answer that is none becomes unknown with NVML's words. Unknown as a
/// whole when NVML could not be initialised or did not say how many GPUs there are.
[[nodiscard]] Known<GpuInventory> interpret_nvml(const NvmlRecording& recording);

/// The same for one sample; `driver_version` (may be empty) decides which fields hold the counters.
[[nodiscard]] GpuSample interpret_nvml_sample(const NvmlSampleRecord& record, std::string_view driver_version);

/// Why NVML could not be initialised, in words, with the way out where the code has one.
[[nodiscard]] std::string explain_nvml_start(std::string_view call, const NvmlAnswer& answer);

}  // namespace sparkops::facts
