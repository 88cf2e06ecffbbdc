#include "facts/software/software.h"

namespace sparkops::facts {

const PythonEnvironment* Software::environment() const {
  return environments && !environments->empty() ? &environments->front() : nullptr;
}

Result<Software> read_software(const Root& root, const EnvironmentRequest& request) {
  Software software;
  software.variables = read_software_variables(root, "self");
  auto environment = read_environment(root, request, software.variables.value_or({}));
  if (environment)
    software.environments = as_read(std::vector<PythonEnvironment>{std::move(*environment)});
  else if (environment.error().kind == ErrorKind::usage)
    return tl::unexpected(environment.error());
  else if (environment.error().kind == ErrorKind::not_found)
    software.environments = as_read(std::vector<PythonEnvironment>{});
  else
    software.environments = unknown(environment.error());
  return software;
}

}  // namespace sparkops::facts
