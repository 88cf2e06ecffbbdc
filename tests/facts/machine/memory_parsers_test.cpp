#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "facts/machine/memory.h"
#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Shape: proc/meminfo of Linux 6.17 (Documentation/filesystems/proc.rst); values of our own.
constexpr const char* k_meminfo =
    "MemTotal:       127600000 kB\n"
    "MemFree:         4000000 kB\n"
    "MemAvailable:   90000000 kB\n"
    "Cached:         86000000 kB\n"
    "Active(anon):     123456 kB\n"
    "CmaTotal:              0 kB\n"
    "CmaFree:          940000 kB\n"
    "HugePages_Total:      12\n"
    "HugePages_Free:        5\n"
    "Hugepagesize:       2048 kB\n";

TEST(Meminfo, ReadsSizesInBytesAndHugePagesAsCounts) {
  const auto info = parse_meminfo(k_meminfo);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(*info->total, kibibytes(127600000));
  EXPECT_EQ(*info->free, kibibytes(4000000));
  EXPECT_EQ(*info->available, kibibytes(90000000));
  EXPECT_EQ(*info->huge_pages_total, 12);
  EXPECT_EQ(*info->huge_pages_free, 5);
  EXPECT_EQ(*info->huge_page_size, mebibytes(2));
  EXPECT_EQ(info->fields.at("Active(anon)"), 123456 * 1024);
  EXPECT_EQ(info->total.provenance().origin, Origin::read);
}

TEST(Meminfo, KeepsFreeContiguousMemoryAboveItsTotalAsTheKernelWroteIt) {
  const auto info = parse_meminfo(k_meminfo);
  ASSERT_TRUE(info);
  EXPECT_EQ(*info->cma_total, Bytes{0});
  EXPECT_EQ(*info->cma_free, kibibytes(940000));
}

TEST(Meminfo, AFieldThatIsMissingIsUnknownAndNotZero) {
  const auto info = parse_meminfo("MemTotal: 10 kB\n");
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->swap_total.known());
  EXPECT_EQ(info->swap_total.reason(), "SwapTotal is not in meminfo");
  EXPECT_FALSE(info->huge_pages_total.known());
}

TEST(Meminfo, NamesTheLineItCannotRead) {
  for (const char* const line : {"MemFree: x kB", "MemFree 12 kB", "MemFree: -4 kB", "MemFree: 12 MB",
                                 "MemFree: 12 kB more", ": 12 kB", "MemFree: 9223372036854775807 kB", "MemFree:"}) {
    const auto info = parse_meminfo(std::string("MemTotal: 10 kB\n") + line + "\n");
    ASSERT_FALSE(info) << line;
    EXPECT_EQ(info.error().kind, ErrorKind::malformed);
    EXPECT_THAT(info.error().message, HasSubstr(line));
  }
  EXPECT_FALSE(parse_meminfo(""));
  EXPECT_FALSE(parse_meminfo("MemTotal: 10 kB\nMemTotal: 11 kB\n"));
}

TEST(Meminfo, ReadsBackWhatWasWritten) {
  EXPECT_TRUE(rc::check("meminfo round trip", [] {
    const auto values = *rc::gen::container<std::map<int, std::int64_t>>(
        rc::gen::inRange(0, 1000), rc::gen::inRange<std::int64_t>(0, INT64_MAX / 1024));
    RC_PRE(!values.empty());
    std::string text;
    for (const auto& [key, value] : values)
      text += "Field" + std::to_string(key) + ": " + std::to_string(value) + " kB\n";
    const auto info = parse_meminfo(text);
    RC_ASSERT(info.has_value());
    RC_ASSERT(info->fields.size() == values.size());
    for (const auto& [key, value] : values) RC_ASSERT(info->fields.at("Field" + std::to_string(key)) == value * 1024);
  }));
}

TEST(MemoryParsers, NeverCrashOnAnyBytes) {
  EXPECT_TRUE(rc::check("any bytes give a value or an error", [](const std::string& bytes) {
    (void)parse_meminfo(bytes);
    (void)parse_buddyinfo(bytes);
    (void)parse_vmstat(bytes, Timestamp{});
    (void)parse_pressure(bytes);
    (void)parse_swaps("Filename Type\n" + bytes);
  }));
  // Bytes near the real formats reach further into the parsers.
  EXPECT_TRUE(rc::check("damaged lines give a value or an error", [] {
    std::string text = k_meminfo;
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
    const auto info = parse_meminfo(text);
    if (!info) RC_ASSERT(!info.error().message.empty());
  }));
}

