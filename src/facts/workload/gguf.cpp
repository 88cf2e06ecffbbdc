#include "facts/workload/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::array<GgufType, 35> k_types = {{
    {0, "F32", 4, 1},         {1, "F16", 2, 1},         {2, "Q4_0", 18, 32},      {3, "Q4_1", 20, 32},
    {6, "Q5_0", 22, 32},      {7, "Q5_1", 24, 32},      {8, "Q8_0", 34, 32},      {9, "Q8_1", 36, 32},
    {10, "Q2_K", 84, 256},    {11, "Q3_K", 110, 256},   {12, "Q4_K", 144, 256},   {13, "Q5_K", 176, 256},
    {14, "Q6_K", 210, 256},   {15, "Q8_K", 292, 256},   {16, "IQ2_XXS", 66, 256}, {17, "IQ2_XS", 74, 256},
    {18, "IQ3_XXS", 98, 256}, {19, "IQ1_S", 50, 256},   {20, "IQ4_NL", 18, 32},   {21, "IQ3_S", 110, 256},
    {22, "IQ2_S", 82, 256},   {23, "IQ4_XS", 136, 256}, {24, "I8", 1, 1},         {25, "I16", 2, 1},
    {26, "I32", 4, 1},        {27, "I64", 8, 1},        {28, "F64", 8, 1},        {29, "IQ1_M", 56, 256},
    {30, "BF16", 2, 1},       {34, "TQ1_0", 54, 256},   {35, "TQ2_0", 66, 256},   {39, "MXFP4", 17, 32},
    {40, "NVFP4", 36, 64},    {41, "Q1_0", 18, 128},    {42, "Q2_0", 18, 64},
}};

enum ValueType : std::uint32_t {
  uint8_value,
  int8_value,
  uint16_value,
  int16_value,
  uint32_value,
  int32_value,
  float32_value,
  bool_value,
  string_value,
  array_value,
  uint64_value,
  int64_value,
  float64_value,
};

/// Bytes of a value of fixed size; 0 for others.
std::uint64_t size_of_value(std::uint32_t type) {
  switch (type) {
    case uint8_value:
    case int8_value:
    case bool_value: return 1;
    case uint16_value:
    case int16_value: return 2;
    case uint32_value:
    case int32_value:
    case float32_value: return 4;
    case uint64_value:
    case int64_value:
    case float64_value: return 8;
    default: return 0;
  }
}

constexpr std::uint64_t k_most_values = 100'000, k_most_tensors = 1'000'000;
constexpr std::uint64_t k_longest_key = 65'535;                       // the format's own limit
constexpr std::uint64_t k_longest_header = std::uint64_t{512} << 20;  // bytes
constexpr std::uint64_t k_most_items = std::uint64_t{1} << 26;        // of one array
constexpr std::size_t k_most_kept_text = 4096;                        // bytes; chat templates are longer
constexpr std::uint64_t k_most_dimensions = 4;

/// Reads a file from front to back through a window.
class Cursor {
 public:
  explicit Cursor(const RandomAccessFile& file) : file_(&file) {}

  [[nodiscard]] std::uint64_t left() const { return file_->size() - std::min(file_->size(), at_); }
  [[nodiscard]] std::uint64_t at() const { return at_; }

  void skip(std::uint64_t bytes) { at_ += bytes; }

  bool read(char* out, std::size_t size) {
    while (size > 0) {
      if (at_ < start_ || at_ >= start_ + filled_) {
        const auto count = file_->read_at(at_, window_);
        if (!count || *count == 0) return false;
        start_ = at_;
        filled_ = *count;
      }
      const std::size_t offset = static_cast<std::size_t>(at_ - start_);
      const std::size_t part = std::min(size, filled_ - offset);
      std::memcpy(out, window_.data() + offset, part);
      out += part;
      size -= part;
      at_ += part;
    }
    return true;
  }

  template <class Number>
  bool read_number(Number& number) {
    static_assert(std::endian::native == std::endian::little, "GGUF is little-endian and is read as it is");
    std::array<char, sizeof(Number)> bytes{};
    if (!read(bytes.data(), bytes.size())) return false;
    std::memcpy(&number, bytes.data(), bytes.size());
    return true;
  }

