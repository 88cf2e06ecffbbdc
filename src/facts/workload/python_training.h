#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/workload/python_calls.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// What a training script says by literal arguments of known calls.
struct PythonSettings {
  std::vector<Setting> training;      ///< "SFTConfig.max_length"; empty when it trains nothing
  std::vector<Setting> server;        ///< of an inference engine in the script (vllm.LLM); empty without
  std::vector<std::string> not_read;  ///< arguments that cannot be told without running it
};

/// Reads a script (or the code of a notebook). `file` names places. Errors: malformed.
[[nodiscard]] Result<PythonSettings> read_python_settings(std::string_view source, const std::string& file,
                                                          const PythonNames& known = {});

}  // namespace sparkops::facts
