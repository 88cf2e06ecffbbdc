#include "base/archive.h"

#include <array>
#include <climits>
#include <utility>

#include "base/text.h"

namespace sparkops {

namespace {

constexpr std::array<std::pair<ErrorKind, std::string_view>, 10> k_error_words{{
    {ErrorKind::not_found, "not_found"},
    {ErrorKind::permission_denied, "permission_denied"},
    {ErrorKind::not_a_regular_file, "not_a_regular_file"},
    {ErrorKind::too_large, "too_large"},
    {ErrorKind::outside_root, "outside_root"},
    {ErrorKind::malformed, "malformed"},
    {ErrorKind::unsupported, "unsupported"},
    {ErrorKind::timed_out, "timed_out"},
    {ErrorKind::input_output, "input_output"},
    {ErrorKind::usage, "usage"},
}};

}  // namespace

bool is_archive_path(std::string_view path) {
  if (path.empty() || path.size() >= PATH_MAX || path.find('\0') != std::string_view::npos) return false;
  std::size_t depth = 0;
  for (const std::string_view component : split(path, '/')) {
    if (component.empty() || component == "." || component == ".." || component.size() > NAME_MAX) return false;
    if (++depth > k_max_archive_depth) return false;
  }
  return true;
}

std::string_view to_string(ErrorKind kind) {
  for (const auto& [candidate, word] : k_error_words)
    if (candidate == kind) return word;
  return "input_output";
}

std::optional<ErrorKind> parse_error_kind(std::string_view word) {
  for (const auto& [kind, candidate] : k_error_words)
    if (candidate == word) return kind;
  return std::nullopt;
}

}  // namespace sparkops
