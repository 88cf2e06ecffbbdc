#include "facts/workload/shell_reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "base/text.h"
#include "facts/workload/shell_expansion.h"

namespace sparkops::facts {

namespace {

constexpr std::array<std::string_view, 16> k_leading_keywords = {
    "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "time", "esac", "in", "coproc"};

bool is_declaration(std::string_view word) {
  return word == "export" || word == "declare" || word == "local" || word == "readonly" || word == "typeset";
}

/// Reads one text from front to back.
class ShellParser {
 public:
  ShellParser(std::string_view text, ShellForm form, const ShellVariables& known) : text_(text), form_(form) {
    for (const auto& [name, value] : known) variables_.set(name, {value});
  }

  Result<ShellScript> parse() {
    while (at_ < text_.size() && problem_.empty()) {
      if (script_.assignments.size() > k_max_shell_assignments || script_.commands.size() > k_max_shell_commands)
        problem_ = "line " + std::to_string(line_) + ": more assignments or commands than a script has";
      if (form_ == ShellForm::environment_file && take_environment_line()) continue;
      read_command();
    }
    if (problem_.empty() && variables_.exhausted()) problem_ = "variables that expand without end";
    if (!problem_.empty()) return failure(ErrorKind::malformed, problem_);
    return std::move(script_);
  }

 private:
  struct Draft {
    ShellCommand command;
    std::vector<ShellAssignment> assignments;
    bool declares = false;
  };

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  /// Blanks and line continuations; comments up to the end of their line.
  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
        ++line_;
      } else if (c == '#') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view comment = text_.substr(at_, end - at_);
    constexpr std::string_view k_directive = "#SBATCH ";
    if (comment.starts_with(k_directive))
      script_.scheduler_directives.emplace_back(trim(comment.substr(k_directive.size())), line_);
    at_ = end;
  }

  /// NAME=value up to the end of the line, when the value is neither quoted nor an array.
  bool take_environment_line() {
    while (at_ < text_.size() && is_blank(peek())) advance();
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view whole = text_.substr(at_, end - at_);
    std::string_view line = whole;
    if (line.starts_with("export ")) line = trim(line.substr(7));
    const std::size_t name_end = identifier_length(line);
    if (name_end == 0 || name_end >= line.size() || line[name_end] != '=') return false;
    std::string_view value = trim(line.substr(name_end + 1));
    if (value.starts_with('(') || value.starts_with('"') || value.starts_with('\'') || value.ends_with('\\'))
      return false;
    if (const std::size_t comment = value.find(" #"); comment != std::string_view::npos)
      value = trim(value.substr(0, comment));
    const std::string name(line.substr(0, name_end));
    record({name, {variables_.expand_text(value)}, false, true, line_}, false);
    at_ = end;
    return true;
  }

  /// One simple command up to its separator.
  void read_command() {
    Draft draft;
    while (at_ < text_.size() && problem_.empty()) {
      skip_blanks();
      if (at_ >= text_.size()) break;
      if (take_separator(draft)) break;
      if (take_redirection(draft)) continue;
      if (draft.command.words.empty()) draft.command.line = line_;
      if ((draft.command.words.empty() || draft.declares) && take_assignment(draft)) continue;
      take_word(draft);
    }
    finish(draft);
  }

  /// True at the end of a command: newline, ; & | ( ) and their doubles.
  bool take_separator(Draft& draft) {
    const char c = peek();
    if (c == '&' && peek(1) == '>') return false;
    if (c != '\n' && c != ';' && c != '&' && c != '|' && c != '(' && c != ')') return false;
    draft.command.in_background = c == '&' && peek(1) != '&';
    const bool doubled = c != '\n' && peek(1) == c;
    advance();
    if (doubled) advance();
    if (c == '\n') skip_here_documents();
    return true;
  }

  bool take_redirection(Draft& draft) {
    std::size_t at = at_;
    while (at < text_.size() && (text_[at] >= '0' && text_[at] <= '9')) ++at;
    if (at < text_.size() && text_[at] == '&' && at == at_) ++at;
    if (at >= text_.size() || (text_[at] != '<' && text_[at] != '>')) return false;
    if (text_[at] == '<' && at + 1 < text_.size() && text_[at + 1] == '(') return false;
    const bool here_document = text_.substr(at, 2) == "<<" && text_.substr(at, 3) != "<<<";
    while (at < text_.size() && contains("<>&-|", text_.substr(at, 1))) ++at;
    const bool strips_tabs = text_[at - 1] == '-';
    at_ = at;
    skip_blanks();
    if (at_ >= text_.size() || peek() == '\n') return true;
    Draft target;
    take_word(target);
    if (here_document && !target.command.words.empty())
      here_documents_.push_back({target.command.words.front(), strips_tabs});
    static_cast<void>(draft);
    return true;
  }

  void skip_here_documents() {
    for (const auto& [delimiter, strips_tabs] : here_documents_) {
      while (at_ < text_.size()) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        if (line.ends_with('\r')) line.remove_suffix(1);
        while (strips_tabs && line.starts_with('\t')) line.remove_prefix(1);
        at_ = std::min(end + 1, text_.size());
        ++line_;
        if (line == delimiter) break;
      }
    }
    here_documents_.clear();
  }

