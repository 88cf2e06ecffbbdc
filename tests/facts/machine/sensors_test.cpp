#include "facts/machine/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::Tree;

void write_zone(const Tree& tree, int number, const char* temperature, const char* critical) {
  const std::string zone = "sys/class/thermal/thermal_zone" + std::to_string(number);
  tree.write(zone + "/type", "acpitz\n");
  tree.write(zone + "/temp", temperature);
  tree.write(zone + "/trip_point_0_type", "critical\n");
  tree.write(zone + "/trip_point_0_temp", critical);
}

std::vector<std::string> names(const Sensors& sensors) {
  std::vector<std::string> result;
  for (const TemperatureSensor& sensor : sensors.temperatures) result.push_back(sensor.name);
  return result;
}

TEST(Sensors, AreRankedByTheDistanceToTheirOwnLimit) {
  // Shape: gb10-facts §3.3 (zones all named acpitz, mlx5 chips share one name); values of our own.
  const Tree tree;
  write_zone(tree, 0, "70000\n", "104800\n");  // 34.8 left
  write_zone(tree, 1, "90000\n", "104800\n");  // 14.8 left
  tree.write("sys/devices/0000:01:00.0/hwmon/hwmon2/name", "mlx5\n");
  tree.write("sys/devices/0000:01:00.0/hwmon/hwmon2/temp1_input", "62000\n");
  tree.write("sys/devices/0000:01:00.0/hwmon/hwmon2/temp1_label", "asic\n");
  tree.write("sys/devices/0000:01:00.0/hwmon/hwmon2/temp1_crit", "105000\n");  // 43 left
  tree.link("sys/devices/0000:01:00.0/hwmon/hwmon2/device", "../../../0000:01:00.0");
  tree.link("sys/class/hwmon/hwmon2", "../../devices/0000:01:00.0/hwmon/hwmon2");
  tree.write("sys/class/hwmon/hwmon0/name", "acpitz\n");
  tree.write("sys/class/hwmon/hwmon0/temp1_input", "99000\n");  // no limit
  const Sensors sensors = read_sensors(tree.root());
  EXPECT_THAT(names(sensors), ElementsAre("thermal_zone1 (acpitz)", "thermal_zone0 (acpitz)", "mlx5 0000:01:00.0 asic",
                                          "acpitz temp1"));
  EXPECT_DOUBLE_EQ(sensors.temperatures[0].margin()->value, 104.8 - 90);
  EXPECT_EQ(sensors.temperatures[0].margin().provenance().origin, Origin::derived);
  EXPECT_FALSE(sensors.temperatures[3].margin().known());
  EXPECT_FALSE(sensors.has_spbm);
}

TEST(Sensors, TheNearerOfHotAndCriticalCounts) {
  const Tree tree;
  write_zone(tree, 0, "80000\n", "104800\n");
  tree.write("sys/class/thermal/thermal_zone0/trip_point_1_type", "hot\n");
  tree.write("sys/class/thermal/thermal_zone0/trip_point_1_temp", "95000\n");
  tree.write("sys/class/thermal/thermal_zone0/trip_point_2_type", "passive\n");
  tree.write("sys/class/thermal/thermal_zone0/trip_point_2_temp", "81000\n");
  const Sensors sensors = read_sensors(tree.root());
  ASSERT_THAT(sensors.temperatures, SizeIs(1));
  EXPECT_DOUBLE_EQ(sensors.temperatures[0].margin()->value, 15);
}

TEST(Sensors, PlaceholdersOfFirmwareAreNoLimits) {
  for (const char* const placeholder : {"0\n", "-273200\n", "4294967295\n", "210000\n", "nothing\n", ""}) {
    const Tree tree;
    write_zone(tree, 0, "50000\n", placeholder);
    const Sensors sensors = read_sensors(tree.root());
    ASSERT_THAT(sensors.temperatures, SizeIs(1));
    EXPECT_TRUE(sensors.temperatures[0].temperature.known());
    EXPECT_FALSE(sensors.temperatures[0].margin().known()) << placeholder;
  }
}

TEST(Sensors, ATemperatureThatCannotBeIsUnknown) {
  for (const char* const value : {"-273200\n", "9999999\n", "hot\n", "5e4\n", ""}) {
    const Tree tree;
    write_zone(tree, 0, value, "104800\n");
    EXPECT_FALSE(read_sensors(tree.root()).temperatures[0].temperature.known()) << value;
  }
}

