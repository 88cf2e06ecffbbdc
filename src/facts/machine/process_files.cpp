#include "facts/machine/process_files.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace sparkops::facts {
namespace {

/// Container ids are SHA-256 digests or, with some runtimes, at least this much of one.
constexpr std::size_t k_shortest_container_id = 32;

bool is_container_id(std::string_view text) {
  return text.size() >= k_shortest_container_id && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "VmRSS:	  123456 kB" → bytes.
std::optional<Bytes> kilobytes(std::string_view value) {
  const std::vector<std::string_view> words = split_words(value);
  if (words.size() != 2 || words[1] != "kB") return std::nullopt;
  const std::optional<std::int64_t> count = parse_integer(words[0]);
  if (!count || *count < 0 || *count > std::numeric_limits<std::int64_t>::max() / k_kib) return std::nullopt;
  return kibibytes(*count);
}

/// The container that one component of a cgroup path names.
std::optional<std::string> container_of_component(std::string_view component, std::string_view parent) {
  constexpr std::string_view k_scope = ".scope";
  constexpr std::array<std::string_view, 6> k_runtimes = {"docker-", "cri-containerd-", "libpod-",
                                                          "crio-",   "nerdctl-",        "machine-"};
  if (component.ends_with(k_scope)) {
    const std::string_view name = component.substr(0, component.size() - k_scope.size());
    for (const std::string_view runtime : k_runtimes) {
      if (!name.starts_with(runtime)) continue;
      const std::string_view id = name.substr(runtime.size());
      if (is_container_id(id) || (runtime == "machine-" && !id.empty())) return std::string(id);
    }
  }
  constexpr std::string_view k_lxc_payload = "lxc.payload.";
  if (component.starts_with(k_lxc_payload)) return std::string(component.substr(k_lxc_payload.size()));
  if (parent == "lxc" && !component.empty()) return std::string(component);
  if (is_container_id(component)) return std::string(component);
  constexpr std::string_view k_cri = "cri-containerd:";
  const std::size_t cri = component.find(k_cri);
  if (cri != std::string_view::npos && is_container_id(component.substr(cri + k_cri.size()))) {
    return std::string(component.substr(cri + k_cri.size()));
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string_view> parse_command_line(std::string_view text) {
  std::vector<std::string_view> words = split(text, '\0');
  while (!words.empty() && trim(words.back()).empty()) words.pop_back();
  // A title written over the arguments may be filled up with blanks.
  if (!words.empty()) words.back() = words.size() == 1 ? trim(words.back()) : words.back();
  return words;
}

EnvironmentVariables parse_environment(std::string_view text) {
  EnvironmentVariables variables;
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace_back(printable(entry.substr(0, equals)), printable(entry.substr(equals + 1)));
  }
  return variables;
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name stands in parentheses and may contain parentheses and blanks: the last ')' ends it.
  const std::size_t end = text.rfind(')');
  if (end == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> words = split_words(trim(text.substr(end + 1)));
  constexpr std::size_t k_state = 0;
  constexpr std::size_t k_parent = 1;
  constexpr std::size_t k_start = 19;  // field 22 of proc(5)
  if (words.size() <= k_start) return std::nullopt;
  const std::optional<std::int64_t> parent = parse_integer(words[k_parent]);
  const std::optional<std::int64_t> start = parse_integer(words[k_start]);
  if (!parent || !start || *start < 0) return std::nullopt;
  return ProcessStat{printable(words[k_state]), *parent, *start};
}

ProcessStatus parse_process_status(std::string_view text) {
  ProcessStatus status;
  // Read for every process there is: no list of lines is made, and most lines are known by their first letter.
  constexpr std::string_view k_first_letters = "NPRSUV";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || k_first_letters.find(line[0]) == std::string_view::npos) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (key == "VmRSS") status.resident = kilobytes(value);
    if (key == "RssAnon") status.anonymous = kilobytes(value);
    if (key == "RssFile") status.file_backed = kilobytes(value);
    if (key == "RssShmem") status.shared = kilobytes(value);
    if (key == "VmSwap") status.swapped = kilobytes(value);
    if (key == "Name") status.name = printable(trim(value));
    if (key == "State") status.state = printable(trim(value).substr(0, 1));
    if (key == "PPid") status.parent = parse_integer(trim(value));
    if (key == "Uid") {
      const std::vector<std::string_view> ids = split_words(value);
      const std::optional<std::int64_t> id = ids.size() < 2 ? std::nullopt : parse_integer(ids[1]);
      if (id && *id >= 0 && *id <= std::numeric_limits<std::uint32_t>::max()) {
        status.owner = static_cast<std::uint32_t>(*id);
      }
    }
  }
  return status;
}

std::optional<std::string> parse_process_cgroup(std::string_view text) {
  std::optional<std::string> unified;
  std::optional<std::string> memory;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path = printable(line.substr(second + 1));
    if (controllers.empty()) unified = path;
    const std::vector<std::string_view> names = split(controllers, ',');
    if (std::find(names.begin(), names.end(), "memory") != names.end()) memory = path;
  }
  return unified && (*unified != "/" || !memory) ? unified : memory;
}

std::optional<std::string> container_of_cgroup(std::string_view path) {
  const std::vector<std::string_view> components = split(path, '/');
  std::optional<std::string> innermost;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const std::string_view parent = i == 0 ? std::string_view() : components[i - 1];
    if (auto found = container_of_component(components[i], parent)) innermost = std::move(found);
  }
  return innermost;
}

std::optional<std::int64_t> parse_boot_time(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() == 2 && words[0] == "btime") return parse_integer(words[1]);
  }
  return std::nullopt;
}

}  // namespace sparkops::facts
