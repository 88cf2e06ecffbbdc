#include "knowledge/yaml_node.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace sparkops::knowledge {
namespace {

/// Limits far above any real table: they stop files whose aliases multiply into gigabytes or refer to themselves.
constexpr int k_max_depth = 16;
constexpr int k_max_nodes = 200'000;

class Converter {
 public:
  Result<YamlNode> convert(const YAML::Node& node, int depth) {
    YamlNode result;
    result.line = node.Mark().line + 1;
    if (depth > k_max_depth || ++nodes_ > k_max_nodes)
      return failure(ErrorKind::too_large, fmt::format("line {}: nested too deeply or too many values", result.line));
    if (node.IsSequence()) return convert_list(node, depth, std::move(result));
    if (node.IsMap()) return convert_mapping(node, depth, std::move(result));
    if (node.IsScalar()) result.text = node.Scalar();
    return result;
  }

 private:
  Result<YamlNode> convert_list(const YAML::Node& node, int depth, YamlNode result) {
    result.kind = YamlNode::Kind::list;
    for (const auto& item : node) {
      auto converted = convert(item, depth + 1);
      if (!converted) return converted;
      result.items.push_back(std::move(*converted));
    }
    return result;
  }

  Result<YamlNode> convert_mapping(const YAML::Node& node, int depth, YamlNode result) {
    result.kind = YamlNode::Kind::mapping;
    for (const auto& field : node) {
      if (!field.first.IsScalar())
        return failure(ErrorKind::malformed, fmt::format("line {}: a key must be a word", field.first.Mark().line + 1));
      auto converted = convert(field.second, depth + 1);
      if (!converted) return converted;
      result.fields.push_back({field.first.Scalar(), std::move(*converted)});
    }
    return result;
  }

  int nodes_ = 0;
};

}  // namespace

Result<YamlNode> parse_yaml(std::string_view text) {
  try {
    return Converter().convert(YAML::Load(std::string(text)), 0);
  } catch (const YAML::Exception& problem) {
    return failure(ErrorKind::malformed, fmt::format("line {}: {}", problem.mark.line + 1, problem.msg));
  } catch (const std::exception& problem) {
    return failure(ErrorKind::malformed, problem.what());
  }
}

}  // namespace sparkops::knowledge
