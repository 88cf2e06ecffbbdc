#include <gtest/gtest.h>

#include "runtime/schedule.h"

namespace sparkops::runtime {
namespace {

using std::chrono::milliseconds;

TEST(ScheduleTest, LatenessOfOneDoesNotMoveTheNext) {
  const Schedule::Clock::time_point start{std::chrono::hours(5)};
  const Schedule schedule(start, milliseconds(100));
  EXPECT_EQ(schedule.next_after(start - milliseconds(1)), start);
  EXPECT_EQ(schedule.next_after(start), start + milliseconds(100));
  EXPECT_EQ(schedule.next_after(start + milliseconds(130)), start + milliseconds(200)) << "30 ms late";
  EXPECT_EQ(schedule.next_after(start + milliseconds(999)), start + milliseconds(1000)) << "what was missed is skipped";
}

}  // namespace
}  // namespace sparkops::runtime
