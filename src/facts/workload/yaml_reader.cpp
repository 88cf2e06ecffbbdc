#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "facts/workload/config_readers.h"

namespace sparkops::facts {

namespace {

/// Ends the parse from inside an event; never leaves this file.
struct LimitReached : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string at_line(const YAML::Mark& mark) {
  return "line " + std::to_string(mark.line + 1);
}

/// Builds values from parser events, so that every node is counted as it appears and an alias costs what it expands to.
class TreeBuilder final : public YAML::EventHandler {
 public:
  std::vector<ConfigValue> documents;

  void OnDocumentStart(const YAML::Mark&) override { anchors_.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    complete(leaf(ConfigValue::Kind::null, "", mark), anchor, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& text) override {
    complete(leaf(ConfigValue::Kind::scalar, text, mark), anchor, mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw LimitReached(at_line(mark) + ": an anchor inside itself");
    charge(size_of(found->second), mark);
    place(ConfigValue(found->second));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(ConfigValue::Kind::sequence, anchor, mark);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(ConfigValue::Kind::map, anchor, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    ConfigValue value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    YAML::Mark mark;
    std::optional<std::string> key;  ///< of the map entry whose value comes next
    std::vector<ConfigValue> merged;
  };

  static ConfigValue leaf(ConfigValue::Kind kind, const std::string& text, const YAML::Mark& mark) {
    ConfigValue value;
    value.kind = kind;
    value.scalar = text;
    value.line = mark.line + 1;
    return value;
  }

  void charge(ConfigSize size, const YAML::Mark& mark) {
    used_.values += size.values;
    used_.text += size.text;
    if (used_.values > k_max_config_values || used_.text > k_max_config_text)
      throw LimitReached(at_line(mark) + ": more values than a configuration has (aliases that expand without end?)");
  }

  void open(ConfigValue::Kind kind, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (frames_.size() >= static_cast<std::size_t>(k_max_config_depth))
      throw LimitReached(at_line(mark) + ": nested deeper than " + std::to_string(k_max_config_depth) + " levels");
    charge({1, 0}, mark);
    frames_.push_back({leaf(kind, "", mark), anchor, mark, std::nullopt, {}});
  }

  void complete(ConfigValue value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    charge({1, value.scalar.size()}, mark);
    remember(value, anchor, mark);
    place(std::move(value));
  }

  void remember(const ConfigValue& value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor == YAML::NullAnchor) return;
    charge(size_of(value), mark);
    anchors_[anchor] = value;
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!frame.merged.empty()) {
      std::set<std::string> own;
      for (const ConfigMember& member : frame.value.members) own.insert(member.key);
      for (ConfigValue& source : frame.merged) merge(frame.value, own, std::move(source));
    }
    remember(frame.value, frame.anchor, frame.mark);
    place(std::move(frame.value));
  }

  /// The members of a `<<` source that the map does not have itself.
  static void merge(ConfigValue& map, std::set<std::string>& own, ConfigValue source) {
    for (ConfigValue& item : source.items) merge(map, own, std::move(item));
    for (ConfigMember& member : source.members)
      if (own.insert(member.key).second) map.members.push_back(std::move(member));
  }

  void place(ConfigValue value) {
    if (frames_.empty()) {
      documents.push_back(std::move(value));
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.kind == ConfigValue::Kind::sequence) {
      frame.value.items.push_back(std::move(value));
    } else if (!frame.key) {
      frame.key = value.text();
    } else {
      if (*frame.key == "<<")
        frame.merged.push_back(std::move(value));
      else
        frame.value.members.push_back({std::move(*frame.key), std::move(value)});
      frame.key.reset();
    }
  }

  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, ConfigValue> anchors_;
  ConfigSize used_;
};

}  // namespace

Result<std::vector<ConfigValue>> parse_yaml(std::string_view text) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder.documents);
  } catch (const YAML::Exception& error) {
    return failure(ErrorKind::malformed, at_line(error.mark) + ": " + error.msg);
  } catch (const std::exception& error) {
    return failure(ErrorKind::malformed, error.what());
  }
}

}  // namespace sparkops::facts
