#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "facts/machine/nvml_json.h"

/// Any bytes as sparkops/nvml.json: an error or a recording, and what was read is written and read again unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const auto recording = raw_from_json({reinterpret_cast<const char*>(data), size});
  if (!recording) return 0;
  const std::string written = raw_to_json(*recording);
  const auto again = raw_from_json(written);
  if (!again || raw_to_json(*again) != written) std::abort();
  return 0;
}