 private:
  static constexpr std::size_t k_window = std::size_t{64} << 10;
  const RandomAccessFile* file_;
  std::uint64_t at_ = 0, start_ = 0;
  std::size_t filled_ = 0;
  std::array<char, k_window> window_{};
};

class HeaderReader {
 public:
  explicit HeaderReader(const RandomAccessFile& file) : cursor_(file) {}

  Result<GgufHeader> read() {
    std::array<char, 4> magic{};
    if (!cursor_.read(magic.data(), magic.size()) || std::string_view(magic.data(), magic.size()) != "GGUF")
      return stop("it does not start with GGUF");
    std::uint64_t tensors = 0, values = 0;
    if (!cursor_.read_number(header_.version)) return stop("it ends in its version");
    if (header_.version != 2 && header_.version != 3)
      return stop("its version is " + std::to_string(header_.version) + "; read are 2 and 3, little-endian");
    if (!cursor_.read_number(tensors) || !cursor_.read_number(values)) return stop("it ends in its counts");
    if (tensors > k_most_tensors || values > k_most_values)
      return stop("it states " + std::to_string(tensors) + " tensors and " + std::to_string(values) + " values");
    for (std::uint64_t i = 0; i < values; ++i)
      if (const std::string problem = read_value(); !problem.empty()) return stop(problem);
    for (std::uint64_t i = 0; i < tensors; ++i)
      if (const std::string problem = read_tensor(); !problem.empty()) return stop(problem);
    if (bytes_ > cursor_.left())
      return stop("the tensors are larger than what follows the header (is the download complete?)");
    return std::move(header_);
  }

 private:
  tl::unexpected<Error> stop(const std::string& problem) {
    return failure(ErrorKind::malformed, "GGUF, byte " + std::to_string(cursor_.at()) + ": " + problem);
  }

  bool read_text(std::string& text, std::uint64_t most) {
    std::uint64_t length = 0;
    if (!cursor_.read_number(length) || length > cursor_.left() || length > most) return false;
    text.resize(static_cast<std::size_t>(length));
    return cursor_.read(text.data(), text.size());
  }

  /// Texts of any length; what is longer than anything asked for is passed over.
  bool read_long_text(std::string& text) {
    std::uint64_t length = 0;
    if (!cursor_.read_number(length) || length > cursor_.left()) return false;
    const std::uint64_t kept = std::min<std::uint64_t>(length, k_most_kept_text);
    text.resize(static_cast<std::size_t>(kept));
    if (!cursor_.read(text.data(), text.size())) return false;
    cursor_.skip(length - kept);
    return cursor_.at() <= k_longest_header;
  }

  template <class Number>
  bool read_as_text(std::string& text) {
    Number number{};
    if (!cursor_.read_number(number)) return false;
    text = std::to_string(number);
    return true;
  }

  bool read_scalar(std::uint32_t type, std::string& text) {
    switch (type) {
      case uint8_value: return read_as_text<std::uint8_t>(text);
      case int8_value: return read_as_text<std::int8_t>(text);
      case uint16_value: return read_as_text<std::uint16_t>(text);
      case int16_value: return read_as_text<std::int16_t>(text);
      case uint32_value: return read_as_text<std::uint32_t>(text);
      case int32_value: return read_as_text<std::int32_t>(text);
      case uint64_value: return read_as_text<std::uint64_t>(text);
      case int64_value: return read_as_text<std::int64_t>(text);
      case float32_value: return read_as_text<float>(text);
      case float64_value: return read_as_text<double>(text);
      case bool_value: {
        std::uint8_t flag = 0;
        if (!cursor_.read_number(flag)) return false;
        text = flag != 0 ? "true" : "false";
        return true;
      }
      case string_value: return read_long_text(text);
      default: return false;
    }
  }

