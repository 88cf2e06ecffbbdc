#include "facts/software/software.h"

namespace sparkops::facts {

namespace {

/// A capture says that packages were looked for, also where there was no Python.
bool is_capture_without_software(const Root& root) {
  return !root.is_live() && root.exists("sparkops/capture.json") && !root.exists("sparkops/software.json");
}

}  // namespace

const PythonEnvironment* Software::environment() const {
  return environments && !environments->empty() ? &environments->front() : nullptr;
}

Result<void> read_environments(const Root& root, const EnvironmentRequest& request, Software& software) {
  auto environment = read_environment(root, request, software.variables.value_or({}));
  if (environment) {
    software.environments = as_read(std::vector<PythonEnvironment>{std::move(*environment)});
  } else if (environment.error().kind == ErrorKind::not_found && is_capture_without_software(root)) {
    software.environments = unknown("this capture holds no installed packages: it was made by an older sparkops");
  } else if (environment.error().kind == ErrorKind::not_found) {
    software.environments = as_read(std::vector<PythonEnvironment>{});
  } else {
    software.environments = unknown(environment.error());
    if (environment.error().kind == ErrorKind::usage) return tl::unexpected(environment.error());
  }
  return {};
}

Result<Software> read_software(const Root& root, const EnvironmentRequest& request) {
  Software software;
  software.variables = read_software_variables(root, "self");
  if (const auto read = read_environments(root, request, software); !read) return tl::unexpected(read.error());
  return software;
}

}  // namespace sparkops::facts
