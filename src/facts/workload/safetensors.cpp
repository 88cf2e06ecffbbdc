#include "facts/workload/safetensors.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/workload/tensor_names.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_length_bytes = 8;

/// What no weight file and no model exceeds, so that the sums fit.
constexpr std::uint64_t k_largest_file = std::uint64_t{1} << 44;  // bytes
constexpr std::size_t k_most_files = 4096;

void add_to(DtypeTotal& total, const StoredTensor& tensor) {
  ++total.tensors;
  total.elements += tensor.elements;
  total.bytes += Bytes{tensor.bytes};
}

bool is_packing_type(std::string_view dtype) {
  return dtype == "U8" || dtype == "I8" || dtype == "I32" || dtype == "U32" || dtype == "F4";
}

/// Weights that one stored element holds, 0 when that is not known for this format.
std::int64_t weights_of_element(std::string_view dtype, const ModelQuantization& quantization) {
  constexpr std::int64_t k_bits_of_packed_word = 32;  // GPTQ and AWQ
  const std::string& format = quantization.format;
  const bool four_bits = format == "nf4" || format == "fp4" || format == "nvfp4" || format == "mxfp4";
  if (dtype == "F4" || dtype == "I8") return 1;
  if (dtype == "U8") return four_bits ? 2 : format == "int8" ? 1 : 0;
  const std::int64_t bits = quantization.weight_bits.value_or(0);
  return bits > 0 ? k_bits_of_packed_word / bits : 0;
}

Result<std::uint64_t> read_header(const RandomAccessFile& file, std::string& header) {
  std::array<char, k_length_bytes> first{};
  const auto count = file.read_at(0, first);
  if (!count) return tl::unexpected(count.error());
  if (file.size() > k_largest_file) return failure(ErrorKind::malformed, "larger than any weight file (16 TiB)");
  const auto length = safetensors_header_length({first.data(), *count}, file.size());
  if (!length) return length;
  header.resize(*length);
  const auto read = file.read_at(k_length_bytes, header);
  if (!read) return tl::unexpected(read.error());
  if (*read != *length) return failure(ErrorKind::malformed, "it became shorter while it was read");
  return file.size() - k_length_bytes - *length;
}

Error named(const std::string& file, const Error& error) {
  return {error.kind, contains(error.message, file) ? error.message : file + ": " + error.message};
}

}  // namespace

void TensorSum::add_bytes(const StoredTensor& tensor) {
  ++totals_.tensors;
  totals_.bytes += Bytes{tensor.bytes};
  const auto found = totals_.by_dtype.find(tensor.dtype);
  add_to(found != totals_.by_dtype.end() ? found->second : totals_.by_dtype[printable(tensor.dtype, 40)], tensor);
  add_to(by_part_.at(static_cast<std::size_t>(part_of_tensor(tensor.name, decoder_layers_))), tensor);
  if (tensor.bytes > totals_.largest_tensor.value) {
    totals_.largest_tensor = Bytes{tensor.bytes};
    totals_.largest_tensor_name = printable(tensor.name, 200);
  }
}

void TensorSum::count(std::int64_t weights) {
  if (__builtin_add_overflow(parameters_, weights, &parameters_)) not_countable_ = "more elements than can be counted";
}

void TensorSum::add(const StoredTensor& tensor) {
  add_bytes(tensor);
  if (!not_countable_.empty() || is_quantization_helper(tensor.name)) return;
  std::int64_t weights = tensor.elements;
  if (is_packing_type(tensor.dtype)) {
    const std::int64_t each = *quantization_ ? weights_of_element(tensor.dtype, **quantization_) : 0;
    if (each == 0) {
      not_countable_ = "tensors of type " + printable(tensor.dtype, 40) + " hold an unknown number of weights each";
      return;
    }
    if (__builtin_mul_overflow(weights, each, &weights)) weights = 0;
  }
  count(weights);
}

void TensorSum::add_weights(const StoredTensor& tensor) {
  add_bytes(tensor);
  if (not_countable_.empty()) count(tensor.elements);
}

void TensorSum::add_file(std::uint64_t size) {
  ++totals_.files;
  const Bytes bytes{static_cast<std::int64_t>(size)};
  totals_.file_bytes += bytes;
  totals_.largest_file = std::max(totals_.largest_file, bytes);
}

TensorTotals TensorSum::finish() {
  for (std::size_t i = 0; i < by_part_.size(); ++i)
    if (by_part_[i].tensors > 0) totals_.by_part[static_cast<ModelPart>(i)] = by_part_[i];
  if (not_countable_.empty())
    totals_.parameters = as_read(std::int64_t{parameters_});
  else
    totals_.parameters = unknown(not_countable_);
  return std::move(totals_);
}

Result<TensorTotals> read_safetensors(const Root& root, const std::string& directory,
                                      const std::vector<std::string>& files, TensorSum sum) {
  if (files.size() > k_most_files)
    return failure(ErrorKind::too_large, std::to_string(files.size()) + " weight files; no model has so many");
  std::string header;
  for (const std::string& name : files) {
    const auto file = root.open_file(directory.empty() ? name : directory + "/" + name);
    if (!file) return tl::unexpected(named(name, file.error()));
    const auto data_size = read_header(**file, header);
    if (!data_size) return tl::unexpected(named(name, data_size.error()));
    const auto scanned =
        scan_safetensors_header(header, *data_size, [&sum](const StoredTensor& tensor) { sum.add(tensor); });
    if (!scanned) return tl::unexpected(named(name, scanned.error()));
    sum.add_file((*file)->size());
  }
  return sum.finish();
}

}  // namespace sparkops::facts