  std::string read_array(const std::string& key) {
    std::uint32_t type = 0;
    std::uint64_t length = 0;
    if (!cursor_.read_number(type) || !cursor_.read_number(length)) return "it ends in the array " + key;
    if (length > k_most_items) return "the array " + key + " states " + std::to_string(length) + " items";
    header_.array_lengths[key] = length;
    if (type == string_value) {
      std::string ignored;
      for (std::uint64_t i = 0; i < length; ++i)
        if (!read_long_text(ignored)) return "the texts of the array " + key + " go past the end";
      return "";
    }
    const std::uint64_t size = size_of_value(type);
    if (size == 0) return "the array " + key + " holds values of type " + std::to_string(type);
    if (length * size > cursor_.left()) return "the array " + key + " goes past the end";
    const bool whole = type != float32_value && type != float64_value;
    if (!whole || length > GgufHeader::k_most_kept_items) {
      cursor_.skip(length * size);
      return "";
    }
    std::vector<std::int64_t>& items = header_.arrays[key];
    std::string text;
    for (std::uint64_t i = 0; i < length; ++i) {
      if (!read_scalar(type, text)) return "it ends in the array " + key;
      items.push_back(text == "true" ? 1 : parse_integer(text).value_or(0));
    }
    return "";
  }

  std::string read_value() {
    std::string key;
    std::uint32_t type = 0;
    if (!read_text(key, k_longest_key) || !cursor_.read_number(type)) return "it ends in the name of a value";
    key = printable(key, 200);
    if (type == array_value) return read_array(key);
    std::string text;
    if (!read_scalar(type, text)) return "the value " + key + " cannot be read";
    header_.values[key] = std::move(text);
    return cursor_.at() <= k_longest_header ? "" : "its header is longer than any";
  }

  std::string read_tensor() {
    GgufTensor tensor;
    std::uint32_t dimensions = 0, type = 0;
    if (!read_text(tensor.name, k_longest_key) || !cursor_.read_number(dimensions)) return "it ends in a tensor's name";
    const std::string shown = "tensor " + printable(tensor.name, 100);
    if (dimensions > k_most_dimensions) return shown + ": " + std::to_string(dimensions) + " dimensions";
    tensor.elements = 1;
    std::int64_t row = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      std::int64_t size = 0;
      if (!cursor_.read_number(size)) return shown + ": it ends in the shape";
      if (size < 0 || __builtin_mul_overflow(tensor.elements, size, &tensor.elements))
        return shown + ": its shape makes no sense";
      if (i == 0) row = size;
    }
    std::uint64_t offset = 0;
    if (!cursor_.read_number(type) || !cursor_.read_number(offset)) return shown + ": it ends in type and offset";
    tensor.type = find_gguf_type(type);
    if (tensor.type == nullptr) return shown + ": its type " + std::to_string(type) + " is not known here";
    if (row % tensor.type->block_weights != 0)
      return shown + ": rows of " + std::to_string(row) + " weights do not fill blocks of " +
             std::string(tensor.type->name);
    const std::int64_t blocks = tensor.elements / tensor.type->block_weights;
    std::int64_t end = 0;
    if (__builtin_mul_overflow(blocks, tensor.type->block_bytes, &tensor.bytes) ||
        __builtin_add_overflow(tensor.bytes, static_cast<std::int64_t>(offset), &end) ||
        static_cast<std::uint64_t>(tensor.bytes) > cursor_.left() + cursor_.at())
      return shown + ": it is larger than the file";
    bytes_ += static_cast<std::uint64_t>(tensor.bytes);
    if (bytes_ > cursor_.left() + cursor_.at())
      return shown + ": the tensors are larger than the file (is the download complete?)";
    header_.tensors.push_back(std::move(tensor));
    return "";
  }

  Cursor cursor_;
  GgufHeader header_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

const GgufType* find_gguf_type(std::uint32_t id) {
  const auto* const found =
      std::find_if(k_types.begin(), k_types.end(), [id](const GgufType& type) { return type.id == id; });
  return found == k_types.end() ? nullptr : found;
}

Result<GgufHeader> read_gguf_header(const RandomAccessFile& file) {
  return HeaderReader(file).read();
}

}  // namespace sparkops::facts
