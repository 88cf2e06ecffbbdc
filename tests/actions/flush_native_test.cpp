#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "actions/flush.h"

namespace sparkops::actions {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A directory on a real disk: what lies in a tmpfs is never given back.
class FlushFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = SPARKOPS_BUILD "/flush-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    const auto residency = facts::read_residency(write("probe", 4096));
    ASSERT_TRUE(residency.has_value());
    if (residency->home == facts::PageHome::memory) GTEST_SKIP() << SPARKOPS_BUILD " lies in memory";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// Real pages, just written: cached and, until somebody writes them back, dirty.
  [[nodiscard]] std::string write(const std::string& name, std::size_t size) const {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << std::string(size, 'x');
    return path;
  }

  std::filesystem::path directory_;
  static constexpr std::size_t k_size = std::size_t{32} << 20;
};

TEST_F(FlushFiles, ADirtyFileIsWrittenFirstAndThenGone) {
  const std::string path = write("dirty", k_size);
  const auto actions = live_actions();
  const auto flushed = flush_files(*actions, {path});
  ASSERT_EQ(flushed.size(), 1U);
  EXPECT_EQ(flushed[0].error, "");
  EXPECT_EQ(*flushed[0].before.cached, Bytes{k_size});
  if (flushed[0].before.dirty) {  // not where the kernel has no cachestat
    EXPECT_GT(flushed[0].before.dirty->value, 0);
  }
  EXPECT_EQ(*flushed[0].after.cached, Bytes{0});
  std::ifstream again(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(again), {}};
  EXPECT_EQ(content, std::string(k_size, 'x')) << "nothing that was written may be lost";
}

TEST_F(FlushFiles, WhatIsMappedStaysAndTheRestGoes) {
  const std::string path = write("mapped", k_size);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr std::size_t k_mapped = std::size_t{8} << 20;
  void* const mapping = ::mmap(nullptr, k_mapped, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  const auto actions = live_actions();
  const auto flushed = flush_files(*actions, {path});
  EXPECT_GE(*flushed[0].after.cached, Bytes{k_mapped});
  EXPECT_LT(*flushed[0].after.cached, Bytes{k_size});
  ::munmap(mapping, k_mapped);
  EXPECT_EQ(*flush_files(*actions, {path})[0].after.cached, Bytes{0});
  ::close(file);
}

TEST_F(FlushFiles, AsksForNothingWhereNothingIsCachedAndReportsWhatFails) {
  RecordingActions actions;
  const std::string path = write("file", 4096);
  actions.failures.emplace("give back " + path, Error{ErrorKind::input_output, "the disk is gone"});
  const auto flushed = flush_files(actions, {path, (directory_ / "missing").string(), directory_.string()});
  EXPECT_EQ(flushed[0].error, "the disk is gone");
  EXPECT_EQ(*flushed[0].after.cached, *flushed[0].before.cached) << "recorded alone: nothing may have changed";
  EXPECT_THAT(flushed[1].error, HasSubstr("missing"));
  EXPECT_FALSE(flushed[1].before.cached.known());
  EXPECT_THAT(flushed[2].error, HasSubstr("not a regular file"));
  EXPECT_EQ(actions.recorded.back(), "give back " + path);

  const auto live = live_actions();
  ASSERT_EQ(*flush_files(*live, {path})[0].after.cached, Bytes{0});
  RecordingActions nothing_to_do;
  (void)flush_files(nothing_to_do, {path});
  EXPECT_THAT(nothing_to_do.recorded, ElementsAre());
}

TEST(FlushEverything, TakesTheStepsInOrderAndStopsAtTheFirstThatFails) {
  RecordingActions actions;
  EXPECT_EQ(flush_everything(actions, Compact::yes).size(), 3U);
  EXPECT_THAT(actions.recorded, ElementsAre("write back everything", "drop caches", "compact memory"));
  RecordingActions failing;
  failing.failures.emplace("drop caches", Error{ErrorKind::permission_denied, "read-only here"});
  const auto steps = flush_everything(failing, Compact::yes);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].name, "drop_caches");
  EXPECT_EQ(steps[1].error, "read-only here");
  EXPECT_THAT(failing.recorded, ElementsAre("write back everything", "drop caches"));
}

TEST(LiveActions, WriteTheKernelsOwnWordsAndNameWhatCannotBeWritten) {
  std::string tree = (std::filesystem::temp_directory_path() / "sparkops-actions-XXXXXX").string();
  ASSERT_NE(::mkdtemp(tree.data()), nullptr);
  const std::filesystem::path settings = std::filesystem::path(tree) / "proc/sys/vm";
  std::filesystem::create_directories(settings);
  std::ofstream(settings / "drop_caches").flush();
  std::ofstream(settings / "compact_memory").flush();
  const auto actions = live_actions(tree);
  EXPECT_TRUE(actions->drop_caches().has_value());
  EXPECT_TRUE(actions->compact_memory().has_value());
  const auto content = [&](const char* name) {
    std::ifstream file(settings / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(content("drop_caches"), "3\n");
  EXPECT_EQ(content("compact_memory"), "1\n");
  std::filesystem::remove(settings / "drop_caches");
  const auto gone = actions->drop_caches();
  ASSERT_FALSE(gone.has_value());
  EXPECT_THAT(gone.error().message, HasSubstr("proc/sys/vm/drop_caches"));
  std::filesystem::remove_all(tree);
}

}  // namespace
}  // namespace sparkops::actions
