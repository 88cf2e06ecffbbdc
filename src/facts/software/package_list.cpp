#include "facts/software/package_list.h"

#include <filesystem>

#include "base/root.h"
#include "base/text.h"
#include "facts/software/package_list_lines.h"
#include "facts/software/version.h"
#include "facts/workload/config_readers.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_largest_list = std::size_t{16} << 20;

/// The packages of pip list --format=json, pip inspect, conda list --json.
void read_json_packages(const ConfigValue& document, const std::string& name, PackageList& list) {
  const ConfigValue* const installed = document.find("installed");
  const bool inspected = document.kind == ConfigValue::Kind::map && installed != nullptr;
  list.format = inspected ? "pip inspect" : "pip list";
  const ConfigValue& packages = inspected ? *installed : document;
  std::size_t number = 0;
  for (const ConfigValue& item : packages.items) {
    const ConfigValue* const metadata = item.find("metadata");
    const ConfigValue& package = metadata == nullptr ? item : *metadata;
    const ConfigValue* const called = package.find("name");
    const ConfigValue* const version = package.find("version");
    const std::string place = name + " (package " + std::to_string(++number) + ")";
    if (called == nullptr || !is_package_name(called->text())) {
      add_not_understood(list, place, "it has no name");
      continue;
    }
    const ConfigValue* const build = package.find("build_string");
    if (build != nullptr) list.format = "conda list";
    const bool conda_torch = build != nullptr && called->text() == "pytorch";
    Distribution* const added =
        add_declared(list, conda_torch ? "torch" : called->text(), version == nullptr ? "" : version->text(), place);
    if (added != nullptr && build != nullptr) added->conda_build = printable(build->text());
    const ConfigValue* const requires_dist = package.find("requires_dist");
    if (added == nullptr || requires_dist == nullptr) continue;
    for (const ConfigValue& text : requires_dist->items)
      if (auto requirement = parse_requirement(text.text())) added->requirements.push_back(std::move(*requirement));
  }
  if (const ConfigValue* const environment = document.find("environment"))
    if (const ConfigValue* const python = environment->find("python_full_version"))
      list.python_version = as_read(printable(python->text(), 40));
}

/// Of a package that stands in a lock once per platform, whether this entry is for aarch64 Linux.
bool is_for_a_spark(const ConfigValue& package) {
  const ConfigValue* const markers = package.find("resolution-markers");
  if (markers == nullptr || markers->items.empty()) return true;
  const MarkerEnvironment spark = marker_environment("aarch64", "");
  for (const ConfigValue& marker : markers->items)
    if (evaluate_marker(marker.text(), spark) != MarkerResult::does_not_hold) return true;
  return false;
}

/// [[package]] of uv.lock and poetry.lock, [[packages]] of pylock.toml.
void read_locked_packages(const ConfigValue& packages, const std::string& name, PackageList& list) {
  for (const ConfigValue& package : packages.items) {
    const ConfigValue* const called = package.find("name");
    if (called == nullptr || !is_package_name(called->text()) || !is_for_a_spark(package)) continue;
    const ConfigValue* const version = package.find("version");
    const ConfigValue* const source = package.find("source");
    const auto from = [&](const char* key) -> const ConfigValue* {
      return source == nullptr ? nullptr : source->find(key);
    };
    if (from("virtual") != nullptr || from("editable") != nullptr) continue;  // the project itself
    Distribution* const added = add_declared(list, called->text(), version == nullptr ? "" : version->text(),
                                             name + ":" + std::to_string(package.line));
    if (added == nullptr) continue;
    for (const char* const key : {"registry", "url"})
      if (const ConfigValue* const address = from(key)) added->index = printable(address->text(), 400);
  }
}

/// [project] dependencies of pyproject.toml: requirements in a list.
void read_project(const ConfigValue& project, const std::string& name, PackageList& list) {
  const ConfigValue* const dependencies = project.find("dependencies");
  if (dependencies == nullptr) return;
  std::string lines;
  for (const ConfigValue& dependency : dependencies->items) lines += dependency.text() + "\n";
  PackageList read = parse_package_lines(lines, name + " (dependencies)");
  list.distributions = std::move(read.distributions);
  list.not_understood = std::move(read.not_understood);
}

Result<PackageList> read_toml_packages(std::string_view text, const std::string& name) {
  const auto document = parse_toml(text);
  if (!document) return failure(ErrorKind::malformed, name + ": " + document.error().message);
  PackageList list;
  list.python_version = unknown("the list does not name it");
  if (const ConfigValue* const packages = document->find("package")) {
    list.format = "a lock file";
    read_locked_packages(*packages, name, list);
  } else if (const ConfigValue* const locked = document->find("packages")) {
    list.format = "a lock file";
    read_locked_packages(*locked, name, list);
  } else if (const ConfigValue* const project = document->find("project")) {
    list.format = "pyproject.toml";
    read_project(*project, name, list);
  }
  return list;
}

bool looks_like_toml(std::string_view text, const std::string& name) {
  if (name.ends_with(".toml") || name.ends_with(".lock")) return true;
  return contains(text, "\n[[package") || text.starts_with("[[package") || contains(text, "\n[project]");
}

}  // namespace

Result<PackageList> parse_package_list(std::string_view text, const std::string& name) {
  if (text.find('\0') != std::string_view::npos)
    return failure(ErrorKind::malformed, name + ": it holds NUL bytes, so it is no list of packages");
  const std::string_view start = trim(text);
  Result<PackageList> list = PackageList{};
  if (start.starts_with('{') ||
      (start.starts_with('[') && !start.starts_with("[pip") && !looks_like_toml(text, name))) {
    const auto document = parse_json(text);
    if (!document) return failure(ErrorKind::malformed, name + ": " + document.error().message);
    list->python_version = unknown("the list does not name it");
    read_json_packages(*document, name, *list);
  } else if (looks_like_toml(text, name)) {
    list = read_toml_packages(text, name);
  } else {
    list = parse_package_lines(text, name);
  }
  if (list && list->distributions.empty())
    return failure(ErrorKind::malformed,
                   name +
                       ": no package is named in it; give the output of pip freeze, pip list, conda list, uv.lock, "
                       "a requirements file or torch's collect_env");
  return list;
}

Result<Software> read_package_list(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string directory = file.parent_path().empty() ? "." : file.parent_path().string();
  const auto as_usage = [&](const std::string& message) { return failure(ErrorKind::usage, "--packages " + message); };
  auto backend = open_directory_root(directory);
  if (!backend) return as_usage(backend.error().message);
  const auto text = Root(std::move(*backend)).read(file.filename().string(), k_largest_list);
  if (!text) return as_usage(text.error().message);
  auto list = parse_package_list(*text, file.filename().string());
  if (!list) return as_usage(list.error().message);
  PythonEnvironment environment;
  environment.kind = EnvironmentKind::declared;
  environment.found_by = "--packages";
  environment.prefix = file.filename().string();
  environment.python_version = list->python_version;
  environment.abi_tag = unknown("a list does not tell");
  environment.externally_managed = unknown("a list does not tell");
  environment.distributions = std::move(list->distributions);
  environment.could_not = std::move(list->not_understood);
  Software software;
  software.declared = true;
  software.format = list->format;
  software.machine = std::move(list->machine);
  software.variables = unknown("a list of packages names no variables");
  software.environments = as_read(std::vector<PythonEnvironment>{std::move(environment)});
  return software;
}

}  // namespace sparkops::facts
