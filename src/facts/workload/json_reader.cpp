#include <nlohmann/json.hpp>

#include "facts/workload/config_readers.h"

namespace sparkops::facts {

namespace {

/// Builds values from the events of nlohmann's parser; `false` from an event ends the parse.
class TreeBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  ConfigValue root;
  std::string problem;

  bool null() { return place({}); }
  bool boolean(bool value) { return text(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) { return text(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) { return text(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& written) { return text(written); }
  bool string(string_t& value) { return text(value); }
  bool binary(binary_t&) { return place({}); }
  bool key(string_t& name) {
    used_.text += name.size();
    frames_.back().key = name;
    return true;
  }
  bool start_object(std::size_t) { return open(ConfigValue::Kind::map); }
  bool start_array(std::size_t) { return open(ConfigValue::Kind::sequence); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    problem = "byte " + std::to_string(position) + ": " + error.what();
    return false;
  }

 private:
  struct Frame {
    ConfigValue value;
    std::string key;
  };

  bool text(const std::string& written) {
    ConfigValue value;
    value.kind = ConfigValue::Kind::scalar;
    value.scalar = written;
    return place(std::move(value));
  }

  bool open(ConfigValue::Kind kind) {
    if (frames_.size() >= static_cast<std::size_t>(k_max_config_depth)) {
      problem = "nested deeper than " + std::to_string(k_max_config_depth) + " levels";
      return false;
    }
    frames_.emplace_back();
    frames_.back().value.kind = kind;
    return true;
  }

  bool close() {
    ConfigValue value = std::move(frames_.back().value);
    frames_.pop_back();
    return place(std::move(value));
  }

  bool place(ConfigValue value) {
    ++used_.values;
    used_.text += value.scalar.size();
    if (used_.values > k_max_config_values || used_.text > k_max_config_text) {
      problem = "more values than a configuration has";
      return false;
    }
    if (frames_.empty())
      root = std::move(value);
    else if (frames_.back().value.kind == ConfigValue::Kind::sequence)
      frames_.back().value.items.push_back(std::move(value));
    else
      frames_.back().value.members.push_back({frames_.back().key, std::move(value)});
    return true;
  }

  std::vector<Frame> frames_;
  ConfigSize used_;
};

}  // namespace

Result<ConfigValue> parse_json(std::string_view text) {
  try {
    TreeBuilder builder;
    if (!nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, true, true))
      return failure(ErrorKind::malformed, builder.problem);
    return std::move(builder.root);
  } catch (const std::exception& error) {
    return failure(ErrorKind::malformed, error.what());
  }
}

}  // namespace sparkops::facts
