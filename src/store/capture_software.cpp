#include "store/capture_software.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "facts/software/software.h"
#include "store/json_form.h"

namespace sparkops::store {

namespace {

using facts::EnvironmentKind;
using facts::PythonEnvironment;

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// The interpreter's links and its name; what it holds is left out.
void capture_interpreter(Collector& collector, const PythonEnvironment& environment) {
  collector.add_left_out(environment.interpreter, "a program, left out");
  if (environment.kind == EnvironmentKind::virtual_environment) {
    collector.add_file(environment.prefix + "/pyvenv.cfg", Treatment::text);
    collector.add_directory(environment.prefix + "/bin");
  }
  const std::string python = "/lib/python" + environment.python_version.value_or("");
  collector.add_file(environment.prefix + python + "/EXTERNALLY-MANAGED", Treatment::first_word);
}

void capture_distribution(Collector& collector, const facts::Distribution& distribution) {
  const std::string& place = distribution.metadata;
  collector.add_directory(place);
  if (place.ends_with(".egg-info") || place.ends_with("/EGG-INFO")) {
    collector.add_file(place, Treatment::package_headers);  // a single file, or nothing
    collector.add_file(place + "/PKG-INFO", Treatment::package_headers);
    collector.add_file(place + "/requires.txt", Treatment::text);
    return;
  }
  collector.add_file(place + "/METADATA", Treatment::package_headers);
  collector.add_file(place + "/WHEEL", Treatment::plain);
}

void capture_environment(Collector& collector, const PythonEnvironment& environment) {
  capture_interpreter(collector, environment);
  for (const facts::SiteDirectory& site : environment.sites) {
    collector.add_directory(site.path);
    const auto entries = collector.root().list(site.path);
    if (!entries) continue;
    for (const DirectoryEntry& entry : *entries)
      if (entry.name.ends_with(".pth")) collector.add_file(site.path + "/" + entry.name, Treatment::text);
  }
  for (const facts::Distribution& distribution : environment.distributions)
    capture_distribution(collector, distribution);
  for (const auto* const builds : {&environment.torch, &environment.torch_elsewhere})
    for (const facts::TorchBuild& build : *builds) {
      collector.add_directory(parent_of(build.directory));
      collector.add_file(build.directory + "/version.py", Treatment::plain);
    }
  if (environment.kind != EnvironmentKind::conda) return;
  for (const facts::CondaPackage& package : environment.conda_packages)
    collector.add_left_out(
        environment.prefix + "/conda-meta/" + package.name + "-" + package.version + "-" + package.build + ".json",
        "left out");
}

}  // namespace

void capture_software(Collector& collector, std::vector<std::string>& left_out) {
  const auto software = facts::read_software(collector.root(), {});
  const PythonEnvironment* const environment = software ? software->environment() : nullptr;
  Json document{{"schema", "sparkops.captured-software/1"}};
  if (environment != nullptr) {
    document["environment"] = "at hand";
    document["interpreter"] = collector.redactor().path(environment->interpreter);
    document["found_by"] = environment->found_by;
    capture_environment(collector, *environment);
  } else if (software && !software->environments) {
    left_out.push_back("installed packages: " + collector.redactor().text(software->environments.reason()));
    return;
  } else {
    document["environment"] = "none";
  }
  collector.add_made("sparkops/software.json", document.dump(1) + "\n");
}

}  // namespace sparkops::store
