#include "facts/workload/python_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "facts/workload/python_tokens.h"

namespace sparkops::facts {

namespace {

using Kind = PythonToken::Kind;

constexpr int k_most_nesting = 40;
constexpr std::size_t k_shown = 60;  // bytes of source in a message

ConfigValue scalar(std::string text, int line) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::scalar;
  value.scalar = std::move(text);
  value.line = line;
  return value;
}

/// 2_048, 0x10, 1e-4 as a plain number.
std::optional<std::string> plain_number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  if (text.starts_with("0x")) {
    const auto number = parse_hexadecimal(text);
    return number ? std::optional(std::to_string(*number)) : std::nullopt;
  }
  return parse_number(text) ? std::optional(text) : std::nullopt;
}

/// a ** b of whole numbers, within 64 bits.
std::optional<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
  constexpr std::int64_t k_most = 62;
  if (exponent < 0 || exponent > k_most) return std::nullopt;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> combine(std::string_view operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (operation == "*") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (operation == "+") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (operation == "-") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (operation == "//") return b > 0 ? std::optional(a / b) : std::nullopt;
  if (operation == "**") return power(a, b);
  return std::nullopt;
}

/// Reads the tokens of one file.
class ScriptReader {
 public:
  ScriptReader(std::vector<PythonToken> tokens, bool (*wanted)(const PythonCall&), const PythonNames& known)
      : tokens_(std::move(tokens)), wanted_(wanted) {
    for (const auto& [name, value] : known) given_[name] = scalar(value, 0);
  }

  Result<PythonScript> read() {
    collect_names();
    for (at_ = 0; at_ < tokens_.size() && budget_ > 0; ++at_) {
      note_import();
      if (!starts_call(at_)) continue;
      const std::size_t resume = at_;
      PythonCall call = read_name_of_call();
      if (wanted_(call)) {
        read_arguments(call);
        script_.calls.push_back(std::move(call));
      }
      // Calls among the arguments are met again on the way through the tokens.
      at_ = resume;
    }
    if (budget_ <= 0) return failure(ErrorKind::malformed, "calls inside calls without end");
    return std::move(script_);
  }

 private:
  [[nodiscard]] bool is(std::size_t at, std::string_view operation) const {
    return at < tokens_.size() && tokens_[at].kind == Kind::operation && tokens_[at].text == operation;
  }
  [[nodiscard]] bool is_name(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == Kind::name; }
  [[nodiscard]] bool starts_line(std::size_t at) const {
    return at == 0 || tokens_[at - 1].kind == Kind::line_end || is(at - 1, ";");
  }

  /// Whether a dotted name that ends in "(" begins here.
  [[nodiscard]] bool starts_call(std::size_t at) const {
    if (!is_name(at) || (at > 0 && (is(at - 1, ".") || (is_name(at - 1) && (tokens_[at - 1].text == "def" ||
                                                                            tokens_[at - 1].text == "class")))))
      return false;
    while (is(at + 1, ".") && is_name(at + 2)) at += 2;
    return is(at + 1, "(");
  }

  void note_import() {
    if (!is_name(at_) || !starts_line(at_) || !is_name(at_ + 1)) return;
    if (tokens_[at_].text != "import" && tokens_[at_].text != "from") return;
    std::vector<std::string>& imports = script_.imports;
    if (std::find(imports.begin(), imports.end(), tokens_[at_ + 1].text) == imports.end())
      imports.push_back(tokens_[at_ + 1].text);
  }

