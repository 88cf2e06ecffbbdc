#include <cstdint>
#include <cstdlib>
#include <string>

#include "facts/workload/architecture_reader.h"
#include "facts/workload/gguf.h"

/// Any bytes as a GGUF file: an error, or a header whose tensors fit the file; its network is read too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const auto file = sparkops::open_bytes({reinterpret_cast<const char*>(data), size}, "fuzz.gguf");
  const auto header = read_gguf_header(*file);
  if (!header) return 0;
  std::int64_t bytes = 0;
  for (const GgufTensor& tensor : header->tensors) bytes += tensor.bytes;
  if (bytes < 0 || bytes > static_cast<std::int64_t>(size)) std::abort();
  if (const auto config = config_of_gguf(*header)) (void)read_architecture(*config);
  return 0;
}
