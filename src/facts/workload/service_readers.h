#pragma once

#include <string>
#include <vector>

#include "facts/workload/config_value.h"
#include "facts/workload/launch_reader.h"
#include "facts/workload/shell_reader.h"

namespace sparkops::facts {

/// A compose file: a map of services.
[[nodiscard]] bool is_compose(const ConfigValue& document);

/// What stands under the services of a compose file and is no service, each with its line. Empty for other documents.
[[nodiscard]] std::vector<std::string> misshapen_services(const ConfigValue& document);

/// One launch for each service, with `variables` (of the .env file beside it) put in as compose does.
[[nodiscard]] std::vector<Launch> read_compose(const ConfigValue& document, const std::string& file,
                                               const ShellVariables& variables, const ConfigLookup& lookup);

/// A Kubernetes object (apiVersion and kind).
[[nodiscard]] bool is_kubernetes(const ConfigValue& document);

/// One launch for each container anywhere in the object. A job that lists its replicas by role (PyTorchJob) gives the
/// sum of them as nodes.
[[nodiscard]] std::vector<Launch> read_kubernetes(const ConfigValue& document, const std::string& file,
                                                  const ConfigLookup& lookup);

/// The largest number of replicas under sharing.timeSlicing or sharing.mps of the NVIDIA device plugin's
/// configuration, also inside the texts of a ConfigMap or of Helm values; unknown when there is none.
[[nodiscard]] Known<int> read_gpu_sharing(const ConfigValue& document);

}  // namespace sparkops::facts
