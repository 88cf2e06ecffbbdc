#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// A container that does not run any more.
struct StoppedContainer {
  std::string name;
  Timestamp finished;
};

/// One of docker's own records (config.v2.json of a container): nothing when it runs, never ran, or the text is no such
/// record.
[[nodiscard]] std::optional<StoppedContainer> parse_docker_container(std::string_view text);

/// Docker's containers that have stopped, the latest first. Unknown where there is no docker, and without root, which
/// alone may list them without asking docker itself.
[[nodiscard]] Known<std::vector<StoppedContainer>> read_stopped_containers(const Root& root);

}  // namespace sparkops::facts
