#include "verdicts/gotchas/link_trouble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"

namespace sparkops::verdicts {
namespace {

using ::testing::HasSubstr;

facts::NetworkLink port(const std::string& name, const std::string& address, std::int64_t mtu) {
  facts::NetworkLink link;
  link.name = name;
  link.driver = as_read(std::string("mlx5_core"));
  link.pci_address = as_read(std::string(address));
  link.up = as_read(true);
  link.mtu = as_read(std::int64_t{mtu});
  link.has_address = as_read(true);
  return link;
}

facts::NetworkLinks twins(std::int64_t first_mtu, std::int64_t second_mtu) {
  facts::NetworkLinks links;
  links.links = {port("enp1s0f1np1", "0000:01:00.1", first_mtu), port("enP2p1s0f1np1", "0002:01:00.1", second_mtu)};
  links.twins = {{0, 1}};
  links.hotplug_power_gating = as_read(true);  // as boxes are shipped
  return links;
}

TEST(LinkTrouble, EqualTwinsThatAreUpAreNone) {
  EXPECT_TRUE(link_trouble_of_machine(twins(9000, 9000)).empty());
}

TEST(LinkTrouble, UnequalTwinsNameTheSmallOne) {
  const auto troubles = link_trouble_of_machine(twins(9000, 1500));
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_THAT(troubles.front().clause, HasSubstr("enP2p1s0f1np1 has MTU 1500"));
}

TEST(LinkTrouble, GatingMattersOnlyWhileNoPortIsUp) {
  facts::NetworkLinks links = twins(9000, 9000);
  for (facts::NetworkLink& link : links.links) link.up = as_read(false);
  const auto troubles = link_trouble_of_machine(links);
  ASSERT_EQ(troubles.size(), 2U);
  EXPECT_THAT(troubles[0].clause, HasSubstr("no ConnectX port is up"));
  EXPECT_THAT(troubles[1].clause, HasSubstr("hot-plug power gating"));
}

TEST(LinkTrouble, AnUnknownMtuIsNoTroubleAndNoProof) {
  facts::NetworkLinks links = twins(9000, 9000);
  links.links[1].mtu = unknown("permission denied");
  EXPECT_TRUE(link_trouble_of_machine(links).empty());
}

/// Four ports as a Spark has them, of which the second cage is up.
facts::NetworkLinks second_cage_up() {
  facts::NetworkLinks links = twins(9000, 9000);
  links.links[0].rdma_device = as_read(std::string("rocep1s0f1"));
  links.links[1].rdma_device = as_read(std::string("roceP2p1s0f1"));
  links.links.push_back(port("enp1s0f0np0", "0000:01:00.0", 1500));
  links.links.push_back(port("enP2p1s0f0np0", "0002:01:00.0", 1500));
  links.links[2].rdma_device = as_read(std::string("rocep1s0f0"));
  links.links[3].rdma_device = as_read(std::string("roceP2p1s0f0"));
  links.links[2].up = links.links[3].up = as_read(false);
  return links;
}

std::vector<LinkTrouble> of_setting(const std::string& key, const std::string& value,
                                    const facts::NetworkLinks* links) {
  return link_trouble_of_settings({{key, value, "command line"}}, "enP7s7", links);
}

TEST(LinkTroubleOfSettings, TheFixNamesTheDevicesOfThePortThatIsUp) {
  const facts::NetworkLinks links = second_cage_up();
  const auto rail = of_setting("NCCL_IB_HCA", "rocep1s0f1", &links);
  ASSERT_EQ(rail.size(), 1U);
  EXPECT_THAT(rail.front().clause, HasSubstr("one of the two rails"));
  EXPECT_THAT(rail.front().fix.instruction, HasSubstr("NCCL_IB_HCA=rocep1s0f1,roceP2p1s0f1 "));
  const auto management = of_setting("NCCL_SOCKET_IFNAME", "enP7s7", nullptr);
  ASSERT_EQ(management.size(), 1U);
  EXPECT_THAT(management.front().clause, HasSubstr("management port"));
  EXPECT_THAT(management.front().fix.instruction, HasSubstr("NCCL_SOCKET_IFNAME=PORT"));
  const auto unseen = of_setting("NCCL_IB_HCA", "rocep1s0f1", nullptr);
  ASSERT_EQ(unseen.size(), 1U);
  EXPECT_THAT(unseen.front().fix.instruction, HasSubstr("cannot be seen from here"));
}

TEST(LinkTroubleOfSettings, NamesThatDoNotExistOnThisMachineAreTrouble) {
  const facts::NetworkLinks links = second_cage_up();
  const auto interface = of_setting("NCCL_SOCKET_IFNAME", "eth0", &links);
  ASSERT_EQ(interface.size(), 1U);
  EXPECT_THAT(interface.front().clause, HasSubstr("eth0, which does not exist on this box"));
  EXPECT_THAT(interface.front().fix.instruction, HasSubstr("NCCL_SOCKET_IFNAME=enp1s0f1np1"));
  const auto device = of_setting("NCCL_IB_HCA", "mlx5_0,mlx5_1", &links);
  ASSERT_EQ(device.size(), 1U);
  EXPECT_THAT(device.front().clause, HasSubstr("mlx5_0, which does not exist"));
  EXPECT_TRUE(of_setting("NCCL_SOCKET_IFNAME", "enp1s0f1", &links).empty()) << "NCCL takes the beginning of a name";
  EXPECT_TRUE(of_setting("NCCL_SOCKET_IFNAME", "^docker0,lo", &links).empty());
  EXPECT_TRUE(of_setting("OMPI_MCA_btl_tcp_if_include", "10.0.0.0/24", &links).empty());
  EXPECT_TRUE(of_setting("NCCL_IB_HCA", "mlx5_0,mlx5_1", nullptr).empty()) << "not judged: it may exist elsewhere";
}

TEST(LinkTroubleOfSettings, APortThatIsDownIsTroubleWhileAnotherIsUp) {
  const facts::NetworkLinks links = second_cage_up();
  const auto troubles = of_setting("NCCL_IB_HCA", "rocep1s0f0,roceP2p1s0f0", &links);
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_THAT(troubles.front().clause, HasSubstr("a port that is down"));
  EXPECT_THAT(troubles.front().fix.instruction, HasSubstr("rocep1s0f1,roceP2p1s0f1"));
}

facts::NetworkLinks read_in_full() {
  facts::NetworkLinks links = twins(9000, 9000);
  for (facts::NetworkLink& link : links.links) {
    link.speed_mbps = as_read(std::int64_t{200'000});
    link.rdma_state = as_read(std::string("4: ACTIVE"));
    link.rdma_rate = as_read(std::string("200 Gb/sec (2X NDR)"));
  }
  return links;
}

Finding serving_over_two(const facts::NetworkLinks& links) {
  facts::Machine machine = testing::healthy_spark();
  machine.network_links = as_read(facts::NetworkLinks(links));
  const facts::Workload workload = facts::read_command({"vllm", "serve", "m", "--tensor-parallel-size", "2"});
  PreflightFacts facts = testing::facts_of(machine);
  facts.workload = &workload;
  return check_g10_parallelism(facts);
}

TEST(LinkGaps, ALinkIsInOrderOnlyWhenAllOfItWasRead) {
  EXPECT_TRUE(link_gaps_of_machine(read_in_full()).empty());
  EXPECT_EQ(serving_over_two(read_in_full()).status, Status::pass);
  facts::NetworkLinks links = read_in_full();
  links.links[1].mtu = unknown("sys/class/net/x/mtu: no number");
  EXPECT_EQ(serving_over_two(links).status, Status::skip);
  EXPECT_THAT(serving_over_two(links).headline,
              HasSubstr("link not judged: enP2p1s0f1np1: MTU unknown (sys/class/net/x/mtu: no number)"));
  links = read_in_full();
  links.links[0].rdma_state = unknown("sys/class/infiniband/x: permission denied");
  EXPECT_THAT(serving_over_two(links).headline, HasSubstr("RDMA state unknown"));
  links = read_in_full();
  links.links[0].speed_mbps = unknown("no number");
  EXPECT_EQ(serving_over_two(links).status, Status::skip);
}

TEST(LinkGaps, InterfacesThatCouldNotBeListedAreNotAbsent) {
  facts::NetworkLinks links;
  links.could_not = {"sys/class/net: permission denied"};
  EXPECT_TRUE(link_trouble_of_machine(links).empty());
  EXPECT_EQ(serving_over_two(links).status, Status::skip);
  EXPECT_THAT(serving_over_two(links).headline, HasSubstr("link not judged: sys/class/net: permission denied"));
}

}  // namespace
}  // namespace sparkops::verdicts
