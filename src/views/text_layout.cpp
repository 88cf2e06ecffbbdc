#include "views/text_layout.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace sparkops::views {

namespace {

constexpr std::size_t k_narrowest = 40;
constexpr std::size_t k_standard_width = 80;

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

const char* code_of(Color color) {
  switch (color) {
    case Color::plain: return "";
    case Color::bold: return "\x1b[1m";
    case Color::red: return "\x1b[1;31m";
    case Color::green: return "\x1b[32m";
    case Color::yellow: return "\x1b[33m";
    case Color::blue: return "\x1b[34m";
    case Color::dim: return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(const std::string& text, std::size_t columns, Keep keep) {
  const std::size_t has = columns_of(text);
  if (has <= columns || columns == 0) return text;
  // The characters that are left out: all but columns − 1.
  const std::size_t left_out = has - (columns - 1);
  const std::size_t characters_before = keep == Keep::end ? left_out : columns - 1;
  std::size_t at = 0, characters = 0;
  for (; at < text.size(); ++at)
    if (starts_character(text[at]) && characters++ == characters_before) break;
  return keep == Keep::end ? "…" + text.substr(at) : text.substr(0, at) + "…";
}

TextStyle style_for_descriptor(int descriptor) {
  if (::isatty(descriptor) == 0) return {};
  TextStyle style;
  winsize size{};
  style.width =
      ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= k_narrowest ? size.ws_col : k_standard_width;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  style.color = (no_color == nullptr || *no_color == '\0') && !dumb;
  return style;
}

std::string wrap(std::string_view prefix, std::string_view text, std::size_t width) {
  std::string result(prefix);
  if (width == 0) return result += text;
  const std::size_t indent = std::min(columns_of(prefix), k_deepest_indent);
  std::size_t column = columns_of(prefix);
  bool line_is_empty = true;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t length = columns_of(word);
    if (!line_is_empty && column + 1 + length > width) {
      result += '\n';
      result.append(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) {
      result += ' ';
      ++column;
    }
    result += word;
    column += length;
    line_is_empty = false;
  }
  return result;
}

std::string colored(std::string_view text, Color color, const TextStyle& style) {
  if (!style.color || color == Color::plain) return std::string(text);
  return std::string(code_of(color)) + std::string(text) + "\x1b[0m";
}

}  // namespace sparkops::views