TEST(Buddyinfo, CountsBlocksByZoneAndOrder) {
  // Shape: proc/buddyinfo (Documentation/filesystems/proc.rst); values of our own.
  const auto zones = parse_buddyinfo(
      "Node 0, zone      DMA      3      0      0      0      1 \n"
      "Node 1, zone   Normal   1046    527     10      0      2 \n");
  ASSERT_TRUE(zones) << zones.error().message;
  ASSERT_EQ(zones->size(), 2U);
  EXPECT_EQ((*zones)[1].node, 1);
  EXPECT_EQ((*zones)[1].zone, "Normal");
  EXPECT_THAT((*zones)[1].free_blocks, ElementsAre(1046, 527, 10, 0, 2));
}

TEST(Buddyinfo, RefusesLinesOfAnotherForm) {
  for (const char* const text :
       {"", "Node 0, zone Normal\n", "Node x, zone Normal 1\n", "Node 0 zone Normal 1\n", "Node 0, zone Normal -1\n",
        "Node 0, zone Normal 1 two\n", "Node 0, zone N 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"})
    EXPECT_FALSE(parse_buddyinfo(text)) << text;
}

TEST(FreeBlocks, AreCountedInUnitsOfTheBlockThatIsAskedFor) {
  FreeBlocks blocks{{{0, "Normal", {100, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2}}}, 4096};  // 3 of 2 MiB, 2 of 4 MiB
  EXPECT_EQ(blocks.largest_order(), 10);
  EXPECT_EQ(blocks.count_at_least(mebibytes(2)), 3 + 2 * 2);
  EXPECT_EQ(blocks.count_at_least(mebibytes(4)), 2);
  EXPECT_EQ(blocks.count_at_least(mebibytes(32)), 0);
  blocks.page_size = 65536;  // the same orders are sixteen times larger
  EXPECT_EQ(blocks.count_at_least(mebibytes(32)), 3 + 2 * 2);
}

TEST(FreeBlocks, NothingFreeHasNoOrder) {
  EXPECT_EQ((FreeBlocks{{{0, "Normal", {0, 0}}}, 4096}).largest_order(), -1);
  EXPECT_EQ(FreeBlocks{}.largest_order(), -1);
}

TEST(FreeBlocks, AbsurdCountsSaturate) {
  const FreeBlocks blocks{{{0, "Normal", {INT64_MAX, INT64_MAX, INT64_MAX}}}, 65536};
  EXPECT_EQ(blocks.count_at_least(Bytes{1}), INT64_MAX);
  EXPECT_EQ(blocks.count_at_least(Bytes{0}), 0);
}

TEST(Vmstat, ReadsCountersAndSumsTheStalls) {
  // Shape: proc/vmstat of Linux 6.17; values of our own.
  const auto counters = parse_vmstat(
      "nr_free_pages 4242\nnr_isolated_file 18446744073709551615\npswpin 7\npswpout 9\npgmajfault 11\n"
      "workingset_refault_anon 13\nworkingset_refault_file 17\npgsteal_kswapd 19\npgsteal_direct 23\n"
      "allocstall_dma 1\nallocstall_normal 2\nallocstall_movable 3\ncompact_stall 29\ncompact_fail 31\n"
      "compact_success 37\noom_kill 1\n",
      Timestamp{5});
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->taken, Timestamp{5});
  EXPECT_EQ(*counters->pages_swapped_in, 7);
  EXPECT_EQ(*counters->pages_swapped_out, 9);
  EXPECT_EQ(*counters->major_faults, 11);
  EXPECT_EQ(*counters->refaults_anonymous, 13);
  EXPECT_EQ(*counters->refaults_file, 17);
  EXPECT_EQ(*counters->kswapd_reclaim_pages, 19);
  EXPECT_EQ(*counters->direct_reclaim_pages, 23);
  EXPECT_EQ(*counters->allocation_stalls, 6);
  EXPECT_EQ(*counters->compaction_stalls, 29);
  EXPECT_EQ(*counters->compaction_failures, 31);
  EXPECT_EQ(*counters->compaction_successes, 37);
  EXPECT_EQ(*counters->oom_kills, 1);
}

