#include "facts/software/environment.h"

#include <algorithm>

#include "base/text.h"
#include "facts/software/captured_software.h"
#include "facts/software/python_layout.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_torch_version_cap = std::size_t{64} << 10;
constexpr std::size_t k_max_conda_packages = 5000;

/// The text between quotation marks at the start of `value`, "" for None; nothing for anything else.
std::optional<std::string> python_literal(std::string_view value) {
  value = trim(value.substr(0, value.find('#')));
  if (value == "None") return "";
  if (value.size() < 2 || (value.front() != '\'' && value.front() != '"')) return std::nullopt;
  const std::size_t end = value.find(value.front(), 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(printable(value.substr(1, end - 1), 200));
}

std::vector<TorchBuild> torch_builds(const Root& root, const std::vector<std::string>& sites) {
  std::vector<TorchBuild> builds;
  for (const std::string& site : sites) {
    std::string directory = site + "/torch";
    const auto text = root.read(directory + "/version.py", k_torch_version_cap);
    if (text) {
      builds.push_back(parse_torch_version(*text, std::move(directory)));
    } else if (text.error().kind != ErrorKind::not_found) {
      builds.push_back({std::move(directory), unknown(text.error()), unknown(text.error())});
    }
  }
  return builds;
}

/// "numpy-2.2.6-py312h4a3b5c6_0.json": the last two dashes part name, version and build.
std::vector<CondaPackage> read_conda_packages(const Root& root, const std::string& prefix) {
  std::vector<CondaPackage> packages;
  const auto entries = root.list(prefix + "/conda-meta");
  if (!entries) return packages;
  for (const DirectoryEntry& entry : *entries) {
    constexpr std::string_view k_ending = ".json";
    std::string_view name = entry.name;
    if (!name.ends_with(k_ending) || packages.size() >= k_max_conda_packages) continue;
    name.remove_suffix(k_ending.size());
    const std::size_t build = name.rfind('-');
    const std::size_t version = build == std::string_view::npos || build == 0 ? build : name.rfind('-', build - 1);
    if (version == std::string_view::npos || version == 0) continue;
    packages.push_back({printable(name.substr(0, version), 200),
                        printable(name.substr(version + 1, build - version - 1), 200),
                        printable(name.substr(build + 1), 200)});
  }
  return packages;
}

struct Choice {
  std::string interpreter;
  std::string found_by;
};

/// A directory that a variable names; one that is no environment is passed over.
std::optional<Choice> choice_of_variable(const Root& root, const SoftwareVariables& variables, const char* name) {
  const std::string* const directory = variables.find(name);
  if (directory == nullptr || !directory->starts_with('/')) return std::nullopt;
  auto interpreter = find_python_in(root, *directory);
  if (!interpreter) return std::nullopt;
  return Choice{std::move(*interpreter), std::string("$") + name};
}

Result<Choice> choose(const Root& root, const EnvironmentRequest& request, const SoftwareVariables& variables) {
  const auto as_usage = [](const std::string& message) { return failure(ErrorKind::usage, message); };
  if (!request.python.empty()) {
    const std::string found_by = request.found_by.empty() ? "--python" : request.found_by;
    if (!root.exists(request.python) && !root.read_link(request.python))
      return as_usage(found_by + " " + request.python + ": there is no such interpreter");
    const auto status = root.status(request.python);
    if (status && status->kind == FileKind::directory)
      return as_usage(found_by + " " + request.python + " is a directory: give it to --env");
    return Choice{request.python, found_by};
  }
  if (!request.directory.empty()) {
    auto interpreter = find_python_in(root, request.directory);
    if (!interpreter) return as_usage("--env " + interpreter.error().message);
    return Choice{std::move(*interpreter), "--env"};
  }
  if (auto captured = read_captured_python(root)) {
    if (captured->interpreter.empty()) return failure(ErrorKind::not_found, "no Python where the capture was made");
    return Choice{std::move(captured->interpreter), std::move(captured->found_by)};
  }
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (auto choice = choice_of_variable(root, variables, variable)) return std::move(*choice);
  auto interpreter = find_python_on_path(root, variables);
  if (!interpreter) return tl::unexpected(interpreter.error());
  return Choice{std::move(*interpreter), "python3 on PATH"};
}

}  // namespace

const Distribution* PythonEnvironment::find(std::string_view key) const {
  const auto found = std::find_if(distributions.begin(), distributions.end(),
                                  [&](const Distribution& distribution) { return distribution.key == key; });
  return found == distributions.end() ? nullptr : &*found;
}

std::map<std::string, std::string, std::less<>> parse_pyvenv_configuration(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  constexpr std::size_t k_max_keys = 100;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || values.size() >= k_max_keys) continue;
    values.insert_or_assign(to_lower(trim(line.substr(0, equals))), std::string(trim(line.substr(equals + 1))));
  }
  return values;
}

TorchBuild parse_torch_version(std::string_view text, std::string directory) {
  TorchBuild build;
  build.version = build.cuda = unknown(directory + "/version.py does not say");
  build.directory = std::move(directory);
  for (const std::string_view line : split_lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    // "cuda: Optional[str] = '13.0'" and "cuda = '13.0'".
    const std::string_view name = trim(line.substr(0, std::min(equals, line.find(':'))));
    if (name != "__version__" && name != "cuda") continue;
    const auto value = python_literal(line.substr(equals + 1));
    if (!value) continue;
    (name == "cuda" ? build.cuda : build.version) = as_read(*value);
  }
  return build;
}

Result<PythonEnvironment> read_environment(const Root& root, const EnvironmentRequest& request,
                                           const SoftwareVariables& variables) {
  const auto choice = choose(root, request, variables);
  if (!choice) return tl::unexpected(choice.error());
  auto layout = read_python_layout(root, choice->interpreter, variables);
  if (!layout) return tl::unexpected(layout.error());
  PythonEnvironment environment;
  environment.kind = layout->kind;
  environment.found_by = choice->found_by;
  environment.prefix = layout->prefix;
  environment.interpreter = layout->interpreter;
  environment.python_version = layout->python_version;
  environment.abi_tag = layout->abi_tag;
  environment.externally_managed = layout->externally_managed;
  environment.sites = layout->sites;
  std::vector<std::string> paths;
  for (const SiteDirectory& site : environment.sites) {
    paths.push_back(site.path);
    auto found = read_distributions(root, site.path, environment.could_not);
    std::move(found.begin(), found.end(), std::back_inserter(environment.distributions));
  }
  if (layout->kind == EnvironmentKind::conda) environment.conda_packages = read_conda_packages(root, layout->prefix);
  environment.torch = torch_builds(root, paths);
  environment.torch_elsewhere = torch_builds(root, layout->unused_sites);
  return environment;
}

}  // namespace sparkops::facts
