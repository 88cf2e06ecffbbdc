#include <fmt/format.h>

#include <algorithm>

#include "base/archive.h"
#include "base/archive_words.h"
#include "base/text.h"

namespace sparkops {

namespace {

/// A line of the file holds at most this many bytes of content; longer ones are continued on the next.
constexpr std::size_t k_max_text_line = 1000;
constexpr std::size_t k_max_binary_line = 64;

void append_escaped_byte(std::string& out, char byte) {
  out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

/// Appends the character at the start of `text` and says how many bytes of it were taken.
std::size_t append_character(std::string& out, std::string_view text, bool escape_tab) {
  if (text[0] == '\\') {
    out += "\\\\";
    return 1;
  }
  const std::size_t length = text[0] == '\t' && !escape_tab ? 1 : printable_length(text);
  if (length == 0) {
    append_escaped_byte(out, text[0]);
    return 1;
  }
  out += text.substr(0, length);
  return length;
}

/// A path or target: one word without blanks.
std::string escaped_word(std::string_view word) {
  std::string out;
  while (!word.empty()) {
    if (word[0] == ' ') {
      append_escaped_byte(out, ' ');
      word.remove_prefix(1);
    } else {
      word.remove_prefix(append_character(out, word, true));
    }
  }
  return out;
}

/// Control characters other than those of text and of NUL-separated lists (cmdline, environ).
bool is_binary(std::string_view content) {
  return std::any_of(content.begin(), content.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\0') || byte == 0x7F;
  });
}

/// How many bytes of `content` the next line of the file takes.
std::size_t line_length(std::string_view content, bool binary) {
  const std::size_t newline = content.find('\n');
  std::size_t length = newline == std::string_view::npos ? content.size() : newline + 1;
  if (!binary) {
    const std::size_t nul = content.find('\0');
    if (nul != std::string_view::npos) length = std::min(length, nul + 1);
  }
  return std::min(length, binary ? k_max_binary_line : k_max_text_line);
}

void append_content(std::string& out, std::string_view content) {
  const bool binary = is_binary(content);
  while (!content.empty()) {
    std::string_view line = content.substr(0, line_length(content, binary));
    content.remove_prefix(line.size());
    const bool ends = line.back() == '\n';
    if (ends) line.remove_suffix(1);
    out += archive_words::k_content_mark;
    while (!line.empty()) {
      // A blank at the end of a line would not survive every editor.
      if (line.size() == 1 && (line[0] == ' ' || line[0] == '\t')) {
        append_escaped_byte(out, line[0]);
        break;
      }
      line.remove_prefix(append_character(out, line, false));
    }
    out += ends ? "\n" : "\\\n";
  }
}

}  // namespace

std::string write_archive(const std::vector<ArchiveEntry>& entries) {
  std::string out = fmt::format("{} {}\n", archive_words::k_format_name, archive_words::k_format_version);
  for (const ArchiveEntry& entry : entries) {
    out += fmt::format("{} {:04o} {}", archive_words::kind_word(entry.kind), entry.mode, escaped_word(entry.path));
    if (entry.kind == ArchiveKind::link || entry.kind == ArchiveKind::magic_link)
      out += fmt::format(" -> {}", escaped_word(entry.target));
    if (entry.owner != 0) out += fmt::format(" owner={}", entry.owner);
    if (entry.modified.unix_ms != 0) out += fmt::format(" modified={}", to_rfc3339(entry.modified));
    if (entry.unreadable) out += fmt::format(" unreadable={}", to_string(*entry.unreadable));
    out += '\n';
    if (entry.kind == ArchiveKind::file || entry.unreadable) append_content(out, entry.content);
  }
  return out + std::string(archive_words::k_end) + "\n";
}

}  // namespace sparkops
