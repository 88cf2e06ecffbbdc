#include <nlohmann/json.hpp>

#include "base/text.h"
#include "facts/workload/python_tokens.h"

namespace sparkops::facts {

namespace {

constexpr int k_most_nesting = 64;
constexpr std::size_t k_most_source = std::size_t{16} << 20;  // bytes

/// nlohmann's events of a notebook: outputs with their images are passed over.
class CellReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  std::string source;
  std::string problem;
  bool has_cells = false;

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t) { return true; }
  bool number_unsigned(number_unsigned_t) { return true; }
  bool number_float(number_float_t, const string_t&) { return true; }
  bool binary(binary_t&) { return true; }
  bool string(string_t& text) {
    const bool in_cell = depth_ == k_cell_depth && section_ == "cells";
    if (in_cell && key_ == "cell_type") is_code_ = text == "code";
    const bool line = depth_ == k_cell_depth + 1 && section_ == "cells" && key_ == "source";
    if (!line && !(in_cell && key_ == "source")) return true;
    if (source.size() + code_.size() + text.size() > k_most_source) {
      problem = "more code than a notebook has";
      return false;
    }
    code_ += text;
    return true;
  }
  bool key(string_t& name) {
    if (depth_ == 1) section_ = name;
    if (depth_ == k_cell_depth) key_ = name;
    has_cells = has_cells || (depth_ == 1 && name == "cells");
    return true;
  }
  bool start_object(std::size_t) { return deeper(); }
  bool start_array(std::size_t) { return deeper(); }
  bool end_object() {
    if (depth_ == k_cell_depth && section_ == "cells") end_cell();
    --depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    problem = "no JSON from byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  static constexpr int k_cell_depth = 3;  // document, cells, cell

  bool deeper() {
    if (++depth_ <= k_most_nesting) return true;
    problem = "nested too deeply";
    return false;
  }

  void end_cell() {
    const std::string_view start = trim(code_);
    const bool other_language =
        start.starts_with("%%") && !start.starts_with("%%capture") && !start.starts_with("%%time");
    if (is_code_ && !other_language) {
      for (const std::string_view line : split_lines(code_)) {
        const std::string_view first = trim(line);
        if (!first.starts_with('!') && !first.starts_with('%')) source += line;
        source += '\n';
      }
    }
    code_.clear();
    is_code_ = false;
  }

  int depth_ = 0;
  std::string section_, key_, code_;
  bool is_code_ = false;
};

}  // namespace

Result<std::string> python_of_notebook(std::string_view json) {
  try {
    CellReader reader;
    if (!nlohmann::json::sax_parse(json, &reader))
      return failure(ErrorKind::malformed, "no notebook: " + reader.problem);
    if (!reader.has_cells) return failure(ErrorKind::malformed, "no notebook: it has no cells");
    return std::move(reader.source);
  } catch (const std::exception& error) {
    return failure(ErrorKind::malformed, error.what());
  }
}

}  // namespace sparkops::facts
