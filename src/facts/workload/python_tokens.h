#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sparkops::facts {

/// One token of Python source. Comments are left out; line ends inside brackets too.
struct PythonToken {
  enum class Kind {
    name,            ///< also keywords, True, None
    number,          ///< as written
    text,            ///< a string without braces to fill in, its escapes resolved
    formatted_text,  ///< an f-string: its value cannot be told without running it
    operation,       ///< one or more punctuation characters
    line_end,
  };
  Kind kind = Kind::line_end;
  std::string text;
  int line = 0;
};

inline constexpr std::size_t k_most_python_tokens = 1'000'000;

/// Splits Python source into tokens; indentation is not told. Nothing is run. Errors: malformed, with the line, for a
/// string or bracket that never ends, and past k_most_python_tokens.
[[nodiscard]] Result<std::vector<PythonToken>> tokenize_python(std::string_view source);

/// The code cells of a notebook (.ipynb) one behind the other, without lines of shell and magic commands (! and %).
/// Errors: malformed.
[[nodiscard]] Result<std::string> python_of_notebook(std::string_view json);

}  // namespace sparkops::facts
