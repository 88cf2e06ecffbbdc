#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sparkops {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Length of the valid UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF)
    length = 2;
  else if (lead >= 0xE0 && lead <= 0xEF)
    length = 3;
  else if (lead >= 0xF0 && lead <= 0xF4)
    length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and code points past U+10FFFF.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

/// U+0080 to U+009F: terminals may take them as control sequences.
bool is_c1_control(std::string_view sequence) {
  return sequence.size() == 2 && static_cast<unsigned char>(sequence[0]) == 0xC2 &&
         static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  const auto blank = [&](std::size_t i) { return text[i] == ' ' || text[i] == '\t'; };
  while (at < text.size()) {
    while (at < text.size() && blank(at)) ++at;
    const std::size_t start = at;
    while (at < text.size() && !blank(at)) ++at;
    if (at > start) words.push_back(text.substr(start, at - start));
  }
  return words;
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end() ||
         part.empty();
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_hexadecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::size_t printable_length(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t length = utf8_sequence_length(text);
  const auto first = static_cast<unsigned char>(text[0]);
  if (length == 0 || first < 0x20 || first == 0x7F || is_c1_control(text.substr(0, length))) return 0;
  return length;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string result;
  result.reserve(std::min(text.size(), max_bytes) + 4);
  while (!text.empty()) {
    if (result.size() >= max_bytes) return result + "…";
    const std::size_t shown = printable_length(text);
    const std::size_t taken = std::max<std::size_t>(shown != 0 ? shown : utf8_sequence_length(text), 1);
    if (shown == 0) {
      for (const char c : text.substr(0, taken)) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return result;
}

std::string shell_quoted(const std::vector<std::string>& words) {
  constexpr std::string_view k_plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_^";
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) {
    if (!word.empty() && word.find_first_not_of(k_plain) == std::string::npos) {
      quoted.push_back(word);
      continue;
    }
    std::string inside;
    for (const char c : word) inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted.push_back("'" + inside + "'");
  }
  return join(quoted, " ");
}

}  // namespace sparkops
