#include "facts/machine/nvml_calls.h"

#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

constexpr SlowdownCounterFields k_restored = {269, 270, 271};
constexpr SlowdownCounterFields k_moved = {251, 252, 253};

TEST(SlowdownCounterFields, EveryGb10DriverHasThemAt269) {
  for (const char* version : {"580.82.07", "580.95.05", "580.126.09", "580.142", "580.159.03", "580.173.02",
                              "580.178.04", "590.48.01", "595.58.03", "610.43.03"}) {
    EXPECT_EQ(slowdown_counter_fields(version), k_restored) << version;
  }
}

TEST(SlowdownCounterFields, AShortSpanOfDriversHasThemAt251) {
  for (const char* version : {"575.51.02", "575.64.03", "580.65.06", "580.76.05"}) {
    EXPECT_EQ(slowdown_counter_fields(version), k_moved) << version;
  }
}

TEST(SlowdownCounterFields, OlderAndUnreadableVersionsHaveNone) {
  for (const char* version : {"550.163.01", "570.133.20", "575", "", "abc", "580.x.1", "580.95.05.1", "-1.2", "580."}) {
    EXPECT_EQ(slowdown_counter_fields(version), std::nullopt) << version;
  }
}

}  // namespace
}  // namespace sparkops::facts
