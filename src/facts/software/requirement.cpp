#include "facts/software/requirement.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "facts/software/version.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_max_requirement = 8192;
constexpr int k_max_depth = 32;

bool is_name_character(char c) {
  return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '-' || c == '_' || c == '.';
}
bool is_separator(char c) {
  return c == '-' || c == '_' || c == '.';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

MarkerResult result_of(bool holds) {
  return holds ? MarkerResult::holds : MarkerResult::does_not_hold;
}

/// One side of a comparison.
struct Operand {
  bool is_variable = false;
  std::string text;  ///< the name of a variable, or the content of a quoted text
};

MarkerResult compare(const Operand& left, std::string_view op, const Operand& right,
                     const MarkerEnvironment& environment) {
  const auto value_of = [&](const Operand& operand) -> std::optional<std::string> {
    if (!operand.is_variable) return operand.text;
    const auto found = environment.find(operand.text);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  const auto a = value_of(left), b = value_of(right);
  if (!a || !b) return MarkerResult::unknown;
  const std::string_view variable = left.is_variable ? left.text : right.text;
  if (variable == "extra") {
    const bool same = normalized_name(*a) == normalized_name(*b);
    return result_of(op == "!=" ? !same : same);
  }
  if (op == "in") return result_of(contains(*b, *a));
  if (op == "not in") return result_of(!contains(*b, *a));
  // Versions are compared as such where both sides are versions, else as texts.
  const auto version = parse_version(*a);
  const auto conditions = VersionSpecifiers::parse(std::string(op) + *b);
  if (version && conditions) return result_of(conditions->contains(*version));
  if (op == "==" || op == "===") return result_of(*a == *b);
  if (op == "!=") return result_of(*a != *b);
  if (op == "<") return result_of(*a < *b);
  if (op == "<=") return result_of(*a <= *b);
  if (op == ">") return result_of(*a > *b);
  if (op == ">=") return result_of(*a >= *b);
  return MarkerResult::unknown;
}

/// or := and ("or" and)*; and := term ("and" term)*; term := "(" or ")" | operand op operand
class MarkerParser {
 public:
  MarkerParser(std::string_view text, const MarkerEnvironment& environment) : rest_(text), environment_(environment) {}

  MarkerResult parse() {
    const MarkerResult result = parse_or(0);
    skip_blanks();
    return failed_ || !rest_.empty() ? MarkerResult::unknown : result;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && is_name_character(rest_[word.size()])) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  MarkerResult parse_or(int depth) {
    MarkerResult result = parse_and(depth);
    while (!failed_ && take_word("or")) {
      const MarkerResult next = parse_and(depth);
      if (result == MarkerResult::holds || next == MarkerResult::holds)
        result = MarkerResult::holds;
      else if (result == MarkerResult::unknown || next == MarkerResult::unknown)
        result = MarkerResult::unknown;
    }
    return result;
  }

  MarkerResult parse_and(int depth) {
    MarkerResult result = parse_term(depth);
    while (!failed_ && take_word("and")) {
      const MarkerResult next = parse_term(depth);
      if (result == MarkerResult::does_not_hold || next == MarkerResult::does_not_hold)
        result = MarkerResult::does_not_hold;
      else if (result == MarkerResult::unknown || next == MarkerResult::unknown)
        result = MarkerResult::unknown;
    }
    return result;
  }

  MarkerResult parse_term(int depth) {
    if (depth >= k_max_depth) return fail();
    if (take("(")) {
      const MarkerResult result = parse_or(depth + 1);
      return failed_ || !take(")") ? fail() : result;
    }
    const auto left = take_operand();
    const std::string op = take_operator();
    const auto right = take_operand();
    if (!left || op.empty() || !right) return fail();
    return compare(*left, op, *right, environment_);
  }

  MarkerResult fail() {
    failed_ = true;
    return MarkerResult::unknown;
  }

  std::optional<Operand> take_operand() {
    skip_blanks();
    if (rest_.empty()) return std::nullopt;
    const char quote = rest_.front();
    if (quote == '"' || quote == '\'') {
      const std::size_t end = rest_.find(quote, 1);
      if (end == std::string_view::npos) return std::nullopt;
      Operand operand{false, std::string(rest_.substr(1, end - 1))};
      rest_.remove_prefix(end + 1);
      return operand;
    }
    std::size_t length = 0;
    while (length < rest_.size() && is_name_character(rest_[length])) ++length;
    if (length == 0) return std::nullopt;
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    std::replace(name.begin(), name.end(), '.', '_');  // os.name, as old metadata writes it
    return Operand{true, std::move(name)};
  }

  std::string take_operator() {
    static constexpr std::array<std::string_view, 8> k_operators{"===", "~=", "==", "!=", "<=", ">=", "<", ">"};
    for (const std::string_view op : k_operators)
      if (take(op)) return std::string(op);
    if (take_word("in")) return "in";
    if (take_word("not")) return take_word("in") ? "not in" : "";
    return "";
  }

  std::string_view rest_;
  const MarkerEnvironment& environment_;
  bool failed_ = false;
};

}  // namespace

std::string normalized_name(std::string_view name) {
  std::string normal;
  for (const char c : trim(name)) {
    if (is_separator(c)) {
      if (!normal.ends_with('-')) normal += '-';
    } else {
      normal += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return normal;
}

bool is_package_name(std::string_view name) {
  constexpr std::size_t k_longest_name = 200;
  return !name.empty() && name.size() <= k_longest_name && !is_separator(name.front()) && !is_separator(name.back()) &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

Result<Requirement> parse_requirement(std::string_view text) {
  text = trim(text);
  if (text.size() > k_max_requirement) return failure(ErrorKind::malformed, "a requirement of absurd length");
  std::size_t length = 0;
  while (length < text.size() && is_name_character(text[length])) ++length;
  const std::string_view name = text.substr(0, length);
  if (!is_package_name(name)) return failure(ErrorKind::malformed, "'" + printable(text, 60) + "' names no package");
  Requirement requirement;
  requirement.name = normalized_name(name);
  std::string_view rest = trim(text.substr(length));
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return failure(ErrorKind::malformed, "'[' without ']'");
    for (const std::string_view extra : split(rest.substr(1, end - 1), ','))
      if (!trim(extra).empty()) requirement.extras.push_back(normalized_name(extra));
    rest = trim(rest.substr(end + 1));
  }
  if (rest.starts_with('@')) {
    // The semicolon of a marker stands behind a blank; one inside the URL does not.
    rest = trim(rest.substr(1));
    const std::size_t end = rest.find(" ;");
    requirement.url = trim(rest.substr(0, end));
    if (end != std::string_view::npos) requirement.marker = trim(rest.substr(end + 2));
    return requirement;
  }
  const std::size_t semicolon = rest.find(';');
  requirement.specifiers = trim(rest.substr(0, semicolon));
  if (semicolon != std::string_view::npos) requirement.marker = trim(rest.substr(semicolon + 1));
  if (!VersionSpecifiers::parse(requirement.specifiers))
    return failure(ErrorKind::malformed, "'" + printable(requirement.specifiers, 60) + "' is no version condition");
  if (requirement.specifiers.starts_with('('))
    requirement.specifiers =
        trim(std::string_view(requirement.specifiers).substr(1, requirement.specifiers.size() - 2));
  return requirement;
}

MarkerEnvironment marker_environment(std::string_view architecture, std::string_view python) {
  MarkerEnvironment values{{"os_name", "posix"},
                           {"sys_platform", "linux"},
                           {"platform_system", "Linux"},
                           {"implementation_name", "cpython"},
                           {"platform_python_implementation", "CPython"},
                           {"python_implementation", "CPython"},
                           {"extra", ""}};
  if (!architecture.empty()) values["platform_machine"] = architecture;
  const auto parts = split(python, '.');
  if (parts.size() >= 2) values["python_version"] = std::string(parts[0]) + "." + std::string(parts[1]);
  if (parts.size() >= 3) {
    values["python_full_version"] = python;
    values["implementation_version"] = python;
  }
  return values;
}

MarkerResult evaluate_marker(std::string_view marker, const MarkerEnvironment& environment) {
  if (trim(marker).empty()) return MarkerResult::holds;
  if (marker.size() > k_max_requirement) return MarkerResult::unknown;
  return MarkerParser(marker, environment).parse();
}

}  // namespace sparkops::facts