TEST(Sensors, RailsOfSpbmHaveTheirLabelsAndCaps) {
  // Shape: README of the out-of-tree spbm driver (power*_input in microwatts, power*_cap of pl1); values of our own.
  const Tree tree;
  tree.write("sys/class/hwmon/hwmon7/name", "spbm\n");
  tree.write("sys/class/hwmon/hwmon7/power1_input", "25000000\n");
  tree.write("sys/class/hwmon/hwmon7/power1_label", "sys_total\n");
  tree.write("sys/class/hwmon/hwmon7/power11_input", "18000000\n");
  tree.write("sys/class/hwmon/hwmon7/power11_label", "pl1\n");
  tree.write("sys/class/hwmon/hwmon7/power11_cap", "140000000\n");
  const Sensors sensors = read_sensors(tree.root());
  EXPECT_TRUE(sensors.has_spbm);
  ASSERT_THAT(sensors.powers, SizeIs(2));
  EXPECT_EQ(sensors.powers[0].name, "spbm sys_total");
  EXPECT_EQ(*sensors.powers[0].power, Watts{25});
  EXPECT_FALSE(sensors.powers[0].cap.known());
  EXPECT_EQ(sensors.powers[1].name, "spbm pl1");
  EXPECT_EQ(*sensors.powers[1].cap, Watts{140});
}

TEST(Sensors, EqualNamesAreToldApartByTheirPaths) {
  const Tree tree;
  for (const char* const chip : {"hwmon2", "hwmon3"}) {
    tree.write(std::string("sys/class/hwmon/") + chip + "/name", "mlx5\n");
    tree.write(std::string("sys/class/hwmon/") + chip + "/temp1_input", "60000\n");
  }
  EXPECT_THAT(names(read_sensors(tree.root())), ElementsAre("mlx5 temp1 [sys/class/hwmon/hwmon2/temp1_input]",
                                                            "mlx5 temp1 [sys/class/hwmon/hwmon3/temp1_input]"));
}

TEST(Sensors, WhatCannotBeListedIsNamed) {
  const Tree tree;
  tree.link("sys/class/hwmon", "hwmon");
  const Sensors sensors = read_sensors(tree.root());
  EXPECT_THAT(sensors.temperatures, SizeIs(0));
  EXPECT_THAT(sensors.could_not, Contains(HasSubstr("sys/class/thermal: does not exist")));
  EXPECT_THAT(sensors.could_not, Contains(HasSubstr("sys/class/hwmon: symlink loop")));
}

TEST(Sensors, HostileValuesNeverBecomeATemperature) {
  const Tree tree;
  write_zone(tree, 0, "50000\n", "104800\n");
  EXPECT_TRUE(rc::check("any bytes as a temperature", [&](const std::string& bytes) {
    tree.write("sys/class/thermal/thermal_zone0/temp", bytes);
    const Sensors sensors = read_sensors(tree.root());
    RC_ASSERT(sensors.temperatures.size() == 1U);
    const auto& temperature = sensors.temperatures[0].temperature;
    const bool possible = !temperature || (temperature->value >= -60 && temperature->value <= 200);
    RC_ASSERT(possible);
  }));
  const Tree blocking;
  blocking.write("sys/class/thermal/thermal_zone0/type", "acpitz\n");
  blocking.fifo("sys/class/thermal/thermal_zone0/temp");
  EXPECT_THAT(read_sensors(blocking.root()).temperatures[0].temperature.reason(), HasSubstr("not a regular file"));
}

TEST(LiveSensors, EveryKnownTemperatureIsPlausible) {
  for (const TemperatureSensor& sensor : read_sensors(Root::live()).temperatures) {
    EXPECT_FALSE(sensor.name.empty());
    if (sensor.temperature) {
      EXPECT_LT(sensor.temperature->value, 200) << sensor.path;
    }
  }
}

TEST(PublishedOutput, ChipsThatShareOneName) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "hwmon-1.txt");
  const Tree tree;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) tree.write(line.substr(1, colon - 1), line.substr(colon + 1) + "\n");
  }
  const Sensors sensors = read_sensors(tree.root());
  ASSERT_THAT(sensors.temperatures, SizeIs(3));
  EXPECT_EQ(sensors.temperatures[0].name, "mlx5 asic [sys/class/hwmon/hwmon2/temp1_input]");
  EXPECT_DOUBLE_EQ(sensors.temperatures[0].margin()->value, 105 - 62);
  EXPECT_THAT(names(sensors), Contains("acpitz temp1"));
}

}  // namespace
}  // namespace sparkops::facts
