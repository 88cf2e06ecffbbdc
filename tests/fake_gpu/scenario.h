#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fake_gpu {

/// A value over time: steps, straight lines between two moments, or growth at a steady rate.
class Track {
 public:
  struct Point {
    double at_s = 0;
    double value = 0;
    double per_second = 0;          ///< growth after this point
    bool reached_linearly = false;  ///< the way here from the point before is a straight line
  };
  void add(const Point& point) { points_.push_back(point); }
  /// Nothing before the first point, and where the value was taken away.
  [[nodiscard]] std::optional<double> at(double seconds) const;

 private:
  std::vector<Point> points_;  ///< in order of time
};

/// A text (or its absence) from one moment on.
struct TextPoint {
  double at_s = 0;
  std::string text;
};

/// Something wrong with a function from one moment on.
struct Fault {
  enum class Kind { none, fail, hang };
  double at_s = 0;
  std::string function;  ///< exact, or a prefix that ends in '*'
  Kind kind = Kind::none;
  int code = 0;
  double seconds = 0;
  std::uint64_t calls = 0;  ///< 0: until a later line for the same function
};

struct ProcessChange {
  double at_s = 0;
  std::uint32_t pid = 0;
  bool gone = false;
  bool compute = false;
  bool graphics = false;
  std::uint64_t bytes = 0;  ///< all ones: not available
};

/// The GPU is lost from one moment on, or there again.
struct Presence {
  double at_s = 0;
  bool lost = false;
};

/// A scenario file, as README.md describes it.
struct Scenario {
  std::optional<double> epoch_s;  ///< time zero, seconds since 1970; else the moment of loading
  std::map<std::string, Track> numbers;
  std::map<std::string, std::vector<TextPoint>> texts;
  std::vector<Fault> faults;
  std::vector<ProcessChange> processes;
  std::vector<Presence> presence;

  [[nodiscard]] std::optional<double> number(const std::string& name, double seconds) const;
  [[nodiscard]] std::optional<std::string> text(const std::string& name, double seconds) const;
};

/// Reads a scenario. A line that is no part of the format makes `error` non-empty: "line N: …".
[[nodiscard]] Scenario parse_scenario(std::string_view text, std::string& error);

/// The lines that `profile NAME` and `driver VERSION` stand for; empty for an unknown name.
[[nodiscard]] std::string_view profile_lines(std::string_view name);
[[nodiscard]] std::string driver_lines(std::string_view version);

}  // namespace fake_gpu
