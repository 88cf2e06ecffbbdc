#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/root.h"

namespace sparkops::facts {

/// One network interface with the RDMA device on the same PCI function.
struct NetworkLink {
  std::string name;                ///< "enp1s0f0np0"
  Known<std::string> driver;       ///< "mlx5_core"
  Known<std::string> pci_address;  ///< "0000:01:00.0"
  Known<bool> up;                  ///< operstate
  Known<std::int64_t> speed_mbps;  ///< unknown while the link is down
  Known<std::int64_t> mtu;
  Known<bool> has_address;         ///< an IPv4 address, or an IPv6 one beyond link-local
  Known<std::string> rdma_device;  ///< "rocep1s0f0"
  Known<std::string> rdma_state;   ///< "4: ACTIVE"
  Known<std::string> rdma_rate;    ///< "200 Gb/sec (2X NDR)"
};

/// The links between boxes. On GB10 each QSFP cage appears twice, as twins on two PCIe domains
/// (enp1s0f0np0 with enP2p1s0f0np0); both must be configured alike for the full rate.
struct NetworkLinks {
  std::vector<NetworkLink> links;    ///< every interface but lo, by name
  Known<bool> hotplug_power_gating;  ///< etc/nvidia/cx7-hotplug-enabled: the NIC vanishes without a cable
  /// Index pairs into `links` of ConnectX twins: same function number, PCI domains 0000 and 0002.
  std::vector<std::pair<std::size_t, std::size_t>> twins;
  std::vector<std::string> could_not;
};

[[nodiscard]] NetworkLinks read_network_links(const Root& root);

}  // namespace sparkops::facts
