#include "facts/machine/stopped_containers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sparkops::facts {

namespace {

using Json = nlohmann::json;

constexpr std::size_t k_record_cap = std::size_t{1} << 20;
constexpr std::size_t k_most_containers = 512;

/// Brackets within brackets; the parser of the library calls itself for each.
bool is_nested_deeper_than(std::string_view text, int most) {
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > most) return true;
  }
  return false;
}

std::string text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<StoppedContainer> parse_docker_container(std::string_view text) {
  constexpr int k_deepest = 64;
  if (is_nested_deeper_than(text, k_deepest)) return std::nullopt;
  const Json record = Json::parse(text, nullptr, false);
  if (record.is_discarded() || !record.is_object()) return std::nullopt;
  const auto state = record.find("State");
  if (state == record.end() || !state->is_object()) return std::nullopt;
  const auto running = state->find("Running");
  if (running == state->end() || !running->is_boolean() || running->get<bool>()) return std::nullopt;
  const auto finished = parse_rfc3339(text_member(*state, "FinishedAt"));
  // "0001-01-01T00:00:00Z": it was created and never ran.
  if (!finished || finished->unix_ms <= 0) return std::nullopt;
  std::string name = text_member(record, "Name");
  if (name.starts_with('/')) name.erase(0, 1);
  if (name.empty()) name = text_member(record, "ID").substr(0, 12);
  return StoppedContainer{printable(name, 80), *finished};
}

Known<std::vector<StoppedContainer>> read_stopped_containers(const Root& root) {
  constexpr const char* k_directory = "var/lib/docker/containers";
  const auto entries = root.list(k_directory);
  if (!entries) {
    if (entries.error().kind == ErrorKind::permission_denied)
      return unknown("when docker's containers stopped: needs root");
    return unknown(entries.error());
  }
  if (entries->size() > k_most_containers)
    return unknown("docker keeps more containers than are looked at (" + std::to_string(entries->size()) + ")");
  std::vector<StoppedContainer> stopped;
  for (const DirectoryEntry& entry : *entries) {
    const auto text = root.read(std::string(k_directory) + "/" + entry.name + "/config.v2.json", k_record_cap);
    if (!text) continue;
    if (auto container = parse_docker_container(*text)) stopped.push_back(std::move(*container));
  }
  std::sort(stopped.begin(), stopped.end(),
            [](const auto& a, const auto& b) { return a.finished.unix_ms > b.finished.unix_ms; });
  return as_read(std::move(stopped));
}

}  // namespace sparkops::facts
