#pragma once

#include <vector>

#include "facts/workload/workload.h"

namespace sparkops::facts {

/// How this server bounds its memory, from its options and configuration (`settings`), then its environment. The last
/// setting of a name wins, as it does for the servers.
[[nodiscard]] ServerCap read_server_cap(ServerKind kind, const std::vector<Setting>& settings,
                                        const std::vector<Setting>& environment);

}  // namespace sparkops::facts