TEST(Vmstat, ACounterTheKernelDoesNotHaveIsUnknown) {
  const auto counters = parse_vmstat("pswpin 7\n", Timestamp{});
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->oom_kills.reason(), "oom_kill is not in vmstat");
  EXPECT_FALSE(counters->allocation_stalls.known());
}

TEST(Vmstat, RefusesACounterThatDoesNotFit) {
  EXPECT_FALSE(parse_vmstat("pswpin 18446744073709551615\n", Timestamp{}));
  EXPECT_FALSE(parse_vmstat("allocstall_a 9223372036854775807\nallocstall_b 1\n", Timestamp{}));
  EXPECT_FALSE(parse_vmstat("pswpin\n", Timestamp{}));
  EXPECT_FALSE(parse_vmstat("", Timestamp{}));
}

TEST(Pressure, ReadsBothLines) {
  const auto pressure = parse_pressure(
      "some avg10=1.50 avg60=0.25 avg300=0.00 total=123456\nfull avg10=0.81 avg60=0.10 avg300=0.00 total=999\n");
  ASSERT_TRUE(pressure) << pressure.error().message;
  EXPECT_DOUBLE_EQ(pressure->some.average_10s, 1.5);
  EXPECT_EQ(pressure->some.total_us, 123456);
  ASSERT_TRUE(pressure->full.known());
  EXPECT_DOUBLE_EQ(pressure->full->average_10s, 0.81);
}

TEST(Pressure, WithoutAFullLineThatPartIsUnknown) {
  const auto pressure = parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  ASSERT_TRUE(pressure);
  EXPECT_FALSE(pressure->full.known());
}

TEST(Pressure, RefusesSharesBeyondAWhole) {
  EXPECT_FALSE(parse_pressure("some avg10=100.01 avg60=0.00 avg300=0.00 total=0\n"));
  EXPECT_FALSE(parse_pressure("some avg10=nan avg60=0.00 avg300=0.00 total=0\n"));
  EXPECT_FALSE(parse_pressure("most avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"));
  EXPECT_FALSE(parse_pressure("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"));
}

TEST(Swaps, ReadsDevicesAndUnescapesPaths) {
  const auto devices = parse_swaps(
      "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
      "/swap.img                               file\t\t16777212\t53984\t\t-2\n"
      "/a\\040disk\\040                        partition\t100\t\t0\t\t5\n");
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[0].path, "/swap.img");
  EXPECT_EQ((*devices)[0].size, kibibytes(16777212));
  EXPECT_EQ((*devices)[0].used, kibibytes(53984));
  EXPECT_EQ((*devices)[0].priority, -2);
  EXPECT_EQ((*devices)[1].path, "/a disk ");
}

TEST(Swaps, AHeaderAloneMeansThatThereAreNone) {
  const auto devices = parse_swaps("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
  ASSERT_TRUE(devices);
  EXPECT_TRUE(devices->empty());
  EXPECT_FALSE(parse_swaps(""));
  EXPECT_FALSE(parse_swaps("Filename Type Size Used Priority\n/swap file 1 x 2\n"));
}

TEST(PublishedOutput, MeminfoOfATwoNodeServer) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "meminfo-1.txt");
  const auto info = parse_meminfo(text);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(*info->total, kibibytes(127535276));
  EXPECT_EQ(*info->available, kibibytes(8134368));
  EXPECT_FALSE(info->huge_pages_total.known());
}

TEST(PublishedOutput, MeminfoOfOtherMachines) {
  for (const char* const name : {"meminfo-2.txt", "meminfo-3.txt", "meminfo-4.txt"}) {
    SPARKOPS_PUBLISHED_OUTPUT(text, name);
    const auto info = parse_meminfo(text);
    ASSERT_TRUE(info) << name << ": " << info.error().message;
    EXPECT_GT(info->total->value, info->available->value) << name;
  }
}

TEST(PublishedOutput, MeminfoOfAKernelThatCountsFreeContiguousMemoryWrongly) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "meminfo-cma-kernel7.txt");
  const auto info = parse_meminfo(text);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_GT(info->cma_free->value, info->cma_total->value);
}

}  // namespace
}  // namespace sparkops::facts
