#include "facts/workload/python_tokens.h"

#include <array>

#include "base/text.h"

namespace sparkops::facts {

namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  Result<std::vector<PythonToken>> run() {
    while (at_ < source_.size()) {
      if (!problem_.empty()) return failure(ErrorKind::malformed, problem_);
      if (tokens_.size() > k_most_python_tokens)
        return failure(ErrorKind::malformed, "line " + std::to_string(line_) + ": more than a script has");
      step();
    }
    if (!problem_.empty()) return failure(ErrorKind::malformed, problem_);
    add(PythonToken::Kind::line_end, "");
    return std::move(tokens_);
  }

 private:
  void add(PythonToken::Kind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      if (depth_ == 0) add(PythonToken::Kind::line_end, "");
      ++line_;
      ++at_;
    } else if (c == '#') {
      while (at_ < source_.size() && peek() != '\n') ++at_;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
      ++line_;
    } else if (is_name_start(c)) {
      name_or_prefixed_text();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      text("");
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\0') {
      ++at_;
    } else {
      operation(c);
    }
  }

  void name_or_prefixed_text() {
    const std::size_t start = at_;
    while (at_ < source_.size() && (is_name_start(peek()) || is_digit(peek()))) ++at_;
    const std::string word(source_.substr(start, at_ - start));
    constexpr std::size_t k_longest_prefix = 2;
    const bool prefix =
        word.size() <= k_longest_prefix && to_lower(word).find_first_not_of("rbuft") == std::string::npos;
    if (prefix && (peek() == '"' || peek() == '\'')) return text(to_lower(word));
    add(PythonToken::Kind::name, word);
  }

  void number() {
    const std::size_t start = at_;
    while (at_ < source_.size()) {
      const char c = peek();
      const bool sign = (c == '+' || c == '-') && at_ > start && (source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E') &&
                        !source_.substr(start).starts_with("0x");
      if (!is_digit(c) && !is_name_start(c) && c != '.' && !sign) break;
      ++at_;
    }
    add(PythonToken::Kind::number, std::string(source_.substr(start, at_ - start)));
  }

  void operation(char c) {
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    constexpr std::array<std::string_view, 12> k_doubled = {
        "**", "//", "==", "!=", "<=", ">=", "->", ":=", "+=", "-=", "*=", "<<"};
    for (const std::string_view doubled : k_doubled)
      if (source_.substr(at_).starts_with(doubled)) {
        add(PythonToken::Kind::operation, std::string(doubled));
        at_ += doubled.size();
        return;
      }
    add(PythonToken::Kind::operation, std::string(1, c));
    ++at_;
  }

  static char resolved(char escape) {
    switch (escape) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      default: return escape;
    }
  }

  void text(const std::string& prefix) {
    const bool raw = contains(prefix, "r"), formatted = contains(prefix, "f") || contains(prefix, "t");
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const int start_line = line_;
    at_ += triple ? 3 : 1;
    std::string content;
    bool filled = false;
    while (true) {
      if (at_ >= source_.size() || (!triple && peek() == '\n')) {
        problem_ = "line " + std::to_string(start_line) + ": a string does not end";
        return;
      }
      const char c = peek();
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
      if (c == '\n') ++line_;
      if (c == '{') filled = true;
      if (c == '\\' && at_ + 1 < source_.size()) {
        if (peek(1) == '\n') ++line_;
        if (raw) content += c;
        content += raw ? peek(1) : resolved(peek(1));
        at_ += 2;
        continue;
      }
      content += c;
      ++at_;
    }
    at_ += triple ? 3 : 1;
    add(formatted && filled ? PythonToken::Kind::formatted_text : PythonToken::Kind::text, std::move(content));
  }

  std::string_view source_;
  std::vector<PythonToken> tokens_;
  std::string problem_;
  std::size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
};

}  // namespace

Result<std::vector<PythonToken>> tokenize_python(std::string_view source) {
  return Tokenizer(source).run();
}

}  // namespace sparkops::facts
