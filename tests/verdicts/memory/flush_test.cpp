#include "verdicts/memory/flush.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FlushReading reading(Bytes before, Bytes after, Bytes dirty_after = {}) {
  FlushReading reading;
  reading.path = "/m/model";
  reading.before.size = gibibytes(2);
  reading.before.cached = as_measured(Bytes{before});
  reading.before.dirty = as_measured(Bytes{0});
  reading.after.cached = as_measured(Bytes{after});
  reading.after.dirty = as_measured(Bytes{dirty_after});
  return reading;
}

FlushedFile judged(const FlushReading& reading, const facts::FileMappings& mappings = {},
                   FlushMode mode = FlushMode::done) {
  return judge_flush({reading}, mappings, mode).front();
}

TEST(FlushVerdict, WhatIsGoneIsFreedAndNothingIsSaidAboutIt) {
  const FlushedFile file = judged(reading(gibibytes(2), Bytes{0}));
  EXPECT_EQ(*file.freed, gibibytes(2));
  EXPECT_TRUE(file.is_free());
  EXPECT_THAT(file.stays, IsEmpty());
}

TEST(FlushVerdict, MappedPagesAreNotCountedAsFreed) {
  facts::FileMappings mappings;
  mappings.mappings = {{0, 77, "python3", gibibytes(1), Bytes{0}},
                       {0, 78, "mlockd", gibibytes(1), gibibytes(1)},
                       {1, 79, "somebody else's file", gibibytes(1), Bytes{0}}};
  const FlushedFile file = judged(reading(gibibytes(2), gibibytes(1)), mappings);
  EXPECT_EQ(*file.freed, gibibytes(1));
  EXPECT_THAT(file.stays,
              ElementsAre("mapped by python3 (pid 77), 1.0 GiB of it resident there",
                          "mapped by mlockd (pid 78), 1.0 GiB of it resident there, locked in memory (mlock)"));
}

TEST(FlushVerdict, DirtyPagesAreNamed) {
  EXPECT_THAT(judged(reading(gibibytes(2), mebibytes(8), mebibytes(8))).stays,
              ElementsAre("8 MiB changed or being written"));
}

TEST(FlushVerdict, WhenNobodyIsSeenItSaysWhoCouldNotBeLookedAt) {
  facts::FileMappings mappings;
  EXPECT_THAT(judged(reading(gibibytes(2), gibibytes(1)), mappings).stays, ElementsAre(HasSubstr("try again")));
  mappings.not_permitted = 12;
  EXPECT_THAT(judged(reading(gibibytes(2), gibibytes(1)), mappings).stays,
              ElementsAre(HasSubstr("12 processes of other users")));
}

TEST(FlushVerdict, AFileOfAnotherUserIsUnknownAndNotZero) {
  FlushReading other = reading(Bytes{0}, Bytes{0});
  other.before.cached = other.after.cached = unknown("a file of another user: needs root");
  other.before.needs_root = true;
  const FlushedFile file = judged(other);
  EXPECT_FALSE(file.before.known());
  EXPECT_FALSE(file.freed.known());
  EXPECT_FALSE(file.is_free());
  const FlushTotals totals = totals_of({file, judged(reading(gibibytes(1), Bytes{0}))});
  EXPECT_EQ(totals.unknown_files, 1);
  EXPECT_EQ(totals.freed, gibibytes(1));
}

TEST(FlushVerdict, AFileInMemoryStays) {
  FlushReading memory = reading(gibibytes(2), gibibytes(2));
  memory.before.home = facts::PageHome::memory;
  EXPECT_THAT(judged(memory).stays, ElementsAre(HasSubstr("tmpfs")));
  EXPECT_EQ(*judged(memory).freed, Bytes{0});
}

TEST(FlushVerdict, ADryRunFreesNothingItCouldClaim) {
  const FlushedFile file = judged(reading(gibibytes(2), gibibytes(2)), {}, FlushMode::dry_run);
  EXPECT_EQ(*file.before, gibibytes(2));
  EXPECT_FALSE(file.after.known());
  EXPECT_FALSE(file.freed.known());
  EXPECT_THAT(file.stays, IsEmpty());
}

}  // namespace
}  // namespace sparkops::verdicts
