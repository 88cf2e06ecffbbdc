#include <fmt/format.h>

#include <climits>

#include "base/archive.h"
#include "base/archive_words.h"
#include "base/text.h"

namespace sparkops {

namespace {

using archive_words::k_content_mark;
using archive_words::k_end;
using archive_words::k_format_name;
using archive_words::k_format_version;

constexpr std::uint32_t k_permission_bits = 07777;
constexpr std::size_t k_shown_bytes = 60;  // of a wrong line, in a message

/// What a line says after its escapes are resolved.
struct DecodedLine {
  std::string text;
  bool continues = false;  // it ends in a lone backslash: the newline does not belong to the content
};

enum class TabsAre { allowed, forbidden };

/// Resolves `\\` and `\xNN`; nothing for another escape or for a byte that should have been escaped.
std::optional<DecodedLine> decode(std::string_view line, TabsAre tabs) {
  DecodedLine decoded;
  decoded.text.reserve(line.size() + 1);
  while (!line.empty()) {
    if (line[0] == '\\') {
      if (line.size() == 1) {
        decoded.continues = true;
        return decoded;
      }
      if (line[1] == '\\') {
        decoded.text += '\\';
        line.remove_prefix(2);
        continue;
      }
      constexpr std::size_t k_hex_escape = 4;  // \xNN
      if (line[1] != 'x' || line.size() < k_hex_escape) return std::nullopt;
      const std::string_view digits = line.substr(2, 2);
      if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
      decoded.text += static_cast<char>(parse_hexadecimal(digits).value_or(0));
      line.remove_prefix(k_hex_escape);
      continue;
    }
    const std::size_t length = line[0] == '\t' && tabs == TabsAre::allowed ? 1 : printable_length(line);
    if (length == 0) return std::nullopt;
    decoded.text += line.substr(0, length);
    line.remove_prefix(length);
  }
  return decoded;
}

/// A path, target or other single word.
std::optional<std::string> decode_word(std::string_view word) {
  auto decoded = decode(word, TabsAre::forbidden);
  if (!decoded || decoded->continues) return std::nullopt;
  return std::move(decoded->text);
}

std::optional<std::uint32_t> parse_mode(std::string_view word) {
  if (word.size() != 4 || word.find_first_not_of("01234567") != std::string_view::npos) return std::nullopt;
  std::uint32_t mode = 0;
  for (const char digit : word) mode = mode * 8 + static_cast<std::uint32_t>(digit - '0');
  return mode & k_permission_bits;
}

/// One "key=value" word at the end of an entry line. Says what is wrong, or nothing.
std::optional<std::string> read_attribute(std::string_view word, ArchiveEntry& entry) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (key == "owner") {
    const auto owner = parse_integer(value);
    if (!owner || *owner < 0 || *owner > UINT32_MAX) return "owner is no user id";
    entry.owner = static_cast<std::uint32_t>(*owner);
  } else if (key == "modified") {
    const auto time = parse_rfc3339(value);
    if (!time) return "modified is no RFC 3339 time";
    entry.modified = *time;
  } else if (key == "unreadable") {
    entry.unreadable = parse_error_kind(value);
    if (!entry.unreadable) return "unreadable names no kind of error";
    if (entry.kind != ArchiveKind::file && entry.kind != ArchiveKind::directory)
      return "only a file or directory can be unreadable";
  } else {
    return fmt::format("'{}' is no attribute of an entry", printable(word, k_shown_bytes));
  }
  return std::nullopt;
}

class ArchiveParser {
 public:
  ArchiveParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Result<std::vector<ArchiveEntry>> parse() {
    if (auto error = read_format_line()) return tl::unexpected(*error);
    while (const auto line = next_line()) {
      if (*line == k_end) {
        if (!trim(rest_).empty()) return wrong("text after 'end'");
        return std::move(entries_);
      }
      const auto error = line->starts_with(k_content_mark) ? read_content(line->substr(1)) : read_other(*line);
      if (error) return tl::unexpected(*error);
    }
    ++line_;
    return wrong("the capture file is cut off: no 'end' line");
  }

 private:
  std::optional<std::string_view> next_line() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    return line;
  }

  [[nodiscard]] Error error_here(const std::string& what) const {
    return Error{ErrorKind::malformed, fmt::format("{}: line {}: {}", name_, line_, what)};
  }
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& what) const { return tl::unexpected(error_here(what)); }

  std::optional<Error> read_format_line() {
    const std::string_view line = next_line().value_or("");
    line_ = 1;  // also of an empty file
    const auto words = split(line, ' ');
    if (words.size() != 2 || words[0] != k_format_name)
      return error_here(fmt::format("no capture file: it must start with '{} {}'", k_format_name, k_format_version));
    if (words[1] != k_format_version) {
      return Error{ErrorKind::unsupported,
                   fmt::format("{}: capture format '{}', but this sparkops reads format {}; use a newer sparkops",
                               name_, printable(words[1], k_shown_bytes), k_format_version)};
    }
    return std::nullopt;
  }

  std::optional<Error> read_content(std::string_view line) {
    if (!content_open_) return error_here("a content line that follows no file");
    auto decoded = decode(line, TabsAre::allowed);
    if (!decoded) return error_here("a wrong escape, or a byte that must be escaped");
    if (!decoded->continues) decoded->text += '\n';
    entries_.back().content += decoded->text;
    return std::nullopt;
  }

  std::optional<Error> read_other(std::string_view line) {
    content_open_ = false;
    if (line.empty() || line.starts_with('#')) return std::nullopt;
    ArchiveEntry entry;
    entry.line = line_;
    const auto words = split(line, ' ');
    constexpr std::size_t k_fixed_words = 3;  // kind, mode, path
    if (words.size() < k_fixed_words) return error_here("an entry is: KIND MODE PATH");
    const auto kind = archive_words::parse_kind(words[0]);
    if (!kind) return error_here(fmt::format("'{}' is no kind of entry", printable(words[0], k_shown_bytes)));
    entry.kind = *kind;
    const auto mode = parse_mode(words[1]);
    if (!mode) return error_here("the mode must be four octal digits");
    entry.mode = *mode;
    auto path = decode_word(words[2]);
    if (!path || !is_archive_path(*path)) return error_here("no usable path");
    entry.path = std::move(*path);
    return read_tail(words, k_fixed_words, std::move(entry));
  }

  /// The target of a link and the attributes.
  std::optional<Error> read_tail(const std::vector<std::string_view>& words, std::size_t at, ArchiveEntry entry) {
    if (entry.kind == ArchiveKind::link || entry.kind == ArchiveKind::magic_link) {
      if (words.size() < at + 2 || words[at] != "->") return error_here("a link is: KIND MODE PATH -> TARGET");
      auto target = decode_word(words[at + 1]);
      if (!target || target->empty() || target->size() >= PATH_MAX || target->find('\0') != std::string::npos)
        return error_here("no usable target of a link");
      entry.target = std::move(*target);
      at += 2;
    }
    for (; at < words.size(); ++at)
      if (const auto what = read_attribute(words[at], entry)) return error_here(*what);
    content_open_ = entry.kind == ArchiveKind::file || entry.unreadable;
    entries_.push_back(std::move(entry));
    return std::nullopt;
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 0;
  bool content_open_ = false;
  std::vector<ArchiveEntry> entries_;
};

}  // namespace

Result<std::vector<ArchiveEntry>> parse_archive(std::string_view text, const std::string& name) {
  return ArchiveParser(text, name).parse();
}

}  // namespace sparkops
