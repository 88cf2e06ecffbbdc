#include "store/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::store {

namespace {

constexpr std::int64_t k_ms_per_s = 1000;
constexpr const char* k_schema = "sparkops.run/1";

std::tm local_time(Timestamp time) {
  const auto seconds = static_cast<std::time_t>(time.unix_ms / k_ms_per_s);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool names_a_script(std::string_view word) {
  return word.ends_with(".py") || word.ends_with(".sh");
}

Json end_json(const RunRecord::End& end) {
  Json json{{"exit_code", end.exit_code}};
  if (end.signal) json["signal"] = *end.signal;
  ObjectWriter writer(json);
  writer.write("lowest_available_bytes",
               end.lowest_available_bytes
                   ? Known<Bytes>(Bytes{*end.lowest_available_bytes}, end.lowest_available_bytes.provenance())
                   : Known<Bytes>(end.lowest_available_bytes.as_unknown()));
  json["output_bytes"] = end.output_bytes;
  json["output_lost_bytes"] = end.output_lost_bytes;
  json["problems"] = Json::array();
  for (const std::string& problem : end.problems) json["problems"].push_back(printable(problem));
  return json;
}

Known<std::string> known_text(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return unknown(std::string(key) + " is not in run.json");
  return as_read(found->get<std::string>());
}

template <class Number>
Number number_or(const nlohmann::json& json, const char* key, Number fallback) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<Number>() : fallback;
}

std::optional<Timestamp> time_of(const nlohmann::json& json, const char* key) {
  const auto text = known_text(json, key);
  return text ? parse_rfc3339(*text) : std::nullopt;
}

std::optional<RunRecord::End> end_of(const nlohmann::json& json) {
  const auto at = time_of(json, "ended_at");
  const auto found = json.find("end");
  if (!at || found == json.end() || !found->is_object()) return std::nullopt;
  RunRecord::End end;
  end.at = *at;
  end.exit_code = number_or(*found, "exit_code", 0);
  if (found->contains("signal")) end.signal = number_or(*found, "signal", 0);
  const auto lowest = found->find("lowest_available_bytes");
  if (lowest != found->end() && lowest->is_number_integer())
    end.lowest_available_bytes = as_measured(lowest->get<std::int64_t>());
  else
    end.lowest_available_bytes = unknown("not in run.json");
  end.output_bytes = number_or(*found, "output_bytes", std::int64_t{0});
  end.output_lost_bytes = number_or(*found, "output_lost_bytes", std::int64_t{0});
  return end;
}

RunRecord record_of(const nlohmann::json& json, Timestamp started) {
  RunRecord record;
  if (const auto words = json.find("command"); words != json.end() && words->is_array())
    for (const auto& word : *words)
      if (word.is_string()) record.command.push_back(word.get<std::string>());
  record.working_directory = known_text(json, "working_directory").value_or("");
  record.program_version = known_text(json, "sparkops_version").value_or("");
  record.boot_id = known_text(json, "boot_id");
  record.supervisor_pid = number_or(json, "supervisor_pid", std::int64_t{0});
  if (const auto ticks = number_or(json, "supervisor_start_ticks", std::int64_t{-1}); ticks >= 0)
    record.supervisor_start_ticks = as_read(std::int64_t{ticks});
  record.utc_offset_s = number_or(json, "utc_offset_s", std::int64_t{0});
  record.started = started;
  record.preflight = known_text(json, "preflight").value_or("");
  record.gpu = known_text(json, "gpu");
  const auto terminal = json.find("terminal");
  record.terminal = terminal != json.end() && terminal->is_boolean() && terminal->get<bool>();
  record.end = end_of(json);
  return record;
}

}  // namespace

std::string run_json(const RunRecord& record) {
  Json json{{"schema", k_schema}, {"command", Json::array()}};
  for (const std::string& word : record.command) json["command"].push_back(printable(word));
  json["working_directory"] = printable(record.working_directory);
  json["sparkops_version"] = record.program_version;
  ObjectWriter writer(json);
  writer.write("boot_id", record.boot_id);
  json["supervisor_pid"] = record.supervisor_pid;
  writer.write("supervisor_start_ticks", record.supervisor_start_ticks);
  json["utc_offset_s"] = record.utc_offset_s;
  json["preflight"] = printable(record.preflight);
  writer.write("gpu", record.gpu);
  json["terminal"] = record.terminal;
  json["started_at"] = to_rfc3339(record.started);
  if (record.end) {
    json["ended_at"] = to_rfc3339(record.end->at);
    json["end"] = end_json(*record.end);
  }
  return json.dump(2) + "\n";
}

Result<RunRecord> parse_run_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || known_text(json, "schema").value_or("") != k_schema)
    return failure(ErrorKind::malformed, "run.json: is no object of schema sparkops.run/1");
  const auto started = time_of(json, "started_at");
  if (!started) return failure(ErrorKind::malformed, "run.json: has no started_at");
  return record_of(json, *started);
}

std::string slug_of(const std::vector<std::string>& command) {
  constexpr std::size_t k_longest = 32;
  std::string_view name = command.empty() ? std::string_view() : file_name(command.front());
  for (const std::string& word : command) {
    if (!names_a_script(word)) continue;
    name = file_name(word);
    name.remove_suffix(3);  // ".py", ".sh"
    break;
  }
  std::string slug;
  for (const char letter : name.substr(0, k_longest)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 && byte < 0x80)
      slug += static_cast<char>(std::tolower(byte));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "run" : slug;
}

std::string run_root(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* const set = std::getenv("SPARKOPS_RUNS");
  return set != nullptr && *set != '\0' ? set : "sparkops-runs";
}

Result<std::string> create_run_directory(const std::string& root, Timestamp started, const std::string& slug) {
  std::error_code error;
  std::filesystem::create_directories(root, error);
  if (error) return tl::unexpected(system_error(root, error.value()));
  const std::tm local = local_time(started);
  constexpr int k_year_zero = 1900;
  const std::string name =
      fmt::format("{}/{:04}-{:02}-{:02}-{:02}{:02}{:02}-{}", root, local.tm_year + k_year_zero, local.tm_mon + 1,
                  local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, slug);
  constexpr mode_t k_mode = 0755;
  constexpr int k_most_same = 1000;
  for (int number = 1; number < k_most_same; ++number) {
    std::string path = number == 1 ? name : fmt::format("{}-{}", name, number);
    if (::mkdir(path.c_str(), k_mode) == 0) {
      // The name itself must survive a power cut too.
      const FileDescriptor parent(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (parent.valid()) (void)::fsync(parent.get());
      return path;
    }
    if (errno != EEXIST) return tl::unexpected(system_error(path, errno));
  }
  return failure(ErrorKind::input_output, name + ": a thousand runs have this name");
}

std::int64_t utc_offset_at(Timestamp time) {
  return local_time(time).tm_gmtoff;
}

}  // namespace sparkops::store
