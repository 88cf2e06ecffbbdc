#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "facts/software/package_list.h"
#include "facts/software/software.h"
#include "machine_builder.h"

namespace sparkops::testing {

inline facts::Distribution package(const std::string& name, const std::string& version,
                                   const std::vector<std::string>& requirements = {},
                                   const std::string& site = "/env/lib/python3.12/site-packages") {
  facts::Distribution distribution;
  distribution.name = name;
  distribution.key = facts::normalized_name(name);
  distribution.version = as_read(version);
  distribution.site = site;
  distribution.metadata = site + "/" + name + ".dist-info";
  distribution.wheel_platform = as_read(std::string("manylinux_2_28_aarch64"));
  for (const std::string& text : requirements)
    distribution.requirements.push_back(facts::parse_requirement(text).value());
  return distribution;
}

/// A virtual environment that holds these packages; torch/version.py names `cuda` where torch is among them.
inline facts::Software installed(std::vector<facts::Distribution> packages, const std::string& cuda = "13.0") {
  facts::PythonEnvironment environment;
  environment.kind = facts::EnvironmentKind::virtual_environment;
  environment.found_by = "$VIRTUAL_ENV";
  environment.prefix = "/env";
  environment.interpreter = "/env/bin/python3";
  environment.python_version = as_read(std::string("3.12.3"));
  environment.externally_managed = as_read(false);
  environment.sites = {{"/env/lib/python3.12/site-packages", facts::SiteDirectory::Kind::environment}};
  environment.distributions = std::move(packages);
  environment.distributions.push_back(package("pip", "24.0"));
  if (const facts::Distribution* const torch = environment.find("torch"))
    environment.torch.push_back({torch->site + "/torch", torch->version, as_read(cuda)});
  facts::Software software;
  software.environments = as_read(std::vector<facts::PythonEnvironment>{std::move(environment)});
  software.variables = as_read(facts::SoftwareVariables{{}, "a test"});
  return software;
}

/// A list as --packages takes it.
inline facts::Software declared(const std::string& text) {
  const auto list = facts::parse_package_list(text, "freeze.txt").value();
  facts::PythonEnvironment environment;
  environment.kind = facts::EnvironmentKind::declared;
  environment.found_by = "--packages";
  environment.prefix = "freeze.txt";
  environment.python_version = list.python_version;
  environment.distributions = list.distributions;
  environment.could_not = list.not_understood;
  facts::Software software;
  software.declared = true;
  software.format = list.format;
  software.machine = list.machine;
  software.variables = unknown("a list of packages names no variables");
  software.environments = as_read(std::vector<facts::PythonEnvironment>{std::move(environment)});
  return software;
}

inline void change_environment(facts::Software& software,
                               const std::function<void(facts::PythonEnvironment&)>& change) {
  auto environments = *software.environments;
  change(environments.front());
  software.environments = as_read(std::move(environments));
}

}  // namespace sparkops::testing
