#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "facts/machine/network_links.h"
#include "facts/workload/workload.h"

namespace sparkops::verdicts {

/// What is wrong with the way between two boxes, each with its fix and where it was read.
struct LinkTrouble {
  std::string clause;
  Fix fix;
  Evidence evidence;
};

/// From settings (environment of a launch, recipe files): collectives over the management port, Wi-Fi or a bridge,
/// RDMA switched off, one rail of two, a pinned GID index. With the `links` of the machine that is judged (nullptr: it
/// is not this machine, or they are unknown) also names that do not exist there, and fixes name the port that is up.
[[nodiscard]] std::vector<LinkTrouble> link_trouble_of_settings(const std::vector<facts::Setting>& settings,
                                                                const std::string& management_interface,
                                                                const facts::NetworkLinks* links);

/// From the ConnectX ports of this machine: absent, down, twins with different MTU or one without an address, and the
/// power gating that leaves a hot-plugged port at about 13 Gb/s.
[[nodiscard]] std::vector<LinkTrouble> link_trouble_of_machine(const facts::NetworkLinks& links);

/// What could not be read of the ConnectX ports that are (or may be) up, each with its reason: with one of these nobody
/// can say that the link is in order.
[[nodiscard]] std::vector<std::string> link_gaps_of_machine(const facts::NetworkLinks& links);

}  // namespace sparkops::verdicts