  /// Names that are assigned at the beginning of a line. A second assignment makes the value uncertain.
  void collect_names() {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (is_name(i) && tokens_[i].text == "add_argument" && is(i + 1, "(")) {
        note_option(i);
        continue;
      }
      if (!is_name(i) || !starts_line(i)) continue;
      std::size_t equals = i + 1;
      if (is(equals, ":"))  // name: type = value
        while (equals < tokens_.size() && tokens_[equals].kind != Kind::line_end && !is(equals, "=")) ++equals;
      if (!is(equals, "=")) continue;
      const std::string& name = tokens_[i].text;
      if (assigned_.contains(name) || repeated_.contains(name)) {
        assigned_.erase(name);
        repeated_.insert(name);
        continue;
      }
      at_ = equals + 1;
      PythonArgument value = read_value(0);
      const bool ends = at_ < tokens_.size() && (tokens_[at_].kind == Kind::line_end || is(at_, ";"));
      if (ends && value.cannot_tell.empty()) assigned_[name] = std::move(value.value);
    }
  }

  /// parser.add_argument("--batch-size", type=int, default=4): the default, unless the option is given.
  void note_option(std::size_t at) {
    at_ = at;
    PythonCall call = read_name_of_call();
    read_arguments(call);
    std::string name;
    for (const PythonArgument& argument : call.arguments)
      if (argument.keyword.empty() && argument.value.text().starts_with("--")) name = argument.value.text().substr(2);
    if (const PythonArgument* const destination = call.find("dest")) name = destination->value.text();
    std::replace(name.begin(), name.end(), '-', '_');
    const PythonArgument* const value = call.find("default");
    if (!name.empty() && value != nullptr && value->cannot_tell.empty()) options_[name] = value->value;
  }

  /// Stops behind the bracket that opens the arguments.
  PythonCall read_name_of_call() {
    PythonCall call;
    call.line = tokens_[at_].line;
    call.name = tokens_[at_].text;
    while (is(at_ + 1, ".") && is_name(at_ + 2)) {
      call.name += "." + tokens_[at_ + 2].text;
      at_ += 2;
    }
    at_ += 2;
    return call;
  }

  void read_arguments(PythonCall& call) {
    while (at_ < tokens_.size() && !is(at_, ")") && --budget_ > 0) {
      const std::size_t start = at_;
      if (tokens_[at_].kind == Kind::line_end) break;
      PythonArgument argument;
      const int line = tokens_[at_].line;
      if (is_name(at_) && is(at_ + 1, "=")) {
        const std::string keyword = tokens_[at_].text;
        at_ += 2;
        argument = read_value(0);
        argument.keyword = keyword;
      } else if (is(at_, "**")) {
        ++at_;
        argument = read_value(0);
        argument.value = {};
        argument.cannot_tell = "keywords from a dictionary";
        argument.keyword = "**";
      } else {
        argument = read_value(0);
      }
      argument.line = line;
      if (!is(at_, ",") && !is(at_, ")")) {
        argument.value = {};
        argument.cannot_tell = "an expression: " + skip_expression();
      }
      call.arguments.push_back(std::move(argument));
      if (is(at_, ",")) ++at_;
      if (at_ == start) break;  // a closing bracket of another kind
    }
  }

  /// To the comma or bracket that ends an argument; what was passed over.
  std::string skip_expression() {
    std::string passed;
    int depth = 0;
    for (; at_ < tokens_.size() && tokens_[at_].kind != Kind::line_end && --budget_ > 0; ++at_) {
      if (depth == 0 && (is(at_, ",") || is(at_, ")") || is(at_, "]") || is(at_, "}"))) break;
      if (is(at_, "(") || is(at_, "[") || is(at_, "{")) ++depth;
      if (is(at_, ")") || is(at_, "]") || is(at_, "}")) --depth;
      if (passed.size() < k_shown) passed += (passed.empty() ? "" : " ") + printable(tokens_[at_].text, k_shown);
    }
    return passed;
  }

  static PythonArgument told(ConfigValue value) { return {"", std::move(value), "", 0}; }
  static PythonArgument untold(std::string why) { return {"", {}, std::move(why), 0}; }

  /// A literal with whole-number arithmetic, from left to right; ** binds first.
  PythonArgument read_value(int depth) {
    PythonArgument left = read_power(depth);
    while (left.cannot_tell.empty() && (is(at_, "*") || is(at_, "+") || is(at_, "-") || is(at_, "//"))) {
      const std::string operation = tokens_[at_++].text;
      PythonArgument right = read_power(depth);
      if ((operation == "+" || operation == "-") && (is(at_, "*") || is(at_, "//")))
        return untold("an expression: " + skip_expression());
      left = join_numbers(operation, left, right);
    }
    return left;
  }

  PythonArgument read_power(int depth) {
    PythonArgument base = read_primary(depth);
    if (!is(at_, "**") || !base.cannot_tell.empty()) return base;
    ++at_;
    const PythonArgument exponent = read_primary(depth);
    return join_numbers("**", base, exponent);
  }

  static PythonArgument join_numbers(std::string_view operation, const PythonArgument& a, const PythonArgument& b) {
    const auto left = parse_integer(a.value.text()), right = parse_integer(b.value.text());
    if (!left || !right || !b.cannot_tell.empty()) return untold("an expression that is no arithmetic of numbers");
    const auto result = combine(operation, *left, *right);
    if (!result) return untold("a number that is too large");
    return told(scalar(std::to_string(*result), a.value.line));
  }

  PythonArgument read_primary(int depth) {
    if (at_ >= tokens_.size() || depth > k_most_nesting) return untold("nested too deeply");
    const PythonToken& token = tokens_[at_];
    switch (token.kind) {
      case Kind::text: return read_text();
      case Kind::formatted_text: ++at_; return untold("a text that is put together when it runs");
      case Kind::number: {
        ++at_;
        const auto number = plain_number(token.text);
        return number ? told(scalar(*number, token.line)) : untold("the number " + printable(token.text, k_shown));
      }
      case Kind::name: return read_name();
      case Kind::line_end: return untold("nothing");
      case Kind::operation: break;
    }
    if (is(at_, "-")) {
      ++at_;
      PythonArgument value = read_primary(depth + 1);
      if (value.cannot_tell.empty() && parse_number(value.value.text())) value.value.scalar.insert(0, "-");
      return value;
    }
    if (is(at_, "[") || is(at_, "(")) return read_list(depth);
    if (is(at_, "{")) return read_dictionary(depth);
    return untold("an expression: " + skip_expression());
  }

  PythonArgument read_text() {
    ConfigValue value = scalar(tokens_[at_].text, tokens_[at_].line);
    for (++at_; at_ < tokens_.size() && tokens_[at_].kind == Kind::text; ++at_) value.scalar += tokens_[at_].text;
    return told(std::move(value));
  }

  PythonArgument read_name() {
    const int line = tokens_[at_].line;
    std::string name = tokens_[at_].text;
    std::size_t end = at_ + 1;
    while (is(end, ".") && is_name(end + 1)) {
      name += "." + tokens_[end + 1].text;
      end += 2;
    }
    if (is(end, "(") || is(end, "[")) return untold("an expression: " + skip_expression());
    at_ = end;
    if (name == "None") return told({});
    if (name == "True") return told(scalar("true", line));
    if (name == "False") return told(scalar("false", line));
    if (const auto found = assigned_.find(name); found != assigned_.end()) {
      budget_ -= static_cast<std::int64_t>(size_of(found->second).values);
      return budget_ > 0 ? told(found->second) : untold("values inside values without end");
    }
    if (repeated_.contains(name)) return untold(name + ", which is assigned more than once");
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return untold("the name " + name);
    const std::string member = name.substr(dot + 1);
    if (const auto given = given_.find(member); given != given_.end()) return told(given->second);
    if (const auto option = options_.find(member); option != options_.end()) return told(option->second);
    if (name.starts_with("torch.")) return told(scalar(name, line));
    return untold("the name " + name);
  }

  PythonArgument read_list(int depth) {
    const std::string close = tokens_[at_].text == "[" ? "]" : ")";
    ConfigValue list;
    list.kind = ConfigValue::Kind::sequence;
    list.line = tokens_[at_].line;
    bool commas = close == "]";
    std::string why;
    for (++at_; at_ < tokens_.size() && !is(at_, close);) {
      if (tokens_[at_].kind == Kind::line_end) return untold("a list that does not end");
      PythonArgument item = read_value(depth + 1);
      if (!is(at_, ",") && !is(at_, close)) item = untold("an expression: " + skip_expression());
      if (!item.cannot_tell.empty()) why = item.cannot_tell;
      list.items.push_back(std::move(item.value));
      if (is(at_, ",")) commas = true;
      if (is(at_, ","))
        ++at_;
      else if (!is(at_, close))
        return untold("a list that is no literal");
    }
    ++at_;
    if (!why.empty()) return untold(why);
    if (!commas && list.items.size() == 1) return told(std::move(list.items.front()));  // (value)
    return told(std::move(list));
  }

  PythonArgument read_dictionary(int depth) {
    ConfigValue map;
    map.kind = ConfigValue::Kind::map;
    map.line = tokens_[at_].line;
    std::string why;
    for (++at_; at_ < tokens_.size() && !is(at_, "}");) {
      const PythonArgument key = read_value(depth + 1);
      if (!is(at_, ":")) {
        skip_expression();
        why = "a set, or a dictionary that is no literal";
      } else {
        ++at_;
        PythonArgument value = read_value(depth + 1);
        if (!is(at_, ",") && !is(at_, "}")) value = untold("an expression: " + skip_expression());
        if (!value.cannot_tell.empty()) why = value.cannot_tell;
        map.members.push_back({key.value.text(), std::move(value.value)});
      }
      if (is(at_, ","))
        ++at_;
      else if (!is(at_, "}"))
        return untold("a dictionary that is no literal");
    }
    ++at_;
    if (!why.empty()) return untold(why);
    return told(std::move(map));
  }

  std::vector<PythonToken> tokens_;
  bool (*wanted_)(const PythonCall&);
  PythonScript script_;
  std::map<std::string, ConfigValue, std::less<>> assigned_, options_, given_;
  std::set<std::string, std::less<>> repeated_;
  std::size_t at_ = 0;
  /// Tokens that may be passed over and values that may be copied: a script that a person wrote needs a hundredth.
  std::int64_t budget_ = 2'000'000;
};

}  // namespace

std::string_view PythonCall::last_name() const {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string_view(name) : std::string_view(name).substr(dot + 1);
}

const PythonArgument* PythonCall::find(std::string_view keyword) const {
  for (const PythonArgument& argument : arguments)
    if (argument.keyword == keyword) return &argument;
  return nullptr;
}

Result<PythonScript> read_python(std::string_view source, bool (*wanted)(const PythonCall&), const PythonNames& known) {
  auto tokens = tokenize_python(source);
  if (!tokens) return tl::unexpected(tokens.error());
  return ScriptReader(std::move(*tokens), wanted, known).read();
}

}  // namespace sparkops::facts
