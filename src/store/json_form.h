#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/finding.h"
#include "base/known.h"
#include "base/quantities.h"

namespace sparkops::store {

/// nlohmann::json that keeps the order in which keys are written, so that output reads in the order it was meant.
using Json = nlohmann::ordered_json;

/// Writes known values into a JSON object: a known one as a plain number or string with an entry in "origin", an
/// unknown one as null with its reason in "unknown" (the encoding of docs/architecture.md).
class ObjectWriter {
 public:
  explicit ObjectWriter(Json& object) : object_(object) {}
  void write(const std::string& key, const Known<std::string>& value);
  void write(const std::string& key, const Known<double>& value);
  void write(const std::string& key, const Known<std::int64_t>& value);
  void write(const std::string& key, const Known<int>& value);
  void write(const std::string& key, const Known<bool>& value);
  void write(const std::string& key, const Known<Bytes>& value);  ///< the key must end in _bytes
  template <class Tag>
  void write(const std::string& key, const Known<Quantity<Tag, double>>& value) {
    write(key, value ? Known<double>(value->value, value.provenance()) : Known<double>(value.as_unknown()));
  }

 private:
  Json& object_;
};

[[nodiscard]] Json to_json(const Finding& finding);
[[nodiscard]] Json to_json(const std::vector<Fix>& fixes);

}  // namespace sparkops::store
