#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;
using ::testing::Not;

Finding check(const facts::Machine& machine) {
  return check_g03_unified_memory(facts_of(machine));
}

TEST(G03, AHealthyBoxIsAReading) {
  const Finding finding = check(healthy_spark());
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("headroom 105 GiB now, 110 GiB after a flush"));
}

TEST(G03, AFullPageCacheNamesTheFilesThatHoldIt) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.free = as_read(gibibytes(9));
    memory.info.cached = as_read(gibibytes(106));
    memory.cached_files =
        as_read(std::vector<facts::CachedFile>{{"/models/a.safetensors", gibibytes(60), gibibytes(58), "capture"},
                                               {"/models/b.safetensors", gibibytes(40), gibibytes(40), "capture"}});
  });
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("held by a.safetensors 58.0 GiB, b.safetensors 40.0 GiB"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_THAT(finding.fixes.front().run, HasSubstr("/models/a.safetensors"));
  EXPECT_FALSE(finding.fixes.front().needs_root);
  EXPECT_TRUE(finding.fixes.back().needs_root);
}

TEST(G03, AFullCacheWithUnknownFilesSaysSo) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.free = as_read(gibibytes(9));
    memory.cached_files = unknown("needs root");
  });
  EXPECT_THAT(check(machine).headline, HasSubstr("files not named: needs root"));
}

TEST(G03, LittleLeftWithNothingToGainIsNoCacheWarning) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.free = as_read(gibibytes(9));
    memory.info.available = as_read(gibibytes(12));
    memory.info.anonymous = as_read(gibibytes(105));
    memory.info.cached = as_read(gibibytes(4));
  });
  EXPECT_EQ(check(machine).status, Status::info);
}

TEST(G03, NoLargeBlocksWithPlentyAvailableIsFragmentation) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    facts::FreeBlocks blocks;
    blocks.zones.push_back({0, "Normal", {90'000, 80'000, 70'000, 60'000, 50'000, 4'000, 300, 40, 5, 0, 0, 0, 27, 0}});
    memory.free_blocks = as_read(blocks);
  });
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("no free block of 32 MiB"));
}

TEST(G03, AKernelWithSmallerLargestBlocksIsJudgedByThose) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    facts::FreeBlocks blocks;
    blocks.zones.push_back({0, "Normal", {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 700}});  // order 10: 4 MiB
    memory.free_blocks = as_read(blocks);
  });
  EXPECT_EQ(check(machine).status, Status::info);
}

TEST(G03, SwapTrafficWarnsAndASwapLevelDoesNot) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    facts::VmCounters before;
    before.taken = {1000};
    before.pages_swapped_in = as_read(std::int64_t{5'000'000});
    before.pages_swapped_out = as_read(std::int64_t{9'000'000});
    facts::VmCounters now = before;
    now.taken = {2000};
    memory.earlier_counters = as_read(before);
    memory.counters = as_read(now);
  });
  EXPECT_EQ(check(machine).status, Status::info);
  change(machine.memory, [](facts::Memory& memory) {
    facts::VmCounters now = *memory.counters;
    now.pages_swapped_out = as_read(std::int64_t{9'004'000});
    memory.counters = as_read(now);
  });
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("4000/s out"));
}

TEST(G03, MemoryThatBelongsToNobodyIsResidue) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.free = as_read(gibibytes(70));
    memory.info.available = as_read(gibibytes(75));
  });
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("belong to no process"));
}

TEST(G03, GpuMemoryOfAProcessIsNoResidue) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.free = as_read(gibibytes(70));
    memory.info.available = as_read(gibibytes(75));
  });
  change(machine.gpus, [](facts::GpuInventory& inventory) {
    inventory.gpus[0].samples[0].processes =
        as_read(std::vector<facts::GpuProcess>{{4711, facts::GpuProcess::Kind::compute, as_read(gibibytes(41))}});
  });
  EXPECT_EQ(check(machine).status, Status::info);
}

TEST(G03, HugePagesThatMakeTheBudgetSmallerWarn) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.huge_pages_total = as_read(std::int64_t{20'480});  // 40 GiB, which are no longer free
    memory.info.huge_pages_free = as_read(std::int64_t{20'000});
    memory.info.free = as_read(gibibytes(71));
  });
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("huge pages"));
  EXPECT_THAT(finding.headline, Not(HasSubstr("belong to no process")));
}

TEST(G03, UnreadableMemoryIsASkipWithItsReason) {
  facts::Machine machine = healthy_spark();
  machine.memory = unknown("meminfo: permission denied");
  const Finding finding = check(machine);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, HasSubstr("permission denied"));
}

TEST(G03, AHardEndAfterOutOfMemoryLinesWarns) {
  facts::Machine machine = healthy_spark();
  change(machine.identity,
         [](facts::Identity& identity) { identity.last_boot_end = as_read(facts::BootEnd::without_shutdown); });
  EXPECT_EQ(check(machine).status, Status::info);
  change(machine.kernel_log, [](facts::KernelLog& log) {
    facts::KernelEvent event;
    event.kind = facts::KernelEventKind::nvrm_no_memory;
    log.previous = as_read(std::vector<facts::KernelEvent>{event});
  });
  EXPECT_EQ(check(machine).status, Status::warn);
}

}  // namespace
}  // namespace sparkops::verdicts
