#include <cstdint>
#include <string_view>

#include "facts/workload/adapter_config.h"
#include "facts/workload/architecture_reader.h"
#include "facts/workload/config_readers.h"
#include "facts/workload/model_quantization.h"

/// Any bytes as config.json and the files beside it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const auto config = parse_json({reinterpret_cast<const char*>(data), size});
  if (!config) return 0;
  (void)read_architecture(*config);
  (void)read_model_quantization(*config);
  (void)read_modelopt_quantization(*config);
  (void)read_adapter_config(*config);
  return 0;
}
