#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/result.h"
#include "base/root.h"
#include "facts/workload/model.h"

namespace sparkops::facts {

/// One tensor of a safetensors header; the views live as long as the header's text.
struct StoredTensor {
  std::string_view name;   ///< as written, escapes included
  std::string_view dtype;  ///< "BF16"
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::int64_t first = 0;  ///< the first dimension; 0 for a scalar
  std::int64_t last = 0;   ///< the last dimension; 0 for a scalar
};

/// The library refuses longer headers too (safetensors, MAX_HEADER_SIZE).
inline constexpr std::uint64_t k_longest_safetensors_header = 100'000'000;

/// The length that the first eight bytes of a file of `file_size` bytes state. Errors: malformed, when there are fewer
/// bytes, or the length is more than the file holds or than the library takes.
[[nodiscard]] Result<std::uint64_t> safetensors_header_length(std::string_view first_bytes, std::uint64_t file_size);

/// Calls `visit` for every tensor of a header, given the bytes of data behind it. Reads every byte once and allocates
/// nothing. Errors: malformed, with the byte: no such JSON, offsets outside of the data or against each other, shapes
/// that do not fit their bytes.
[[nodiscard]] Result<void> scan_safetensors_header(std::string_view header, std::uint64_t data_size,
                                                   const std::function<void(const StoredTensor&)>& visit);

/// Bits of one element; 0 for a type that is not known.
[[nodiscard]] int bits_of_dtype(std::string_view dtype);

/// Adds up what several weight files hold.
class TensorSum {
 public:
  /// `decoder_layers` as for part_of_tensor; `quantization` tells how packed elements are counted.
  TensorSum(std::int64_t decoder_layers, const Known<ModelQuantization>& quantization)
      : decoder_layers_(decoder_layers), quantization_(&quantization) {}

  void add(const StoredTensor& tensor);
  /// A tensor whose `elements` are weights, however they are packed (GGUF).
  void add_weights(const StoredTensor& tensor);
  void add_file(std::uint64_t size);
  [[nodiscard]] TensorTotals finish();

 private:
  void add_bytes(const StoredTensor& tensor);
  void count(std::int64_t weights);

  std::int64_t decoder_layers_;
  const Known<ModelQuantization>* quantization_;
  TensorTotals totals_;
  std::array<DtypeTotal, k_model_parts> by_part_{};
  std::int64_t parameters_ = 0;
  std::string not_countable_;  ///< why parameters cannot be counted; empty: they can
};

/// The headers of weight files below `directory`, whose names are given. Weights are not read, and no pages of the
/// cache are left behind. Errors: those of the first file that cannot be read, naming it.
[[nodiscard]] Result<TensorTotals> read_safetensors(const Root& root, const std::string& directory,
                                                    const std::vector<std::string>& files, TensorSum sum);

}  // namespace sparkops::facts
