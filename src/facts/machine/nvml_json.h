#pragma once

#include <string>
#include <string_view>

#include "base/known.h"
#include "base/result.h"
#include "facts/machine/nvml_recording.h"

namespace sparkops::facts {

/// The capture file sparkops/nvml.json, as docs/capture-format.md describes it. An unknown recording (no library)
/// becomes {"unknown": "<reason>"}, so that a captured machine without a driver reads like the live one.
[[nodiscard]] std::string raw_to_json(const Known<NvmlRecording>& recording);

/// Reads such a file. A file that says {"unknown": …} gives unknown with that reason. Errors: malformed, with the
/// place in the document; too_large for more devices, samples or processes than a machine can have.
[[nodiscard]] Result<Known<NvmlRecording>> raw_from_json(std::string_view text);

}  // namespace sparkops::facts
