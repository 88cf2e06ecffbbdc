#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random_access_file.h"
#include "base/result.h"
#include "facts/workload/config_value.h"
#include "facts/workload/model.h"
#include "facts/workload/safetensors.h"

namespace sparkops::facts {

/// A tensor type of GGUF: so many bytes hold so many weights (ggml.h and ggml-common.h; memory-model.md §4).
struct GgufType {
  std::uint32_t id = 0;
  std::string_view name;
  std::int64_t block_bytes = 0, block_weights = 0;
};

/// Null for a type that is not known.
[[nodiscard]] const GgufType* find_gguf_type(std::uint32_t id);

struct GgufTensor {
  std::string name;
  const GgufType* type = nullptr;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

/// The header of one GGUF file of version 2 or 3. Of arrays only the length is kept (tokenizers are megabytes), and up
/// to k_most_kept_items numbers.
struct GgufHeader {
  static constexpr std::size_t k_most_kept_items = 8192;

  std::uint32_t version = 0;
  std::map<std::string, std::string, std::less<>> values;                ///< scalars as text
  std::map<std::string, std::uint64_t, std::less<>> array_lengths;       ///< of every array
  std::map<std::string, std::vector<std::int64_t>, std::less<>> arrays;  ///< of whole numbers
  std::vector<GgufTensor> tensors;
};

/// Reads the header, never the weights. Errors: malformed (no GGUF, a version that is not read, counts or lengths that
/// the file cannot hold, a type that is not known), input_output.
[[nodiscard]] Result<GgufHeader> read_gguf_header(const RandomAccessFile& file);

/// The network that the header describes, as the config.json of transformers would.
[[nodiscard]] Result<ConfigValue> config_of_gguf(const GgufHeader& header);

/// What the most bytes are stored as ("Q4_K"), as quantisation.
[[nodiscard]] Known<ModelQuantization> quantization_of_gguf(const TensorTotals& totals);

}  // namespace sparkops::facts
