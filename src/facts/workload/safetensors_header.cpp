#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "facts/workload/safetensors.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_length_bytes = 8;
constexpr int k_most_dimensions = 16;

/// A reader of the one kind of JSON that headers are: an object of objects with texts and lists of whole numbers. A
/// general parser would build a tree of a hundred thousand tensors; this one must keep up with the disk.
class HeaderScanner {
 public:
  HeaderScanner(std::string_view text, std::uint64_t data_size) : text_(text), data_size_(data_size) {}

  Result<void> scan(const std::function<void(const StoredTensor&)>& visit) {
    if (!take('{')) return stop("a header must start with {");
    if (take('}')) return finish();
    do {
      StoredTensor tensor;
      if (!read_text(tensor.name) || !take(':')) return stop("a name must come here");
      if (tensor.name == "__metadata__") {
        if (!skip_object()) return stop("the metadata is no object of texts");
        continue;
      }
      if (const char* const problem = read_tensor(tensor)) return stop(problem, tensor.name);
      visit(tensor);
    } while (take(','));
    if (!take('}')) return stop("a comma or } must come here");
    return finish();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> stop(const char* problem, std::string_view tensor = {}) const {
    constexpr std::size_t k_shown = 120;
    const std::string of = tensor.empty() ? "" : "tensor " + printable(tensor, k_shown) + ": ";
    return failure(ErrorKind::malformed, "byte " + std::to_string(at_) + " of the header: " + of + problem);
  }

  /// Writers fill up with blanks; the library takes nothing else.
  Result<void> finish() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] != '\0') return stop("something follows the header's object");
    return {};
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool read_text(std::string_view& text) {
    if (!take('"')) return false;
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const void* const quote = std::memchr(text_.data() + at_, '"', text_.size() - at_);
      if (quote == nullptr) return false;
      at_ = static_cast<std::size_t>(static_cast<const char*>(quote) - text_.data());
      std::size_t backslashes = 0;
      while (at_ - backslashes > start && text_[at_ - backslashes - 1] == '\\') ++backslashes;
      ++at_;
      if (backslashes % 2 == 0) {
        text = text_.substr(start, at_ - 1 - start);
        return true;
      }
    }
    return false;
  }

  bool take_text(std::string_view wanted) {
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }

  enum class Field { dtype, shape, data_offsets, other, none };

  /// The name of a field and its colon; written without blanks by every known writer.
  Field read_field() {
    if (take_text("\"dtype\":")) return Field::dtype;
    if (take_text("\"shape\":")) return Field::shape;
    if (take_text("\"data_offsets\":")) return Field::data_offsets;
    std::string_view key;
    if (!read_text(key) || !take(':')) return Field::none;
    return key == "dtype"          ? Field::dtype
           : key == "shape"        ? Field::shape
           : key == "data_offsets" ? Field::data_offsets
                                   : Field::other;
  }

  std::optional<std::int64_t> read_number() {
    skip_blanks();
    std::int64_t number = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (number > (std::numeric_limits<std::int64_t>::max() - 9) / 10) return std::nullopt;
      number = number * 10 + (text_[at_++] - '0');
    }
    if (at_ == start) return std::nullopt;
    return number;
  }

  bool skip_object() {
    std::string_view ignored;
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      if (!read_text(ignored) || !take(':') || !read_text(ignored)) return false;
    } while (take(','));
    return take('}');
  }

  /// Null, or what is wrong.
  const char* read_shape(StoredTensor& tensor) {
    if (!take('[')) return "its shape is no list";
    tensor.elements = 1;
    if (take(']')) return nullptr;
    int dimensions = 0;
    do {
      const auto size = read_number();
      if (!size) return "its shape holds something that is no size";
      if (++dimensions > k_most_dimensions) return "its shape has too many dimensions";
      if (dimensions == 1) tensor.first = *size;
      tensor.last = *size;
      if (__builtin_mul_overflow(tensor.elements, *size, &tensor.elements)) return "its shape multiplies to too much";
    } while (take(','));
    return take(']') ? nullptr : "its shape does not end";
  }

  const char* read_offsets(StoredTensor& tensor) {
    if (!take('[')) return "its offsets are no list";
    const auto begin = read_number();
    if (!begin || !take(',')) return "its first offset is no number";
    const auto end = read_number();
    if (!end || !take(']')) return "its second offset is no number";
    if (*end < *begin) return "it ends before it begins";
    if (static_cast<std::uint64_t>(*end) > data_size_) return "it ends behind the end of the file";
    tensor.bytes = *end - *begin;
    seen_ += static_cast<std::uint64_t>(tensor.bytes);
    if (seen_ > data_size_) return "the tensors overlap";
    return nullptr;
  }

  const char* read_tensor(StoredTensor& tensor) {
    if (!take('{')) return "it is no object";
    bool has_type = false, has_shape = false, has_offsets = false;
    do {
      const char* problem = nullptr;
      switch (read_field()) {
        case Field::dtype:
          has_type = true;
          if (!read_text(tensor.dtype)) problem = "its dtype is no text";
          break;
        case Field::shape:
          has_shape = true;
          problem = read_shape(tensor);
          break;
        case Field::data_offsets:
          has_offsets = true;
          problem = read_offsets(tensor);
          break;
        case Field::other: return "it has a field that is none of dtype, shape and data_offsets";
        case Field::none: return "a key must come here";
      }
      if (problem != nullptr) return problem;
    } while (take(','));
    if (!take('}')) return "it does not end";
    if (!has_type || !has_shape || !has_offsets) return "dtype, shape or data_offsets is missing";
    const int bits = remembered_bits(tensor.dtype);
    std::int64_t expected = 0;
    constexpr std::int64_t k_bits_of_byte = 8;
    // A type of the future: its bytes stand; an element has at least one bit.
    if (bits == 0)
      return tensor.elements / k_bits_of_byte <= tensor.bytes ? nullptr : "its shape does not fit its offsets";
    if (__builtin_mul_overflow(tensor.elements, static_cast<std::int64_t>(bits), &expected))
      return "its shape multiplies to too much";
    return (expected + 7) / 8 == tensor.bytes ? nullptr : "its shape and dtype do not fit its offsets";
  }

  /// Types come in runs, or weights and scales in turn.
  int remembered_bits(std::string_view dtype) {
    if (dtype != known_dtype_) {
      std::swap(known_dtype_, other_dtype_);
      std::swap(known_bits_, other_bits_);
      if (dtype != known_dtype_) {
        known_dtype_ = dtype;
        known_bits_ = bits_of_dtype(dtype);
      }
    }
    return known_bits_;
  }

  std::string_view text_;
  std::string_view known_dtype_, other_dtype_;
  int known_bits_ = 0, other_bits_ = 0;
  std::uint64_t data_size_;
  std::uint64_t seen_ = 0;  ///< bytes of the tensors so far
  std::size_t at_ = 0;
};

}  // namespace

