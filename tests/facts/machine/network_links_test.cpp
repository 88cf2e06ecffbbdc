#include "facts/machine/network_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::Tree;

/// Shape: gb10-facts §6 (names, PCI functions, RDMA devices, sysfs lines); values of our own.
void write_connectx(const Tree& tree, const std::string& name, const std::string& address, const std::string& rdma,
                    const std::string& state, const std::string& mtu) {
  const std::string device = "sys/devices/" + address;
  tree.directory("sys/bus/pci/drivers/mlx5_core");
  tree.link(device + "/driver", "../../bus/pci/drivers/mlx5_core");
  tree.write(device + "/net/" + name + "/operstate", state + "\n");
  tree.write(device + "/net/" + name + "/mtu", mtu + "\n");
  tree.write(device + "/net/" + name + "/speed", state == "up" ? "200000\n" : "-1\n");
  tree.link(device + "/net/" + name + "/device", "../../../" + address);
  tree.link("sys/class/net/" + name, "../../devices/" + address + "/net/" + name);
  tree.link(device + "/infiniband/" + rdma + "/device", "../../../" + address);
  tree.write(device + "/infiniband/" + rdma + "/ports/1/state", state == "up" ? "4: ACTIVE\n" : "1: DOWN\n");
  tree.write(device + "/infiniband/" + rdma + "/ports/1/rate", "200 Gb/sec (2X NDR)\n");
  tree.link("sys/class/infiniband/" + rdma, "../../devices/" + address + "/infiniband/" + rdma);
}

void write_spark(const Tree& tree) {
  write_connectx(tree, "enp1s0f0np0", "0000:01:00.0", "rocep1s0f0", "down", "1500");
  write_connectx(tree, "enp1s0f1np1", "0000:01:00.1", "rocep1s0f1", "up", "9000");
  write_connectx(tree, "enP2p1s0f0np0", "0002:01:00.0", "roceP2p1s0f0", "down", "1500");
  write_connectx(tree, "enP2p1s0f1np1", "0002:01:00.1", "roceP2p1s0f1", "up", "1500");
  tree.write("sys/class/net/lo/mtu", "65536\n");
  tree.write("sys/class/net/docker0/operstate", "up\n");
  tree.write("sys/class/net/docker0/mtu", "1500\n");
  tree.write("etc/nvidia/cx7-hotplug-enabled", "1\n");
  tree.write("proc/net/route",
             "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
             "enp1s0f1np1\t00000A0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
             "enP7s7\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n");
  tree.write("proc/net/if_inet6",
             "fe800000000000000000000000000001 05 40 20 80 enP2p1s0f1np1\n"
             "00000000000000000000000000000000 06 40 00 80  docker0\n");
}

const NetworkLink& link_named(const NetworkLinks& links, const std::string& name) {
  const auto found =
      std::find_if(links.links.begin(), links.links.end(), [&](const NetworkLink& link) { return link.name == name; });
  if (found == links.links.end()) throw std::runtime_error("no link " + name);
  return *found;
}

TEST(NetworkLinks, OfASparkAreFourFunctionsInTwoPairs) {
  const Tree tree;
  write_spark(tree);
  const NetworkLinks links = read_network_links(tree.root());
  ASSERT_THAT(links.links, SizeIs(5)) << "four ConnectX functions and docker0, without lo";
  std::vector<std::pair<std::string, std::string>> twins;
  for (const auto& [first, second] : links.twins) twins.emplace_back(links.links[first].name, links.links[second].name);
  EXPECT_THAT(twins, ElementsAre(Pair("enp1s0f0np0", "enP2p1s0f0np0"), Pair("enp1s0f1np1", "enP2p1s0f1np1")));
  EXPECT_TRUE(*links.hotplug_power_gating);
  EXPECT_THAT(links.could_not, IsEmpty());
}

TEST(NetworkLinks, TellDriverSpeedAndRdmaDevice) {
  const Tree tree;
  write_spark(tree);
  const NetworkLinks links = read_network_links(tree.root());
  const NetworkLink& up = link_named(links, "enp1s0f1np1");
  EXPECT_EQ(*up.driver, "mlx5_core");
  EXPECT_EQ(*up.pci_address, "0000:01:00.1");
  EXPECT_TRUE(*up.up);
  EXPECT_EQ(*up.speed_mbps, 200000);
  EXPECT_EQ(*up.mtu, 9000);
  EXPECT_EQ(*up.rdma_device, "rocep1s0f1");
  EXPECT_EQ(*up.rdma_state, "4: ACTIVE");
  EXPECT_EQ(*up.rdma_rate, "200 Gb/sec (2X NDR)");
  const NetworkLink& down = link_named(links, "enp1s0f0np0");
  EXPECT_FALSE(*down.up);
  EXPECT_EQ(down.speed_mbps.reason(), "the link is down");
  const NetworkLink& bridge = link_named(links, "docker0");
  EXPECT_FALSE(bridge.driver.known());
  EXPECT_FALSE(bridge.pci_address.known());
  EXPECT_FALSE(bridge.rdma_device.known());
}

