#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::busy_samples;
using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;

Finding check(const facts::Machine& machine) {
  return check_g04_thermal_and_power(facts_of(machine));
}

facts::Machine with_samples(std::vector<facts::GpuSample> samples) {
  facts::Machine machine = healthy_spark();
  change(machine.gpus, [&](facts::GpuInventory& inventory) { inventory.gpus[0].samples = std::move(samples); });
  return machine;
}

facts::TemperatureSensor zone(double temperature, double critical) {
  facts::TemperatureSensor sensor;
  sensor.name = "thermal_zone0 (acpitz)";
  sensor.temperature = as_read(Celsius{temperature});
  sensor.critical_trip = as_read(Celsius{critical});
  return sensor;
}

TEST(G04, AnIdleGpuIsAReadingThatAdmitsWhatItCannotShow) {
  const Finding finding = check(healthy_spark());
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("cannot show a power-delivery fault"));
}

TEST(G04, AWedgeFailsAndWantsHands) {
  const Finding finding = check(with_samples(busy_samples(6, 611, 13)));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_EQ(finding.who, Who::hands_on);
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_THAT(finding.fixes.front().instruction, HasSubstr("pull AC"));
}

TEST(G04, ThePowerPlateauPasses) {
  auto samples = busy_samples(5, 2210, 94);
  samples.back().counters.sw_power_cap_ns = as_read(std::int64_t{8'500'000'000});
  const Finding finding = check(with_samples(samples));
  EXPECT_EQ(finding.status, Status::pass);
  EXPECT_THAT(finding.headline, HasSubstr("normal"));
}

TEST(G04, AZoneNearItsOwnTripWarnsAndAtItFails) {
  facts::Machine machine = healthy_spark();
  change(machine.sensors, [](facts::Sensors& sensors) { sensors.temperatures = {zone(101, 104.8)}; });
  EXPECT_EQ(check(machine).status, Status::warn);
  change(machine.sensors, [](facts::Sensors& sensors) { sensors.temperatures = {zone(104.8, 104.8)}; });
  EXPECT_EQ(check(machine).status, Status::fail);
  change(machine.sensors, [](facts::Sensors& sensors) { sensors.temperatures = {zone(86, 104.8)}; });
  EXPECT_EQ(check(machine).status, Status::info);
}

TEST(G04, SpbmCapsShowAWedgeEvenAtIdle) {
  facts::Machine machine = healthy_spark();
  change(machine.sensors, [](facts::Sensors& sensors) {
    sensors.has_spbm = true;
    sensors.powers = {{"spbm syspl1", "", unknown("no input"), as_read(Watts{30})}};
  });
  EXPECT_EQ(check(machine).status, Status::fail);
  change(machine.sensors, [](facts::Sensors& sensors) { sensors.powers[0].cap = as_read(Watts{231}); });
  EXPECT_EQ(check(machine).status, Status::info);
}

TEST(G04, WithoutNvmlItIsASkipNeverAPass) {
  facts::Machine machine = healthy_spark();
  machine.gpus = unknown("libnvidia-ml.so.1: not found");
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, HasSubstr("libnvidia-ml.so.1"));
}

TEST(G04, AnUnreadableGpuDoesNotHideAHotZone) {
  facts::Machine machine = healthy_spark();
  machine.gpus = unknown("NVML call did not return");
  change(machine.sensors, [](facts::Sensors& sensors) { sensors.temperatures = {zone(106, 104.8)}; });
  EXPECT_EQ(check(machine).status, Status::fail);
}

}  // namespace
}  // namespace sparkops::verdicts
