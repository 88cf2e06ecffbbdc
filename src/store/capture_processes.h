#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "store/capture_collector.h"

namespace sparkops::store {

/// Captures proc/PID. Of processes that matter to a job (`pids`): command line, environment, cgroup and state. Of every
/// other process only its name, state and the first word of its command line: what people do is none of a capture's
/// business. Of PID 1 and of this program cgroup and environment besides, which tell a container. Returns what was left
/// out, in words.
[[nodiscard]] std::vector<std::string> capture_processes(Collector& collector, const std::set<std::int64_t>& pids);

}  // namespace sparkops::store
