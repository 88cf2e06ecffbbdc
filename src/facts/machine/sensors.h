#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/root.h"

namespace sparkops::facts {

/// One temperature with the limit its own hardware states. A margin is only known where a limit is.
struct TemperatureSensor {
  std::string name;  ///< unique: "thermal_zone0 (acpitz)", "mlx5 0000:01:00.0 asic"
  std::string path;  ///< under the root, for evidence
  Known<Celsius> temperature;
  Known<Celsius> hot_trip;                      ///< trip point of type hot
  Known<Celsius> critical_trip;                 ///< trip point of type critical, or temp*_crit
  [[nodiscard]] Known<Celsius> margin() const;  ///< to the nearer of the two
};

/// A rail or limit of the out-of-tree spbm driver, or of any hwmon power channel.
struct PowerSensor {
  std::string name;  ///< "spbm sys_total"
  std::string path;
  Known<Watts> power;
  Known<Watts> cap;  ///< power*_cap where the channel has one
};

struct Sensors {
  std::vector<TemperatureSensor> temperatures;  ///< nearest to its own limit first, those without a limit last
  std::vector<PowerSensor> powers;
  bool has_spbm = false;
  std::vector<std::string> could_not;
};

/// sys/class/thermal/thermal_zone* with trip points and sys/class/hwmon by device path (names repeat: four mlx5 chips
/// share one). Trip points of 0 or below and above 200 °C are placeholders of firmware and are left out.
[[nodiscard]] Sensors read_sensors(const Root& root);

}  // namespace sparkops::facts
