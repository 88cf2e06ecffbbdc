#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sparkops {

/// Without white space (space, tab, CR, LF, NUL) at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The pieces between separators, empty ones included. "" gives one empty piece.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of a text without their line ends; a final line without one counts, an empty tail does not.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

/// The words between runs of blanks and tabs.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text);

[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view part);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// A whole text as a number; nothing when it is empty, has other characters, or does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_hexadecimal(std::string_view text);  ///< with or without 0x
[[nodiscard]] std::optional<double> parse_number(std::string_view text);              ///< finite only

/// Bytes of the printable UTF-8 character at the start of `text`; 0 when it starts with a control character or with no
/// valid UTF-8, or is empty.
[[nodiscard]] std::size_t printable_length(std::string_view text);

/// Foreign text made safe for a terminal and for JSON: control characters and bytes that are no valid UTF-8
/// become \xNN, and anything longer than `max_bytes` ends in "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 4096);

/// Words of one argument vector as a shell would need them to be quoted.
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& words);

}  // namespace sparkops
