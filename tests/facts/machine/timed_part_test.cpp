#include "facts/machine/timed_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(TimedPart, GivesTheResultOfAReaderThatComesBack) {
  const TimedPart<int> part("a reader", []() -> Known<int> { return as_read(7); });
  const auto result = part.wait_until(Clock::now() + std::chrono::seconds(10));
  ASSERT_TRUE(result.known()) << result.reason();
  EXPECT_EQ(*result, 7);
}

TEST(TimedPart, AReaderThatHangsIsLeftBehind) {
  // What the reader uses is shared with it, as it must be: the thread outlives the part.
  auto release = std::make_shared<std::promise<void>>();
  auto finished = std::make_shared<std::promise<void>>();
  auto end_of_reader = finished->get_future();
  {
    const TimedPart<int> part("NVML", [released = release->get_future().share(), finished]() -> Known<int> {
      released.wait();
      finished->set_value();
      return as_read(7);
    });
    const auto result = part.wait_until(Clock::now() + milliseconds(30));
    EXPECT_THAT(result.reason(), HasSubstr("NVML did not answer within 0.0 s"));
  }
  release->set_value();
  EXPECT_EQ(end_of_reader.wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(TimedPart, AnExceptionBecomesAReason) {
  const TimedPart<int> part("a reader", []() -> Known<int> { throw std::runtime_error("out of order"); });
  EXPECT_THAT(part.wait_until(Clock::now() + std::chrono::seconds(10)).reason(), HasSubstr("out of order"));
}

}  // namespace
}  // namespace sparkops::facts
