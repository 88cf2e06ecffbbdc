#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facts/workload/gguf.h"

namespace sparkops::facts {

/// Writes GGUF headers, good ones and bad ones. Data of tensors are zeros.
class GgufWriter {
 public:
  enum class Data { present, absent };

  explicit GgufWriter(std::uint32_t version) : version_(version) {}

  /// Counts other than what was added.
  GgufWriter& counts(std::uint64_t tensors, std::uint64_t values) {
    stated_tensors_ = tensors;
    stated_values_ = values;
    stated_ = true;
    return *this;
  }
  GgufWriter& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    put_text(values_, value);
    return *this;
  }
  GgufWriter& text_of_length(std::string_view key, std::uint64_t length) {
    begin(key, 8);
    put(values_, length);
    return *this;
  }
  GgufWriter& number(std::string_view key, std::uint32_t value) {
    begin(key, 4);
    put(values_, value);
    return *this;
  }
  GgufWriter& array_of(std::string_view key, std::uint32_t type, std::uint64_t length) {
    begin(key, 9);
    put(values_, type);
    put(values_, length);
    return *this;
  }
  GgufWriter& numbers(std::string_view key, const std::vector<std::uint32_t>& items) {
    array_of(key, 4, items.size());
    for (const std::uint32_t item : items) put(values_, item);
    return *this;
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& items) {
    array_of(key, 8, items.size());
    for (const std::string& item : items) put_text(values_, item);
    return *this;
  }
  GgufWriter& tensor(std::string_view name, const std::vector<std::int64_t>& shape, std::uint32_t type,
                     Data data = Data::present) {
    ++tensors_count_;
    put_text(tensors_, name);
    put(tensors_, static_cast<std::uint32_t>(shape.size()));
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) {
      put(tensors_, size);
      elements *= size < 4096 ? size : 1;
    }
    put(tensors_, type);
    put(tensors_, data_);
    const GgufType* const known = find_gguf_type(type);
    if (data == Data::present && known != nullptr && elements > 0)
      data_ += static_cast<std::uint64_t>(elements / known->block_weights * known->block_bytes);
    return *this;
  }
  [[nodiscard]] std::string finish() const {
    std::string bytes = "GGUF";
    put(bytes, version_);
    put(bytes, stated_ ? stated_tensors_ : tensors_count_);
    put(bytes, stated_ ? stated_values_ : values_count_);
    return bytes + values_ + tensors_ + std::string(static_cast<std::size_t>(data_), '\0');
  }

 private:
  template <class Number>
  static void put(std::string& bytes, Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i)
      bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFF);
  }
  static void put_text(std::string& bytes, std::string_view text) {
    put(bytes, static_cast<std::uint64_t>(text.size()));
    bytes += text;
  }
  void begin(std::string_view key, std::uint32_t type) {
    ++values_count_;
    put_text(values_, key);
    put(values_, type);
  }

  std::uint32_t version_;
  std::string values_, tensors_;
  std::uint64_t values_count_ = 0, tensors_count_ = 0, data_ = 0;
  std::uint64_t stated_tensors_ = 0, stated_values_ = 0;
  bool stated_ = false;
};

}  // namespace sparkops::facts