int bits_of_dtype(std::string_view dtype) {
  struct Row {
    std::string_view dtype;
    int bits;
  };
  constexpr std::array<Row, 20> k_rows = {{{"BF16", 16},   {"F16", 16}, {"F32", 32},    {"F8_E4M3", 8}, {"U8", 8},
                                           {"I32", 32},    {"I8", 8},   {"I64", 64},    {"BOOL", 8},    {"F8_E5M2", 8},
                                           {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16},
                                           {"U16", 16},    {"U32", 32}, {"U64", 64},    {"F64", 64},    {"C64", 64}}};
  for (const Row& row : k_rows)
    if (row.dtype == dtype) return row.bits;
  return 0;
}

Result<std::uint64_t> safetensors_header_length(std::string_view first_bytes, std::uint64_t file_size) {
  if (first_bytes.size() < k_length_bytes || file_size < k_length_bytes)
    return failure(ErrorKind::malformed, "shorter than the 8 bytes that a safetensors file starts with");
  std::uint64_t length = 0;
  for (std::size_t i = k_length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(first_bytes[i]);
  if (length > k_longest_safetensors_header)
    return failure(ErrorKind::malformed, "its first 8 bytes state a header of " + std::to_string(length) +
                                             " bytes; no safetensors file has more than " +
                                             std::to_string(k_longest_safetensors_header));
  if (length > file_size - k_length_bytes)
    return failure(ErrorKind::malformed, "its first 8 bytes state a header of " + std::to_string(length) +
                                             " bytes, but the file ends after " + std::to_string(file_size) +
                                             " (is the download complete?)");
  return length;
}

Result<void> scan_safetensors_header(std::string_view header, std::uint64_t data_size,
                                     const std::function<void(const StoredTensor&)>& visit) {
  return HeaderScanner(header, data_size).scan(visit);
}

}  // namespace sparkops::facts
