#include "base/known.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/finding.h"

namespace sparkops {
namespace {

TEST(Known, AnUnknownKeepsItsReasonThroughADerivation) {
  const Known<int> value = unknown("proc/meminfo: permission denied");
  EXPECT_FALSE(value.known());
  const Known<double> derived = value.derive([](int number) { return number * 2.0; });
  EXPECT_FALSE(derived.known());
  EXPECT_EQ(derived.reason(), "proc/meminfo: permission denied");
  EXPECT_EQ(Known<int>().reason(), "not read");
}

TEST(Known, AValueKnowsWhereItComesFrom) {
  EXPECT_EQ(to_string(as_read(3).provenance()), "read");
  EXPECT_EQ(to_string(as_measured(3).provenance()), "measured");
  EXPECT_EQ(to_string(as_default(3).provenance()), "default");
  EXPECT_EQ(to_string(as_knowledge(3, "2026-11-30").provenance()), "knowledge:2026-11-30");
  const auto doubled = as_read(3).derive([](int number) { return number * 2; });
  EXPECT_EQ(*doubled, 6);
  EXPECT_EQ(to_string(doubled.provenance()), "derived");
  EXPECT_EQ(doubled.reason(), "");
}

TEST(Known, AFailedResultIsUnknownWithItsMessage) {
  const Known<int> value = as_read(Result<int>(failure(ErrorKind::not_found, "a/b: does not exist")));
  EXPECT_EQ(value.reason(), "a/b: does not exist");
  EXPECT_EQ(value.value_or(7), 7);
  EXPECT_EQ(as_read(Result<int>(5)).value_or(7), 5);
}

TEST(Result, SystemErrorsAreSortedByWhatACallerCanDo) {
  EXPECT_EQ(system_error("x", ENOENT).kind, ErrorKind::not_found);
  EXPECT_EQ(system_error("x", ESRCH).kind, ErrorKind::not_found) << "a process that ended meanwhile";
  EXPECT_EQ(system_error("x", EACCES).kind, ErrorKind::permission_denied);
  EXPECT_EQ(system_error("x", EPERM).kind, ErrorKind::permission_denied);
  EXPECT_EQ(system_error("x", ELOOP).kind, ErrorKind::outside_root);
  EXPECT_EQ(system_error("x", EIO).kind, ErrorKind::input_output);
  EXPECT_EQ(system_error("a/b", ENOENT).message, "a/b: does not exist");
}

TEST(Finding, WordsOfTheContract) {
  EXPECT_EQ(to_string(Status::info), "info");
  EXPECT_EQ(to_upper_string(Status::skip), "SKIP");
  EXPECT_EQ(to_string(Where::tenant), "tenant");
  EXPECT_EQ(to_string(Who::hands_on), "hands-on");
}

}  // namespace
}  // namespace sparkops
