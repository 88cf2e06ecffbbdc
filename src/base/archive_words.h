#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/archive.h"

/// The fixed words of a capture file, shared by its parser and its writer.
namespace sparkops::archive_words {

inline constexpr std::string_view k_format_name = "sparkops-machine";
inline constexpr std::string_view k_format_version = "1";
inline constexpr std::string_view k_end = "end";
inline constexpr char k_content_mark = '|';

inline constexpr std::array<std::pair<ArchiveKind, std::string_view>, 5> k_kinds{{
    {ArchiveKind::file, "file"},
    {ArchiveKind::directory, "directory"},
    {ArchiveKind::link, "link"},
    {ArchiveKind::magic_link, "magic-link"},
    {ArchiveKind::other, "other"},
}};

[[nodiscard]] inline std::optional<ArchiveKind> parse_kind(std::string_view word) {
  for (const auto& [kind, candidate] : k_kinds)
    if (candidate == word) return kind;
  return std::nullopt;
}

[[nodiscard]] inline std::string_view kind_word(ArchiveKind kind) {
  for (const auto& [candidate, word] : k_kinds)
    if (candidate == kind) return word;
  return "other";
}

}  // namespace sparkops::archive_words