  bool take_assignment(Draft& draft) {
    const std::string_view rest = text_.substr(at_);
    const std::size_t length = identifier_length(rest);
    if (length == 0 || length >= rest.size()) return false;
    const bool appends = rest[length] == '+' && length + 1 < rest.size() && rest[length + 1] == '=';
    if (rest[length] != '=' && !appends) return false;
    ShellAssignment assignment{std::string(rest.substr(0, length)), {}, false, draft.declares, line_};
    at_ += length + (appends ? 2 : 1);
    if (peek() == '(') {
      assignment.is_array = true;
      take_array(assignment.words);
    } else {
      const char next = peek();
      const bool empty = next == '\0' || is_blank(next) || next == ';' || next == '&' || next == '|' || next == ')';
      if (!empty) assignment.words = {join(read_word(), " ")};
      if (assignment.words.empty()) assignment.words = {""};
    }
    if (appends) prepend_known(assignment);
    draft.assignments.push_back(std::move(assignment));
    return true;
  }

  void prepend_known(ShellAssignment& assignment) {
    const std::vector<std::string>* const known = variables_.find(assignment.name);
    if (known == nullptr) return;
    if (assignment.is_array)
      assignment.words.insert(assignment.words.begin(), known->begin(), known->end());
    else
      assignment.words.front() = join(*known, " ") + assignment.words.front();
    variables_.charge(join(assignment.words, " ").size());
  }

  void take_array(std::vector<std::string>& words) {
    advance();
    while (at_ < text_.size() && problem_.empty()) {
      skip_blanks();
      if (peek() == '\n') {
        advance();
        continue;
      }
      if (at_ >= text_.size()) break;
      if (peek() == ')') {
        advance();
        return;
      }
      const std::size_t before = at_;
      for (std::string& word : read_word()) words.push_back(std::move(word));
      if (at_ == before) advance();  // an operator that has no place in an array
    }
    if (problem_.empty()) problem_ = "an array that never ends";
  }

  void take_word(Draft& draft) {
    const std::size_t before = at_;
    const bool first = draft.command.words.empty();
    for (std::string& word : read_word()) draft.command.words.push_back(std::move(word));
    if (at_ == before) advance();
    if (first && !draft.command.words.empty()) note_keyword(draft);
  }

  /// Keywords before a command are dropped; if and case make what follows conditional.
  void note_keyword(Draft& draft) {
    const std::string word = draft.command.words.front();
    if (word == "if" || word == "case") ++conditional_depth_;
    if ((word == "fi" || word == "esac") && conditional_depth_ > 0) --conditional_depth_;
    if (is_declaration(word)) draft.declares = true;
    if (std::find(k_leading_keywords.begin(), k_leading_keywords.end(), word) != k_leading_keywords.end())
      draft.command.words.clear();
  }

  std::vector<std::string> read_word() {
    WordReader reader(text_, at_, variables_);
    std::vector<std::string> words = reader.read();
    const int start = line_;
    for (; at_ < reader.end(); ++at_)
      if (text_[at_] == '\n') ++line_;
    if (reader.unfinished()) problem_ = "line " + std::to_string(start) + ": a quote that never ends";
    return words;
  }

  void record(ShellAssignment assignment, bool only_for_command) {
    if (!only_for_command) variables_.set(assignment.name, assignment.words);
    script_.assignments.push_back(std::move(assignment));
  }

  void finish(Draft& draft) {
    std::vector<std::string>& words = draft.command.words;
    if (draft.declares) {
      for (ShellAssignment& assignment : draft.assignments) record(std::move(assignment), false);
      if (words.front() == "export") mark_exported(words);
      return;
    }
    // "name = value" of .conf files
    if (words.size() >= 3 && words[1] == "=" && identifier_length(words[0]) == words[0].size()) {
      const std::string value = join({words.begin() + 2, words.end()}, " ");
      record({words[0], {value}, false, true, draft.command.line}, false);
      return;
    }
    if (words.empty()) {
      for (ShellAssignment& assignment : draft.assignments) record(std::move(assignment), false);
      return;
    }
    for (ShellAssignment& assignment : draft.assignments)
      draft.command.environment.emplace_back(assignment.name, join(assignment.words, " "));
    draft.command.conditional = conditional_depth_ > 0;
    script_.commands.push_back(std::move(draft.command));
  }

  /// `export A B` after the assignments.
  void mark_exported(const std::vector<std::string>& words) {
    for (ShellAssignment& assignment : script_.assignments)
      if (std::find(words.begin() + 1, words.end(), assignment.name) != words.end()) assignment.exported = true;
  }

  std::string_view text_;
  ShellForm form_;
  std::size_t at_ = 0;
  int line_ = 1;
  int conditional_depth_ = 0;
  std::string problem_;
  KnownVariables variables_;
  std::vector<std::pair<std::string, bool>> here_documents_;
  ShellScript script_;
};

}  // namespace

Result<ShellScript> parse_shell(std::string_view text, ShellForm form, const ShellVariables& known) {
  return ShellParser(text, form, known).parse();
}

std::vector<std::string> split_command(std::string_view text) {
  KnownVariables none;
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_blank(text[at]) || (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '\n')) {
      at += text[at] == '\\' ? 2 : 1;
      continue;
    }
    WordReader reader(text, at, none, WordEnds::blanks_only);
    for (std::string& word : reader.read()) words.push_back(std::move(word));
    if (reader.unfinished()) return {std::string(text)};
    at = reader.end();
  }
  return words;
}

std::string interpolate(std::string_view text, const ShellVariables& variables) {
  KnownVariables known;
  for (const auto& [name, value] : variables) known.set(name, {value});
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t escaped = text.find("$$", at);
    result += known.expand_text(text.substr(at, escaped - at));
    if (escaped == std::string_view::npos) break;
    result += '$';
    at = escaped + 2;
  }
  return result;
}

}  // namespace sparkops::facts
