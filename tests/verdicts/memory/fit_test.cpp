#include "verdicts/memory/fit.h"

#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

Budget budget(std::int64_t free_gib, std::int64_t available_gib) {
  facts::MemoryInfo info;
  info.total = as_read(gibibytes(121));
  info.free = as_read(gibibytes(free_gib));
  info.available = as_read(gibibytes(available_gib));
  info.huge_pages_total = as_read(std::int64_t{0});
  return memory_budget(info);
}

Estimate gib(double low, double value, double high) {
  constexpr double k_one = 1024.0 * 1024 * 1024;
  return {low * k_one, value * k_one, high * k_one};
}

TEST(Fit, TheFirstRuleThatMatchesWins) {
  // Headroom: 44 GiB now, 104 GiB after a flush.
  const Budget machine = budget(50, 110);
  EXPECT_EQ(judge_fit(gib(105, 106, 107), machine).answer, FitAnswer::does_not_fit);
  EXPECT_EQ(judge_fit(gib(90, 103, 105), machine).answer, FitAnswer::tight);
  EXPECT_EQ(judge_fit(gib(40, 45, 60), machine).answer, FitAnswer::fits_after_flush);
  EXPECT_EQ(judge_fit(gib(30, 44, 60), machine).answer, FitAnswer::fits);
}

TEST(Fit, NothingIsSaidOfAnUnknownBudgetOrEstimate) {
  Budget machine = budget(50, 110);
  machine.headroom_after_flush = unknown("proc/meminfo cannot be read");
  const FitVerdict verdict = judge_fit(gib(1, 2, 3), machine);
  EXPECT_EQ(verdict.answer, FitAnswer::unknown);
  EXPECT_NE(verdict.reason.find("cannot be read"), std::string::npos);
  EXPECT_EQ(judge_fit({3, 2, 1}, budget(50, 110)).answer, FitAnswer::unknown);
  EXPECT_EQ(judge_fit(exactly(1e300 * 1e300), budget(50, 110)).answer, FitAnswer::unknown);
}

TEST(Fit, TheMarginIsHeadroomMinusTheEstimate) {
  const FitVerdict verdict = judge_fit(gib(30, 40, 60), budget(50, 110));
  EXPECT_EQ(*verdict.margin_now, gibibytes(4));
  EXPECT_EQ(*verdict.margin_after_flush, gibibytes(64));
}

TEST(Fit, AnIdleGb10LeavesTheReserveToTheSystem) {
  const Budget idle = budget_of_platform(gibibytes(121), "2026-11-30", gibibytes(6));
  EXPECT_LT(*idle.headroom_now, gibibytes(112));
  EXPECT_GT(*idle.headroom_now, gibibytes(104));
  EXPECT_EQ(idle.headroom_now.provenance().origin, Origin::knowledge);
}

TEST(Fit, WholeBytesNeverOverflow) {
  EXPECT_GT(whole_bytes(1e300).value, 0);
  EXPECT_LT(whole_bytes(-1e300).value, 0);
}

}  // namespace
}  // namespace sparkops::verdicts
