#include "facts/machine/sensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr const char* k_zones = "sys/class/thermal";
constexpr const char* k_chips = "sys/class/hwmon";
constexpr double k_milli = 1000, k_micro = 1e6;

/// Firmware states limits outside these as placeholders.
constexpr Celsius k_lowest_limit{0}, k_highest_limit{200};
/// No silicon that still answers is colder or hotter.
constexpr Celsius k_coldest{-60}, k_hottest{200};
/// No rail of a desktop machine carries more.
constexpr Watts k_most_power{2000};

Result<std::int64_t> read_integer(const Root& root, const std::string& path) {
  const auto text = root.read(path);
  if (!text) return tl::unexpected(text.error());
  const auto number = parse_integer(trim(*text));
  if (!number) return failure(ErrorKind::malformed, path + ": not a number");
  return *number;
}

std::optional<std::string> read_word(const Root& root, const std::string& path) {
  const auto text = root.read(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  constexpr std::size_t k_longest_word = 64;
  return printable(trim(*text), k_longest_word);
}

Known<Celsius> read_temperature(const Root& root, const std::string& path) {
  const auto milli = read_integer(root, path);
  if (!milli) return unknown(milli.error());
  const Celsius temperature{static_cast<double>(*milli) / k_milli};
  if (temperature < k_coldest || temperature > k_hottest) return unknown(path + ": no temperature that can be");
  return as_read(Celsius{temperature});
}

Known<Celsius> read_limit(const Root& root, const std::string& path) {
  const auto milli = read_integer(root, path);
  if (!milli) return unknown(milli.error());
  const Celsius limit{static_cast<double>(*milli) / k_milli};
  if (limit <= k_lowest_limit || limit > k_highest_limit) return unknown(path + ": a placeholder of the firmware");
  return as_read(Celsius{limit});
}

Known<Watts> read_power(const Root& root, const std::string& path) {
  const auto micro = read_integer(root, path);
  if (!micro) return unknown(micro.error());
  const Watts power{static_cast<double>(*micro) / k_micro};
  if (power < Watts{0} || power > k_most_power) return unknown(path + ": no power that can be");
  return as_read(Watts{power});
}

void keep_lower(Known<Celsius>& limit, const Known<Celsius>& other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

/// The trip points of a zone; of several of one type the lowest.
void read_trip_points(const Root& root, const std::string& zone, TemperatureSensor& sensor) {
  sensor.hot_trip = unknown(zone + ": no trip point of type hot");
  sensor.critical_trip = unknown(zone + ": no trip point of type critical");
  constexpr int k_most_trip_points = 32;
  for (int i = 0; i < k_most_trip_points; ++i) {
    const std::string point = zone + "/trip_point_" + std::to_string(i);
    const auto type = read_word(root, point + "_type");
    if (!type) return;
    if (*type != "hot" && *type != "critical") continue;
    keep_lower(*type == "hot" ? sensor.hot_trip : sensor.critical_trip, read_limit(root, point + "_temp"));
  }
}

void read_zones(const Root& root, Sensors& sensors) {
  const auto entries = root.list(k_zones);
  if (!entries) {
    sensors.could_not.push_back(entries.error().message);
    return;
  }
  for (const DirectoryEntry& entry : *entries) {
    if (!entry.name.starts_with("thermal_zone")) continue;
    const std::string zone = std::string(k_zones) + "/" + entry.name;
    TemperatureSensor sensor;
    sensor.name = printable(entry.name) + " (" + read_word(root, zone + "/type").value_or("type unknown") + ")";
    sensor.path = zone + "/temp";
    sensor.temperature = read_temperature(root, sensor.path);
    read_trip_points(root, zone, sensor);
    sensors.temperatures.push_back(std::move(sensor));
  }
}

std::string last_component(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return printable(path.substr(path.rfind('/') + 1));
}

/// "mlx5 0000:01:00.0": the chip's name repeats, the device it sits on does not.
std::string chip_name(const Root& root, const std::string& chip, const std::string& entry) {
  const std::string name = read_word(root, chip + "/name").value_or(entry);
  const auto device = root.read_link(chip + "/device");
  return device ? name + " " + last_component(*device) : name;
}

/// The channels of a chip: "temp1" for temp1_input, "power2" for power2_average.
std::set<std::string> channels_of(const std::vector<DirectoryEntry>& files, std::string_view kind) {
  std::set<std::string> channels;
  for (const DirectoryEntry& file : files) {
    const std::size_t underscore = file.name.find('_');
    if (underscore == std::string::npos || !file.name.starts_with(kind)) continue;
    const std::string_view number = std::string_view(file.name).substr(kind.size(), underscore - kind.size());
    const std::string_view what = std::string_view(file.name).substr(underscore + 1);
    if (parse_integer(number) && (what == "input" || what == "average" || what == "cap"))
      channels.insert(file.name.substr(0, underscore));
  }
  return channels;
}

void read_chip(const Root& root, const std::string& entry, Sensors& sensors) {
  const std::string chip = std::string(k_chips) + "/" + entry;
  const auto files = root.list(chip);
  if (!files) {
    sensors.could_not.push_back(files.error().message);
    return;
  }
  const std::string name = chip_name(root, chip, printable(entry));
  const bool is_spbm = read_word(root, chip + "/name") == "spbm";
  sensors.has_spbm = sensors.has_spbm || is_spbm;
  for (const std::string& channel : channels_of(*files, "temp")) {
    const std::string base = chip + "/" + channel;
    TemperatureSensor sensor;
    sensor.name = name + " " + read_word(root, base + "_label").value_or(channel);
    sensor.path = base + "_input";
    sensor.temperature = read_temperature(root, sensor.path);
    sensor.hot_trip = unknown("the chip states no limit of type hot");
    sensor.critical_trip = read_limit(root, base + "_crit");
    sensors.temperatures.push_back(std::move(sensor));
  }
  for (const std::string& channel : channels_of(*files, "power")) {
    const std::string base = chip + "/" + channel;
    const std::string label = read_word(root, base + "_label").value_or(channel);
    PowerSensor sensor;
    sensor.name = (is_spbm ? "spbm" : name) + " " + label;
    sensor.path = base + (root.exists(base + "_input") ? "_input" : "_average");
    sensor.power = read_power(root, sensor.path);
    sensor.cap = read_power(root, base + "_cap");
    sensors.powers.push_back(std::move(sensor));
  }
}

/// A name that occurs again gets the path of its sensor.
template <class Sensor>
void make_names_unique(std::vector<Sensor>& sensors) {
  std::multiset<std::string> names;
  for (const Sensor& sensor : sensors) names.insert(sensor.name);
  for (Sensor& sensor : sensors)
    if (names.count(sensor.name) > 1) sensor.name += " [" + sensor.path + "]";
}

}  // namespace

Known<Celsius> TemperatureSensor::margin() const {
  if (!temperature) return temperature.as_unknown();
  Known<Celsius> nearer = hot_trip;
  keep_lower(nearer, critical_trip);
  if (!nearer) return unknown("its hardware states no limit");
  return as_derived(*nearer - *temperature);
}

Sensors read_sensors(const Root& root) {
  Sensors sensors;
  read_zones(root, sensors);
  if (const auto chips = root.list(k_chips)) {
    for (const DirectoryEntry& chip : *chips) read_chip(root, chip.name, sensors);
  } else {
    sensors.could_not.push_back(chips.error().message);
  }
  make_names_unique(sensors.temperatures);
  make_names_unique(sensors.powers);
  const auto rank = [](const TemperatureSensor& sensor) {
    const auto margin = sensor.margin();
    return margin ? margin->value : std::numeric_limits<double>::infinity();
  };
  std::sort(sensors.temperatures.begin(), sensors.temperatures.end(),
            [&](const auto& a, const auto& b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a.path < b.path; });
  return sensors;
}

}  // namespace sparkops::facts
