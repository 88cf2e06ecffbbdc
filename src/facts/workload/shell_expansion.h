#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sparkops::facts {

[[nodiscard]] bool is_blank(char c);  ///< blank, tab, CR, LF

/// Length of the shell name at the start of `text`, 0 when there is none.
[[nodiscard]] std::size_t identifier_length(std::string_view text);

/// The variables that a text has given values so far, and the only expansion that is done: replacing their names.
class KnownVariables {
 public:
  void set(const std::string& name, std::vector<std::string> words) { values_[name] = std::move(words); }
  [[nodiscard]] const std::vector<std::string>* find(std::string_view name) const;

  /// `text` (not quoted, not split) with the names of known variables replaced.
  [[nodiscard]] std::string expand_text(std::string_view text);

  /// Counts expanded bytes; past the limit nothing is expanded any more.
  void charge(std::size_t bytes);
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::size_t expanded_ = 0;
  bool exhausted_ = false;
};

/// One $… at the start of a text.
struct Expansion {
  std::size_t length = 0;  ///< of what stands in the text
  std::vector<std::string> words;
  bool is_list = false;  ///< ${NAME[@]}: one word each even inside quotes
};
[[nodiscard]] Expansion expand_dollar(std::string_view text, KnownVariables& variables);

enum class WordEnds { at_operators, blanks_only };

/// Reads one word of a shell text from `start`: quotes taken off, known variables replaced (and split at blanks where
/// they are not quoted, so that one word may become none or several).
class WordReader {
 public:
  WordReader(std::string_view text, std::size_t start, KnownVariables& variables,
             WordEnds ends = WordEnds::at_operators)
      : text_(text), at_(start), variables_(variables), ends_(ends) {}

  [[nodiscard]] std::vector<std::string> read();
  [[nodiscard]] std::size_t end() const { return at_; }
  [[nodiscard]] bool unfinished() const { return unfinished_; }  ///< a quote was open at the end of the text

 private:
  [[nodiscard]] bool at_end_of_word() const;
  void read_single_quoted();
  void read_double_quoted();
  void read_backtick();
  void read_dollar(bool quoted);
  void append(std::string_view part) {
    current_ += part;
    has_current_ = true;
  }
  void close_word();

  std::string_view text_;
  std::size_t at_;
  KnownVariables& variables_;
  WordEnds ends_;
  std::string current_;
  bool has_current_ = false;
  bool unfinished_ = false;
  std::vector<std::string> words_;
};

}  // namespace sparkops::facts
