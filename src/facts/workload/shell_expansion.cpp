#include "facts/workload/shell_expansion.h"

#include <algorithm>

#include "base/text.h"
#include "facts/workload/shell_reader.h"

namespace sparkops::facts {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::size_t identifier_length(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  if (text.empty() || !is_letter(text.front())) return 0;
  std::size_t length = 1;
  while (length < text.size() && (is_letter(text[length]) || (text[length] >= '0' && text[length] <= '9'))) ++length;
  return length;
}

const std::vector<std::string>* KnownVariables::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() || exhausted_ ? nullptr : &found->second;
}

void KnownVariables::charge(std::size_t bytes) {
  expanded_ += bytes;
  if (expanded_ > k_max_shell_expansion) exhausted_ = true;
}

std::string KnownVariables::expand_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    result += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const Expansion expansion = expand_dollar(text, *this);
    result += join(expansion.words, " ");
    text.remove_prefix(expansion.length);
  }
  return result;
}

namespace {

/// The length of a bracketed part that starts at `text[0]`, its closing bracket included; the whole text when it never
/// closes. Quotes inside are not looked at: such a part stays as written anyway.
std::size_t bracketed_length(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

Expansion as_written(std::string_view text, std::size_t length) {
  return {length, {std::string(text.substr(0, length))}, false};
}

Expansion known_value(const std::vector<std::string>& words, std::size_t length, bool is_list,
                      KnownVariables& variables) {
  std::size_t bytes = 1;
  for (const std::string& word : words) bytes += word.size() + 1;
  variables.charge(bytes);
  return {length, is_list ? words : std::vector<std::string>{join(words, " ")}, is_list};
}

/// ${NAME}, ${NAME[@]}, ${NAME:-default}, ${NAME-default}, ${NAME:=default}.
Expansion expand_braces(std::string_view text, KnownVariables& variables) {
  const std::size_t length = 1 + bracketed_length(text.substr(1), '{', '}');
  if (length < 4 || text[length - 1] != '}') return as_written(text, length);
  const std::string_view inside = text.substr(2, length - 3);
  const std::size_t name_length = identifier_length(inside);
  const std::string_view rest = inside.substr(name_length);
  const std::vector<std::string>* const value = variables.find(inside.substr(0, name_length));
  const bool is_list = rest == "[@]" || rest == "[*]";
  if (value != nullptr && (rest.empty() || is_list)) return known_value(*value, length, is_list, variables);
  if (!rest.starts_with(":-") && !rest.starts_with("-") && !rest.starts_with(":=") && !rest.starts_with("=")) {
    // ${NAME:?message}: the value when there is one
    if (value != nullptr && rest.starts_with(":?")) return known_value(*value, length, false, variables);
    return as_written(text, length);
  }
  if (value != nullptr && !(value->size() == 1 && value->front().empty()))
    return known_value(*value, length, false, variables);
  std::string_view fallback = rest.substr(rest.starts_with(':') ? 2 : 1);
  if (fallback.size() >= 2 && fallback.front() == fallback.back() &&
      (fallback.front() == '"' || fallback.front() == '\''))
    fallback = fallback.substr(1, fallback.size() - 2);
  // A default inside a default stays as written: nesting without end would recurse without end.
  return {length, {std::string(fallback)}, false};
}

}  // namespace

Expansion expand_dollar(std::string_view text, KnownVariables& variables) {
  if (text.size() < 2) return as_written(text, text.size());
  if (text[1] == '{') return expand_braces(text, variables);
  if (text[1] == '(') return as_written(text, 1 + bracketed_length(text.substr(1), '(', ')'));
  const std::size_t name_length = identifier_length(text.substr(1));
  if (name_length == 0) return as_written(text, 1);
  const std::vector<std::string>* const value = variables.find(text.substr(1, name_length));
  if (value == nullptr) return as_written(text, 1 + name_length);
  return known_value(*value, 1 + name_length, false, variables);
}

bool WordReader::at_end_of_word() const {
  const char c = text_[at_];
  if (is_blank(c)) return true;
  return ends_ == WordEnds::at_operators && contains(";&|()<>", std::string_view(&c, 1));
}

void WordReader::close_word() {
  if (has_current_) words_.push_back(std::move(current_));
  current_.clear();
  has_current_ = false;
}

std::vector<std::string> WordReader::read() {
  while (at_ < text_.size() && !at_end_of_word()) {
    const char c = text_[at_];
    if (c == '\\') {
      const bool continuation = at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
      if (!continuation && at_ + 1 < text_.size()) append(text_.substr(at_ + 1, 1));
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '\'') {
      read_single_quoted();
    } else if (c == '"') {
      read_double_quoted();
    } else if (c == '`') {
      read_backtick();
    } else if (c == '$') {
      read_dollar(false);
    } else {
      append(text_.substr(at_, 1));
      ++at_;
    }
  }
  close_word();
  return std::move(words_);
}

void WordReader::read_single_quoted() {
  const std::size_t end = text_.find('\'', at_ + 1);
  unfinished_ = unfinished_ || end == std::string_view::npos;
  const std::size_t stop = std::min(end, text_.size());
  append(text_.substr(at_ + 1, stop - at_ - 1));
  at_ = std::min(stop + 1, text_.size());
}

void WordReader::read_double_quoted() {
  append("");
  ++at_;
  while (at_ < text_.size() && text_[at_] != '"') {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size() && contains("\"\\$`\n", text_.substr(at_ + 1, 1))) {
      if (text_[at_ + 1] != '\n') append(text_.substr(at_ + 1, 1));
      at_ += 2;
    } else if (c == '$') {
      read_dollar(true);
    } else {
      append(text_.substr(at_, 1));
      ++at_;
    }
  }
  unfinished_ = unfinished_ || at_ >= text_.size();
  at_ = std::min(at_ + 1, text_.size());
}

/// `command`: kept as written, never run.
void WordReader::read_backtick() {
  const std::size_t stop = std::min(text_.find('`', at_ + 1), text_.size());
  append(text_.substr(at_, std::min(stop + 1, text_.size()) - at_));
  at_ = std::min(stop + 1, text_.size());
}

void WordReader::read_dollar(bool quoted) {
  if (!quoted && at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
    ++at_;
    read_single_quoted();
    return;
  }
  const Expansion expansion = expand_dollar(text_.substr(at_), variables_);
  const bool literal = expansion.words.size() == 1 && expansion.words.front() == text_.substr(at_, expansion.length);
  at_ += expansion.length;
  if (literal || (quoted && !expansion.is_list)) {
    append(join(expansion.words, " "));
    return;
  }
  bool first = true;
  for (const std::string& word : expansion.words) {
    if (quoted) {
      if (!first) close_word();
      append(word);
      first = false;
      continue;
    }
    for (const std::string_view part : split_words(word)) {
      if (!first) close_word();
      append(part);
      first = false;
    }
  }
}

}  // namespace sparkops::facts
