#include "facts/machine/file_mappings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include "tree.h"

namespace sparkops::facts {
namespace {

using namespace std::string_view_literals;
using ::testing::IsEmpty;
using testing::Tree;

constexpr std::string_view k_header =
    "7f1c20000000-7f1c60000000 r--s 00000000 fd:01 131                /models/a b.gguf\n";

std::string smaps_of_one_file() {
  return "7ffd-7ffe rw-p 00000000 00:00 0   [stack]\nSize: 132 kB\nRss: 999999 kB\nLocked: 5 kB\n" +
         std::string(k_header) + "Size:   1048576 kB\nRss:      524288 kB\nLocked:     1024 kB\nVmFlags: rd mr lo\n";
}

TEST(Mappings, ARegionOfAFileIsReadWithWhatIsResidentAndLocked) {
  const auto regions = parse_mappings(smaps_of_one_file());
  ASSERT_EQ(regions.size(), 1U) << "the stack is no file";
  EXPECT_EQ(regions[0].device_major, 0xfdU);
  EXPECT_EQ(regions[0].device_minor, 1U);
  EXPECT_EQ(regions[0].inode, 131U);
  EXPECT_EQ(regions[0].path, "/models/a b.gguf");
  EXPECT_EQ(regions[0].resident, mebibytes(512));
  EXPECT_EQ(regions[0].locked, mebibytes(1));
}

TEST(Mappings, HostileTextGivesNoRegions) {
  for (const std::string_view text :
       {""sv, "\0\0\0"sv, "Rss: 5 kB\n"sv, "a-b r--p 0 fd:01\n"sv, "a-b r--p 0 fd 131 /x\n"sv,
        "a-b r--p 0 fd:01 -3 /x\n"sv, "a-b r--p 0 fd:01 99999999999999999999999 /x\n"sv,
        "a-b r--p 0 fffffffffffff:01 3 /x\n"sv, "\xff\xff-\xff r--p 0 \xff:1 3 /x\n"sv})
    EXPECT_THAT(parse_mappings(text), IsEmpty()) << text;
  const auto absurd = parse_mappings(std::string(k_header) + "Rss: 99999999999999999999 kB\nRss: -4 kB\nLocked: 7\n");
  ASSERT_EQ(absurd.size(), 1U);
  EXPECT_EQ(absurd[0].resident, Bytes{0});
  EXPECT_EQ(absurd[0].locked, Bytes{0});
}

TEST(Mappings, WhoMapsAFileIsFoundByItsNumberOrByItsPath) {
  const Tree tree;
  tree.write("proc/40/maps", std::string(k_header));
  tree.write("proc/40/smaps", smaps_of_one_file());
  tree.write("proc/40/comm", "python3\n");
  tree.write("proc/41/maps", "a-b r--p 0 00:2a 131 /models/a b.gguf\n");  // another device: an overlay
  tree.write("proc/42/maps", "a-b r--p 0 08:02 131 /other\n");
  const std::vector<FileIdentity> files{{::makedev(0xfd, 1), 7, "/models/unmapped"},
                                        {::makedev(0xfd, 1), 131, "/models/a b.gguf"},
                                        {::makedev(0xfd, 1), 0, "/models/a b.gguf"}};
  const FileMappings found = read_mappings(tree.root(), files);
  ASSERT_EQ(found.mappings.size(), 2U);
  EXPECT_EQ(found.mappings[0].pid, 40);
  EXPECT_EQ(found.mappings[0].file, 1U);
  EXPECT_EQ(found.mappings[0].name, "python3");
  EXPECT_EQ(found.mappings[0].resident, mebibytes(512));
  EXPECT_EQ(found.mappings[1].pid, 41);
  EXPECT_EQ(found.mappings[1].name, "?");
  EXPECT_EQ(found.not_permitted, 0);
}

}  // namespace
}  // namespace sparkops::facts
