#include "verdicts/memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

facts::MemoryInfo info() {
  facts::MemoryInfo info;
  info.total = as_read(gibibytes(121));
  info.free = as_read(gibibytes(40));
  info.available = as_read(gibibytes(100));
  info.swap_free = as_read(gibibytes(16));
  info.huge_pages_total = as_read(std::int64_t{0});
  return info;
}

TEST(Budget, KeepsTheReserveOutOfBothHeadrooms) {
  const Budget budget = memory_budget(info());
  EXPECT_EQ(*budget.headroom_now, gibibytes(34));
  EXPECT_EQ(*budget.headroom_after_flush, gibibytes(94));
  EXPECT_EQ(budget.headroom_now.provenance().origin, Origin::derived);
}

TEST(Budget, MayBeNegative) {
  facts::MemoryInfo small = info();
  small.free = as_read(gibibytes(2));
  EXPECT_EQ(*memory_budget(small).headroom_now, gibibytes(-4));
}

TEST(Budget, CountsSwapOnlyWhenAsked) {
  EXPECT_EQ(*memory_budget(info(), k_default_reserve, CountSwap::yes).headroom_after_flush, gibibytes(110));
}

TEST(Budget, HugePagesReplaceAvailableAndSwapCountsAsZero) {
  facts::MemoryInfo huge = info();
  huge.huge_pages_total = as_read(std::int64_t{20'000});
  huge.huge_pages_free = as_read(std::int64_t{10'240});
  huge.huge_page_size = as_read(mebibytes(2));
  const Budget budget = memory_budget(huge, k_default_reserve, CountSwap::yes);
  EXPECT_TRUE(budget.huge_pages_rule);
  EXPECT_TRUE(budget.huge_pages_rule_is_smaller);
  EXPECT_EQ(*budget.available, gibibytes(20));
}

TEST(Budget, UnknownStaysUnknownWithItsReason) {
  facts::MemoryInfo broken = info();
  broken.free = unknown("not in meminfo");
  const Budget budget = memory_budget(broken);
  ASSERT_FALSE(budget.headroom_now);
  EXPECT_EQ(budget.headroom_now.reason(), "not in meminfo");
  EXPECT_TRUE(budget.headroom_after_flush);
}

TEST(Budget, HugePagesOfUnknownSizeAreNoFigure) {
  facts::MemoryInfo huge = info();
  huge.huge_pages_total = as_read(std::int64_t{8});
  huge.huge_pages_free = as_read(std::int64_t{8});
  huge.huge_page_size = unknown("not in meminfo");
  EXPECT_FALSE(memory_budget(huge).available);
}

}  // namespace
}  // namespace sparkops::verdicts
