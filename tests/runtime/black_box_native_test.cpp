#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/black_box.h"

namespace sparkops::runtime {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BlackBoxTest : public ::testing::Test {
 protected:
  BlackBoxTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sparkops-black-box-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~BlackBoxTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  [[nodiscard]] FileDescriptor open(const std::string& name) const {
    return FileDescriptor(::open((directory / name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(directory / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::vector<std::string> next_problems(BlackBox& box) {
    std::vector<std::string> problems;
    for (int i = 0; i < 300 && problems.empty(); ++i) {
      ::usleep(10'000);
      problems = box.take_problems();
    }
    return problems;
  }
  std::filesystem::path directory;
  static constexpr std::size_t k_plenty = std::size_t{64} << 20;
};

TEST_F(BlackBoxTest, WhatIsAppendedIsWrittenAndSyncedWithinASecond) {
  BlackBox box;
  const auto file = box.add(open("a"), "a", BlackBox::Content::lines, k_plenty);
  ASSERT_TRUE(box.start());
  EXPECT_TRUE(box.append(file, "one\n"));
  EXPECT_TRUE(box.append(file, "two\n"));
  for (int i = 0; i < 100 && box.sync_lag_ms() > 0; ++i) ::usleep(10'000);
  EXPECT_EQ(box.sync_lag_ms(), 0) << "after a second at most";
  EXPECT_EQ(content("a"), "one\ntwo\n");
  box.stop();
  EXPECT_EQ(box.lost_bytes(file), 0);
  EXPECT_EQ(box.written_bytes(file), 8);
}

TEST_F(BlackBoxTest, StopWritesWhatWaits) {
  BlackBox box;
  const auto file = box.add(open("a"), "a", BlackBox::Content::bytes, k_plenty);
  ASSERT_TRUE(box.start());
  const std::string megabyte(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 32; ++i) EXPECT_TRUE(box.append(file, megabyte));
  box.stop();
  EXPECT_EQ(std::filesystem::file_size(directory / "a"), 32U << 20);
  EXPECT_EQ(box.lost_bytes(file), 0);
}

TEST_F(BlackBoxTest, AFullDiskIsSaidOnceAndWhatIsLostIsCounted) {
  FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full.valid()) GTEST_SKIP() << "no /dev/full here";
  BlackBox box;
  const auto file = box.add(std::move(full), "log", BlackBox::Content::lines, 64);
  ASSERT_TRUE(box.start());
  EXPECT_TRUE(box.append(file, "a line\n"));
  EXPECT_THAT(next_problems(box), ElementsAre(HasSubstr("log: No space left on device")));
  for (int i = 0; i < 20; ++i) (void)box.append(file, "a line\n");
  EXPECT_GT(box.lost_bytes(file), 0);
  EXPECT_THAT(next_problems(box), ElementsAre(HasSubstr("log: the disk is too slow or full")));
  box.stop();
  EXPECT_EQ(box.written_bytes(file), 0);
  EXPECT_EQ(box.lost_bytes(file), 21 * 7) << "what never reached the disk is counted too";
}

TEST_F(BlackBoxTest, AHalfLineIsTakenBack) {
  // A file that may not grow beyond 10 bytes plays a disk that is full in the middle of a line.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  BlackBox box;
  const auto file = box.add(open("a"), "a", BlackBox::Content::lines, k_plenty);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  ASSERT_TRUE(box.start());
  EXPECT_TRUE(box.append(file, "first\nsecond line\n"));
  EXPECT_FALSE(next_problems(box).empty());
  EXPECT_EQ(content("a"), "first\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  box.stop();
  EXPECT_EQ(content("a"), "first\nsecond line\n") << "and comes when there is room again";
  EXPECT_EQ(box.lost_bytes(file), 0);
}

TEST_F(BlackBoxTest, AHangingDiskHoldsNobody) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor reader(ends[0]);
  BlackBox box;
  const auto file = box.add(FileDescriptor(ends[1]), "pipe", BlackBox::Content::bytes, 1U << 20);
  ASSERT_TRUE(box.start());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) (void)box.append(file, std::string(20'000, 'x'));
  box.stop(milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_GT(box.lost_bytes(file), 0);
}

TEST_F(BlackBoxTest, TheRingHoldsTheNewestEntries) {
  BlackBox box;
  auto ring = store::RingFile::create((directory / "ring.bin").string());
  ASSERT_TRUE(ring);
  box.add_ring(std::move(*ring));
  ASSERT_TRUE(box.start());
  box.append_to_ring({1}, "one");
  box.append_to_ring({2}, "two");
  box.stop();
  const auto entries = store::parse_ring(content("ring.bin"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].text, "two");
}

}  // namespace
}  // namespace sparkops::runtime
