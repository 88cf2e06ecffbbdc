#include "verdicts/gotchas/link_trouble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sparkops::verdicts
