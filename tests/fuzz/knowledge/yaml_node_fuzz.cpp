#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "knowledge/yaml_node.h"

namespace {

/// A node is one thing only: a text, a list or a mapping.
void check(const sparkops::knowledge::YamlNode& node) {
  using Kind = sparkops::knowledge::YamlNode::Kind;
  if (node.kind != Kind::scalar && !node.text.empty()) std::abort();
  if (node.kind != Kind::list && !node.items.empty()) std::abort();
  if (node.kind != Kind::mapping && !node.fields.empty()) std::abort();
  for (const auto& item : node.items) check(item);
  for (const auto& field : node.fields) check(field.value);
}

}  // namespace

/// Any bytes as a file of knowledge: an error or nodes, and no exception.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto node = sparkops::knowledge::parse_yaml({reinterpret_cast<const char*>(data), size});
  if (node) check(*node);
  return 0;
}
