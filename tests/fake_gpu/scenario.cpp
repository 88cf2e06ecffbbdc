#include "scenario.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fake_gpu {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  Words words;
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
    } else if (line[i] == '"') {
      const std::size_t end = std::min(line.find('"', i + 1), line.size());
      words.emplace_back(line.substr(i + 1, end - i - 1));
      i = end + 1;
    } else if (line[i] == '#') {
      break;
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t\r", i), line.size());
      words.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

std::optional<double> number_of(const std::string& word) {
  char* end = nullptr;
  const bool hexadecimal = word.rfind("0x", 0) == 0;
  const double value =
      hexadecimal ? static_cast<double>(std::strtoull(word.c_str(), &end, 16)) : std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

constexpr std::string_view k_number_names[] = {"gpus",
                                               "temperature",
                                               "temperature_margin",
                                               "power_mw",
                                               "power_instant_mw",
                                               "energy_mj",
                                               "sm_clock",
                                               "graphics_clock",
                                               "memory_clock",
                                               "video_clock",
                                               "max_sm_clock",
                                               "max_graphics_clock",
                                               "max_memory_clock",
                                               "applications_clock",
                                               "utilization",
                                               "memory_utilization",
                                               "performance_state",
                                               "event_reasons",
                                               "sw_power_cap_ns",
                                               "sync_boost_ns",
                                               "sw_thermal_ns",
                                               "hw_thermal_ns",
                                               "hw_power_brake_ns",
                                               "memory_total",
                                               "memory_free",
                                               "memory_used",
                                               "memory_reserved",
                                               "power_limit_mw",
                                               "fan",
                                               "memory_temperature",
                                               "shutdown_temperature",
                                               "slowdown_temperature",
                                               "persistence",
                                               "addressing_mode",
                                               "c2c",
                                               "capability_major",
                                               "capability_minor",
                                               "pci_domain",
                                               "pci_bus",
                                               "pci_device",
                                               "pci_device_id",
                                               "architecture",
                                               "brand",
                                               "cuda_version",
                                               "first_counter_field",
                                               "highest_field",
                                               "processes_visible"};
constexpr std::string_view k_text_names[] = {"name", "uuid", "vbios", "driver_version"};

class Parser {
 public:
  Parser(Scenario& scenario, std::string& error) : scenario_(scenario), error_(error) {}

  void parse(std::string_view text) {
    for (std::size_t number = 1; !text.empty() && error_.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const Words words = words_of(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!words.empty() && !parse_line(words)) error_ = "line " + std::to_string(number) + ": " + words[0];
    }
  }

 private:
  bool parse_line(const Words& words) {
    const std::string& verb = words[0];
    if (verb == "profile" && words.size() == 2) return include(profile_lines(words[1]));
    if (verb == "driver" && words.size() == 2) return include(driver_lines(words[1]));
    if (verb == "epoch" && words.size() == 2) return bool(scenario_.epoch_s = number_of(words[1]));
    if (verb == "at" && words.size() == 2) return parse_time(words[1]);
    if (verb == "fail" || verb == "hang" || verb == "ok") return parse_fault(words);
    if (verb == "process") return parse_process(words);
    if ((verb == "lose" || verb == "restore") && words.size() == 1) {
      scenario_.presence.push_back({now_, verb == "lose"});
      return true;
    }
    return parse_value(words);
  }

  bool include(std::string_view lines) {
    if (lines.empty()) return false;
    Parser inner(scenario_, error_);
    inner.now_ = now_;
    inner.parse(lines);
    return error_.empty();
  }

  bool parse_time(const std::string& word) {
    const auto seconds = number_of(word);
    if (!seconds || *seconds < now_) return false;
    now_ = *seconds;
    return true;
  }

  /// fail FUNCTION CODE [for N calls] · hang FUNCTION SECONDS [for N calls] · ok FUNCTION
  bool parse_fault(const Words& words) {
    Fault fault;
    fault.at_s = now_;
    if (words[0] == "ok") {
      if (words.size() != 2) return false;
      fault.function = words[1];
      scenario_.faults.push_back(fault);
      return true;
    }
    const bool counted = words.size() == 6 && words[3] == "for" && words[5] == "calls";
    if (words.size() != 3 && !counted) return false;
    const auto amount = number_of(words[2]);
    const auto calls = counted ? number_of(words[4]) : std::optional<double>(0);
    if (!amount || !calls || *amount < 0 || *calls < 0) return false;
    fault.function = words[1];
    fault.kind = words[0] == "fail" ? Fault::Kind::fail : Fault::Kind::hang;
    fault.code = static_cast<int>(*amount);
    fault.seconds = *amount;
    fault.calls = static_cast<std::uint64_t>(*calls);
    scenario_.faults.push_back(fault);
    return true;
  }

  /// process PID C|G|C+G BYTES|unavailable · process PID gone
  bool parse_process(const Words& words) {
    const auto pid = words.size() >= 3 ? number_of(words[1]) : std::nullopt;
    if (!pid || *pid < 0) return false;
    ProcessChange change;
    change.at_s = now_;
    change.pid = static_cast<std::uint32_t>(*pid);
    change.gone = words[2] == "gone";
    if (!change.gone) {
      if (words.size() != 4) return false;
      const auto bytes = number_of(words[3]);
      change.compute = words[2] == "C" || words[2] == "C+G";
      change.graphics = words[2] == "G" || words[2] == "C+G";
      if ((!change.compute && !change.graphics) || (!bytes && words[3] != "unavailable")) return false;
      change.bytes = bytes ? static_cast<std::uint64_t>(*bytes) : ~std::uint64_t{0};
    }
    scenario_.processes.push_back(change);
    return true;
  }

  /// NAME VALUE [per_second RATE] · NAME ~VALUE · NAME unsupported · NAME TEXT
  bool parse_value(const Words& words) {
    const std::string& name = words[0];
    if (std::find(std::begin(k_text_names), std::end(k_text_names), name) != std::end(k_text_names)) {
      if (words.size() != 2) return false;
      scenario_.texts[name].push_back({now_, words[1] == "unsupported" ? std::string() : words[1]});
      return true;
    }
    const bool known =
        std::find(std::begin(k_number_names), std::end(k_number_names), name) != std::end(k_number_names);
    const bool growing = words.size() == 4 && words[2] == "per_second";
    if (!known || (words.size() != 2 && !growing)) return false;
    Track::Point point{now_, std::nan(""), 0, false};
    if (words[1] != "unsupported") {
      point.reached_linearly = words[1][0] == '~';
      const auto value = number_of(point.reached_linearly ? words[1].substr(1) : words[1]);
      const auto rate = growing ? number_of(words[3]) : std::optional<double>(0);
      if (!value || !rate) return false;
      point.value = *value;
      point.per_second = *rate;
    }
    scenario_.numbers[name].add(point);
    return true;
  }

  Scenario& scenario_;
  std::string& error_;
  double now_ = 0;
};

}  // namespace

std::optional<double> Track::at(double seconds) const {
  const auto after = std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.at_s > seconds; });
  if (after == points_.begin()) return std::nullopt;
  const Point& before = *(after - 1);
  if (std::isnan(before.value)) return std::nullopt;
  const double elapsed = seconds - before.at_s;
  if (after != points_.end() && after->reached_linearly) {
    return before.value + (after->value - before.value) * elapsed / (after->at_s - before.at_s);
  }
  return before.value + before.per_second * elapsed;
}

std::optional<double> Scenario::number(const std::string& name, double seconds) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : found->second.at(seconds);
}

std::optional<std::string> Scenario::text(const std::string& name, double seconds) const {
  const auto found = texts.find(name);
  std::optional<std::string> result;
  if (found == texts.end()) return result;
  for (const TextPoint& point : found->second) {
    if (point.at_s <= seconds) result = point.text.empty() ? std::nullopt : std::optional(point.text);
  }
  return result;
}

Scenario parse_scenario(std::string_view text, std::string& error) {
  Scenario scenario;
  error.clear();
  Parser(scenario, error).parse(text);
  return scenario;
}

}  // namespace fake_gpu
