#include "facts/software/process_environment.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "facts/machine/process_files.h"
#include "facts/software/python_layout.h"
#include "facts/workload/config_readers.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_command_line_cap = std::size_t{256} << 10;
constexpr std::size_t k_shortest_id = 4;

std::string directory_of(std::int64_t pid) {
  return "proc/" + std::to_string(pid);
}

bool is_python(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.starts_with("python") || name.starts_with("pypy");
}

std::vector<std::string> command_line_of(const Root& machine, std::int64_t pid) {
  const auto text = machine.read(directory_of(pid) + "/cmdline", k_command_line_cap);
  std::vector<std::string> words;
  if (text)
    for (const std::string_view word : parse_command_line(*text)) words.emplace_back(word);
  return words;
}

/// Where the first word of a command line lies: absolute, below the working directory, or on the process's PATH; empty
/// when that cannot be told.
std::string path_of_call(const Root& machine, const Root& tree, std::int64_t pid, const std::string& word,
                         const SoftwareVariables& variables) {
  if (word.starts_with('/')) return word;
  if (contains(word, "/")) {
    const auto directory = machine.read_link(directory_of(pid) + "/cwd");
    return directory && directory->starts_with('/') ? *directory + "/" + word : "";
  }
  const std::string* const path = variables.find("PATH");
  if (path == nullptr) return "";
  for (const std::string_view directory : split(*path, ':')) {
    const std::string candidate = std::string(directory) + "/" + word;
    if (directory.starts_with('/') && (tree.exists(candidate) || tree.read_link(candidate))) return candidate;
  }
  return "";
}

/// The container of a process, empty outside of one.
std::string container_of(const Root& machine, std::int64_t pid) {
  const auto text = machine.read(directory_of(pid) + "/cgroup");
  const auto path = text ? parse_process_cgroup(*text) : std::nullopt;
  return path ? container_of_cgroup(*path).value_or("") : "";
}

std::vector<std::int64_t> all_pids(const Root& machine) {
  std::vector<std::int64_t> pids;
  if (const auto entries = machine.list("proc"))
    for (const DirectoryEntry& entry : *entries)
      if (const auto pid = parse_integer(entry.name); pid && *pid > 0) pids.push_back(*pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

/// The ids that the engines' own files give a name.
std::vector<std::string> ids_of_name(const Root& machine, const std::string& name, bool& was_refused) {
  std::vector<std::string> ids;
  const auto look_at = [&](const std::string& path) {
    const auto text = machine.read(path);
    if (!text) {
      was_refused = was_refused || text.error().kind == ErrorKind::permission_denied;
      return;
    }
    for (std::string& id : parse_container_names(*text, name)) ids.push_back(std::move(id));
  };
  const auto docker = machine.list("var/lib/docker/containers");
  if (!docker) was_refused = was_refused || docker.error().kind == ErrorKind::permission_denied;
  if (docker)
    for (const DirectoryEntry& entry : *docker) look_at("var/lib/docker/containers/" + entry.name + "/config.v2.json");
  look_at("var/lib/containers/storage/overlay-containers/containers.json");
  if (const auto homes = machine.list("home"))
    for (const DirectoryEntry& home : *homes)
      look_at("home/" + home.name + "/.local/share/containers/storage/overlay-containers/containers.json");
  return ids;
}

bool is_start_of_id(std::string_view name) {
  return name.size() >= k_shortest_id && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

}  // namespace

Result<EnvironmentRequest> request_of_process(const Root& machine, const Root& tree, std::int64_t pid,
                                              const SoftwareVariables& variables) {
  const std::string found_by = "PID " + std::to_string(pid);
  if (!machine.exists(directory_of(pid)))
    return failure(ErrorKind::not_found, "there is no process " + std::to_string(pid));
  const auto words = command_line_of(machine, pid);
  // As it was called, so that a virtual environment is seen: the program itself is what its links lead to.
  if (!words.empty() && is_python(words.front()))
    if (const std::string called = path_of_call(machine, tree, pid, words.front(), variables); !called.empty())
      return EnvironmentRequest{called, "", found_by};
  const auto program = machine.read_link(directory_of(pid) + "/exe");
  if (!program)
    return failure(program.error().kind,
                   program.error().message + "; look with sudo, or with sparkops inside the container");
  const std::string* const environment = variables.find("VIRTUAL_ENV");
  if (is_python(*program) && environment != nullptr && environment->starts_with('/'))
    return EnvironmentRequest{*environment + "/bin/python3", "", found_by};
  if (is_python(*program)) return EnvironmentRequest{*program, "", found_by};
  // Started by a shell: whatever Python this environment leads to.
  return EnvironmentRequest{"", "", found_by};
}

Software read_software_of_process(std::int64_t pid) {
  const Root machine = Root::live();
  Software software;
  software.variables = read_software_variables(machine, std::to_string(pid));
  const std::string way_out = "; look with sudo, or with sparkops inside the container";
  const auto root = Root::of_process(pid);
  if (!root) {
    software.environments = unknown(root.error().message + way_out);
    return software;
  }
  const auto request = request_of_process(machine, *root, pid, software.variables.value_or({}));
  if (!request) {
    software.environments = unknown(request.error());
    return software;
  }
  read_environments(*root, *request, software);
  if (const std::string container = container_of(machine, pid); !container.empty())
    software.entered_by = "docker exec " + container.substr(0, 12);
  return software;
}

std::vector<std::string> parse_container_names(std::string_view text, const std::string& name) {
  const auto document = parse_json(text);
  std::vector<std::string> ids;
  if (!document) return ids;
  const auto text_of = [](const ConfigValue& value, const char* key) {
    const ConfigValue* const member = value.find(key);
    return member == nullptr ? std::string() : member->text();
  };
  if (text_of(*document, "Name") == "/" + name) ids.push_back(text_of(*document, "ID"));
  for (const ConfigValue& container : document->items)
    if (const ConfigValue* const names = container.find("names"))
      for (const ConfigValue& one : names->items)
        if (one.text() == name) ids.push_back(text_of(container, "id"));
  std::erase(ids, "");
  return ids;
}

Result<std::int64_t> find_container_process(const Root& machine, const std::string& name) {
  bool was_refused = false;
  const auto ids = ids_of_name(machine, name, was_refused);
  std::vector<std::int64_t> inside;
  for (const std::int64_t pid : all_pids(machine)) {
    const std::string container = container_of(machine, pid);
    if (container.empty()) continue;
    const bool by_id = is_start_of_id(name) && container.starts_with(name);
    const bool by_name = container == name || std::find(ids.begin(), ids.end(), container) != ids.end();
    if (by_id || by_name) inside.push_back(pid);
  }
  if (inside.empty())
    return was_refused ? failure(ErrorKind::permission_denied,
                                 "container " + name +
                                     ": names of containers are root's to read; look with sudo, or with "
                                     "sparkops inside the container")
                       : failure(ErrorKind::not_found, "no process of a container " + name + " runs on this machine");
  const auto runs_python = [&](std::int64_t pid) {
    const auto words = command_line_of(machine, pid);
    return !words.empty() && is_python(words.front());
  };
  const auto python = std::find_if(inside.begin(), inside.end(), runs_python);
  return python == inside.end() ? inside.front() : *python;
}

}  // namespace sparkops::facts