TEST(NetworkLinks, TellAddressesByRoutesAndScope) {
  const Tree tree;
  write_spark(tree);
  const NetworkLinks links = read_network_links(tree.root());
  EXPECT_TRUE(*link_named(links, "enp1s0f1np1").has_address);
  EXPECT_TRUE(*link_named(links, "docker0").has_address);
  EXPECT_FALSE(*link_named(links, "enP2p1s0f1np1").has_address) << "link-local alone is none";
  EXPECT_FALSE(link_named(links, "enp1s0f0np0").has_address.known()) << "down: its routes are gone";
}

TEST(NetworkLinks, WithoutTheTablesAddressesAreUnknown) {
  const Tree tree;
  write_connectx(tree, "enp1s0f1np1", "0000:01:00.1", "rocep1s0f1", "up", "9000");
  const NetworkLinks links = read_network_links(tree.root());
  EXPECT_THAT(link_named(links, "enp1s0f1np1").has_address.reason(), HasSubstr("proc/net/route"));
  EXPECT_THAT(links.twins, IsEmpty());
  EXPECT_FALSE(*links.hotplug_power_gating) << "the flag file is absent";
}

TEST(NetworkLinks, TheHotplugFlagMayBeSwitchedOffInTheFile) {
  const Tree tree;
  tree.write("etc/nvidia/cx7-hotplug-enabled", "0\n");
  EXPECT_FALSE(*read_network_links(tree.root()).hotplug_power_gating);
  const Tree unreadable;
  unreadable.link("etc/nvidia/cx7-hotplug-enabled", "cx7-hotplug-enabled");
  EXPECT_FALSE(read_network_links(unreadable.root()).hotplug_power_gating.known());
}

TEST(NetworkLinks, HostileTreesGiveReasons) {
  const Tree empty;
  EXPECT_THAT(read_network_links(empty.root()).could_not, Contains(HasSubstr("sys/class/net")));

  const Tree tree;
  tree.write("sys/class/net/eth0/mtu", "-5\n");
  tree.write("sys/class/net/eth0/operstate", "\x1b[2J\n");
  tree.fifo("sys/class/net/eth0/speed");
  tree.link("sys/class/net/eth0/device", "../../../../../../../0000:zz:00.0");
  tree.link("sys/class/net/loop", "loop");
  tree.link("sys/class/infiniband/x", "../../../../..");
  tree.write("proc/net/route", std::string("\0\xff\n\n a b\n", 9));
  const NetworkLinks links = read_network_links(tree.root());
  const NetworkLink& link = link_named(links, "eth0");
  EXPECT_FALSE(link.mtu.known());
  EXPECT_FALSE(link.up.known());
  EXPECT_THAT(link.up.reason(), HasSubstr("\\x1b"));
  EXPECT_FALSE(link.speed_mbps.known());
  EXPECT_FALSE(link.pci_address.known());
}

TEST(NetworkLinks, AnyBytesAsTablesNeverCrash) {
  const Tree tree;
  tree.write("sys/class/net/eth0/operstate", "up\n");
  EXPECT_TRUE(rc::check("any bytes", [&](const std::string& route, const std::string& ipv6) {
    tree.write("proc/net/route", route);
    tree.write("proc/net/if_inet6", ipv6);
    RC_ASSERT(read_network_links(tree.root()).links.size() == 1U);
  }));
}

TEST(LiveNetworkLinks, HaveNamesAndNoLoopback) {
  const NetworkLinks links = read_network_links(Root::live());
  for (const NetworkLink& link : links.links) {
    EXPECT_NE(link.name, "lo");
    if (link.mtu) {
      EXPECT_GT(*link.mtu, 0) << link.name;
    }
    EXPECT_TRUE(link.has_address.known() || link.has_address.reason().starts_with("getifaddrs"));
  }
}

TEST(NetworkLinks, AbsurdMtusAreUnknown) {
  for (const char* const mtu : {"-5", "0", "65536", "99999999999999999999", "9000x"}) {
    const Tree tree;
    write_connectx(tree, "enp1s0f0np0", "0000:01:00.0", "rocep1s0f0", "up", mtu);
    EXPECT_FALSE(link_named(read_network_links(tree.root()), "enp1s0f0np0").mtu) << mtu;
  }
}

}  // namespace
}  // namespace sparkops::facts
