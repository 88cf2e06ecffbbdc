#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/workload/model_files.h"
#include "facts/workload/safetensors.h"

/// Any bytes as a safetensors file and as an index: an error, or tensors that all lie inside the data.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)safetensors_header_length(text, size);
  constexpr std::uint64_t k_data = 1'000'000;
  const sparkops::Known<ModelQuantization> none = sparkops::unknown("none");
  TensorSum sum(4, none);
  if (scan_safetensors_header(text, k_data, [&sum](const StoredTensor& tensor) { sum.add(tensor); })) {
    const TensorTotals totals = sum.finish();
    if (totals.bytes.value < 0 || totals.bytes.value > static_cast<std::int64_t>(k_data)) std::abort();
  }
  (void)parse_safetensors_index(text);
  return 0;
}
