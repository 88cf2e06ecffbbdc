#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sparkops::views {

/// How text is laid out for one output.
struct TextStyle {
  std::size_t width = 0;  ///< columns to wrap at; 0: one line per line, for pipes and files
  bool color = false;
};

/// The style for a stream: the terminal's width and colour on a terminal (unless NO_COLOR is set or TERM is dumb),
/// neither elsewhere.
[[nodiscard]] TextStyle style_for_descriptor(int descriptor);

/// `prefix` and then `text`, broken at blanks so that no line is wider than `width` columns; the lines that follow are
/// indented by as many blanks as the prefix has columns, but at most by `k_deepest_indent`. Width 0: all on one line.
/// Columns are code points: the texts here have no double-width characters.
inline constexpr std::size_t k_deepest_indent = 12;
[[nodiscard]] std::string wrap(std::string_view prefix, std::string_view text, std::size_t width);

/// Columns of a text: its code points.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// At most `columns` of it, the rest replaced by "…" at the end or, of a path, at the beginning.
enum class Keep { start, end };
[[nodiscard]] std::string shortened(const std::string& text, std::size_t columns, Keep keep);

enum class Color { plain, bold, red, green, yellow, blue, dim };

/// `text` in a colour when the style has colours.
[[nodiscard]] std::string colored(std::string_view text, Color color, const TextStyle& style);

}  // namespace sparkops::views
