#pragma once

#include "facts/workload/training_config.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// What a server's launch asks for: its options, then its environment where an option says nothing.
[[nodiscard]] ServerConfig read_server_settings(const Launch& launch);

}  // namespace sparkops::facts
