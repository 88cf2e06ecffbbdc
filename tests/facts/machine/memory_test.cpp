#include "facts/machine/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>

#include "../../emulation.h"
#include "facts/machine/memory_cached_files.h"
#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Tree;

void write_healthy_memory(const Tree& tree) {
  tree.write("proc/meminfo", "MemTotal: 127600000 kB\nMemFree: 100000000 kB\nMemAvailable: 118000000 kB\n");
  tree.write("proc/buddyinfo", "Node 0, zone Normal 0 0 0 0 0 0 0 0 0 0 7\n");
  tree.write("proc/vmstat", "pswpin 1\npswpout 2\n");
  tree.write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  tree.write("proc/swaps", "Filename Type Size Used Priority\n/swap.img file 16777212 0 -2\n");
  tree.write("proc/sys/vm/min_free_kbytes", "45056\n");
  tree.write("proc/mounts", "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=63800000k,inode64 0 0\n");
  tree.write("sparkops/capture.json", R"({"taken_at": "2026-11-20T08:00:00Z", "page_size_bytes": 65536})");
  tree.write("sparkops/pagecache.json",
             R"({"how": "cachestat", "files": [
               {"path": "/m/small.safetensors", "size_bytes": 2000, "cached_bytes": 1000},
               {"path": "/m/large.safetensors", "size_bytes": 9000, "cached_bytes": 8000}]})");
}

TEST(Memory, OfACaptureIsReadFromItsFiles) {
  const Tree tree;
  write_healthy_memory(tree);
  const Memory memory = read_memory(tree.root());
  EXPECT_EQ(*memory.info.available, kibibytes(118000000));
  ASSERT_TRUE(memory.free_blocks.known()) << memory.free_blocks.reason();
  EXPECT_EQ(memory.free_blocks->page_size, 65536);
  EXPECT_EQ(memory.free_blocks->count_at_least(mebibytes(64)), 7);
  ASSERT_TRUE(memory.counters.known());
  EXPECT_EQ(memory.counters->taken, parse_rfc3339("2026-11-20T08:00:00Z"));
  EXPECT_FALSE(memory.earlier_counters.known());
  EXPECT_TRUE(memory.pressure_memory.known());
  EXPECT_EQ(memory.swap_devices->size(), 1U);
  EXPECT_EQ(*memory.min_free, kibibytes(45056));
  EXPECT_EQ(*memory.shared_memory->size, kibibytes(63800000));
  EXPECT_FALSE(memory.shared_memory->used.known());
}

TEST(Memory, OfACaptureNamesTheCachedFilesLargestFirst) {
  const Tree tree;
  write_healthy_memory(tree);
  const Memory memory = read_memory(tree.root());
  ASSERT_TRUE(memory.cached_files.known()) << memory.cached_files.reason();
  ASSERT_EQ(memory.cached_files->size(), 2U);
  EXPECT_EQ(memory.cached_files->front().path, "/m/large.safetensors");
  EXPECT_EQ(memory.cached_files->front().cached, Bytes{8000});
  EXPECT_EQ(memory.cached_files->front().how, "capture");
  EXPECT_THAT(memory.cached_files_scope, HasSubstr("2 files"));
}

TEST(Memory, OfAnEmptyRootIsUnknownThroughout) {
  const Tree tree;
  const Memory memory = read_memory(tree.root(), {"/m/model.safetensors"});
  EXPECT_FALSE(memory.info.total.known());
  EXPECT_THAT(memory.info.total.reason(), HasSubstr("does not exist"));
  EXPECT_FALSE(memory.info.huge_pages_total.known());
  EXPECT_FALSE(memory.free_blocks.known());
  EXPECT_FALSE(memory.counters.known());
  EXPECT_THAT(memory.pressure_memory.reason(), HasSubstr("psi=1"));
  EXPECT_FALSE(memory.swap_devices.known());
  EXPECT_FALSE(memory.min_free.known());
  EXPECT_FALSE(memory.shared_memory.known());
  EXPECT_FALSE(memory.cached_files.known());
}

TEST(Memory, WithoutThePageSizeBlocksAreUnknownAndNotGuessed) {
  const Tree tree;
  write_healthy_memory(tree);
  tree.write("sparkops/capture.json", R"({"taken_at": "2026-11-20T08:00:00Z", "page_size_bytes": 5000})");
  const Memory memory = read_memory(tree.root());
  EXPECT_THAT(memory.free_blocks.reason(), HasSubstr("page"));
}

TEST(Memory, HostileFilesGiveAReasonAndNoValue) {
  const Tree tree;
  tree.write("proc/meminfo", std::string("MemTotal: 1\0 kB\n", 16));
  tree.fifo("proc/vmstat");
  tree.link("proc/swaps", "swaps");
  tree.link("proc/buddyinfo", "/../../../../etc/passwd");
  tree.sparse("proc/pressure/memory", std::int64_t{1} << 30);
  tree.write("proc/sys/vm/min_free_kbytes", "-5\n");
  tree.write("sparkops/capture.json", "{{{{");
  tree.write("sparkops/pagecache.json", R"({"files": [{"path": "/a", "size_bytes": -1, "cached_bytes": 5}]})");
  const Memory memory = read_memory(tree.root());
  EXPECT_THAT(memory.info.total.reason(), HasSubstr("meminfo"));
  EXPECT_THAT(memory.counters.reason(), HasSubstr("not a regular file"));
  EXPECT_THAT(memory.swap_devices.reason(), HasSubstr("loop"));
  EXPECT_FALSE(memory.free_blocks.known());
  EXPECT_THAT(memory.pressure_memory.reason(), HasSubstr("larger than"));
  EXPECT_FALSE(memory.min_free.known());
  EXPECT_THAT(memory.cached_files.reason(), HasSubstr("size_bytes"));
}

TEST(Meminfo, ASizeWithoutItsUnitIsACutOffFile) {
  EXPECT_FALSE(parse_meminfo("MemTotal: 127600748 kB\nMemAvailable:   12190"));
  EXPECT_TRUE(parse_meminfo("MemTotal: 127600748 kB\nHugePages_Total: 12\n"));
}

TEST(Meminfo, ImpossibleFiguresAreUnknown) {
  EXPECT_FALSE(parse_meminfo("MemTotal: 0 kB\nMemFree: 5 kB\n")->total.known());
  const auto large = parse_meminfo("MemTotal: 1000 kB\nMemFree: 1001 kB\nMemAvailable: 900 kB\n");
  EXPECT_FALSE(large->free.known());
  EXPECT_TRUE(large->available.known());
  const auto huge = parse_meminfo(
      "MemTotal: 1000 kB\nMemFree: 10 kB\nHugePages_Total: 99999999999\nHugePages_Free: 99999999999\n"
      "Hugepagesize: 99999999999 kB\n");
  EXPECT_FALSE(huge->huge_pages_free.known());
}

TEST(LiveMemory, HoldsWhatMustHoldOnAnyLinux) {
  SPARKOPS_NEEDS_THIS_KERNEL();
  const Memory memory = read_memory(Root::live());
  ASSERT_TRUE(memory.info.total.known()) << memory.info.total.reason();
  ASSERT_TRUE(memory.info.free.known());
  ASSERT_TRUE(memory.info.available.known());
  EXPECT_GT(memory.info.total->value, 0);
  EXPECT_LE(memory.info.free->value, memory.info.total->value);
  EXPECT_LE(memory.info.available->value, memory.info.total->value);
  ASSERT_TRUE(memory.counters.known()) << memory.counters.reason();
  EXPECT_TRUE(memory.counters->major_faults.known());
  ASSERT_TRUE(memory.min_free.known()) << memory.min_free.reason();
  EXPECT_GT(memory.min_free->value, 0);
  EXPECT_FALSE(memory.cached_files.known()) << "nobody named a file to look at";
}

/// A file of this test whose pages are all in the page cache.
class CachedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SPARKOPS_NEEDS_THIS_KERNEL();
    tree.write("model.safetensors", std::string(static_cast<std::size_t>(k_size), 'x'));
  }
  static constexpr std::int64_t k_size = 8 * k_mib;
  Tree tree;
};

TEST_F(CachedFileTest, IsCountedWithoutReadingIt) {
  const auto reading = read_cached_files({tree.path("model.safetensors"), tree.path("missing")});
  ASSERT_TRUE(reading.files.known()) << reading.files.reason();
  ASSERT_EQ(reading.files->size(), 1U);
  EXPECT_EQ(reading.files->front().size, Bytes{k_size});
  EXPECT_EQ(reading.files->front().cached, Bytes{k_size});  // just written: dirty or clean, the pages are there
  EXPECT_THAT(reading.scope, HasSubstr("1 could not be opened"));
}

TEST_F(CachedFileTest, OneThatWasNeverReadHoldsNothing) {
  tree.sparse("hole", std::int64_t{1} << 40);
  const auto reading = read_cached_files({tree.path("hole")});
  ASSERT_TRUE(reading.files.known()) << reading.files.reason();
  EXPECT_THAT(*reading.files, IsEmpty());
}

TEST_F(CachedFileTest, WhatIsNoRegularFileIsNotOpenedForLong) {
  tree.fifo("fifo");
  const auto reading = read_cached_files({tree.path("fifo"), tree.path("")});
  EXPECT_FALSE(reading.files.known());
  EXPECT_THAT(reading.scope, HasSubstr("2 could not be opened"));
}

/// Sets environment variables for one test and puts them back.
class LikelyCachedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : k_names) {
      const char* const value = std::getenv(name);
      if (value != nullptr) saved_.emplace(name, value);
      ::unsetenv(name);
    }
    ::setenv("HOME", "/home/user", 1);
  }
  void TearDown() override {
    for (const char* const name : k_names) ::unsetenv(name);
    for (const auto& [name, value] : saved_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Tree tree;

 private:
  static constexpr std::array k_names{"HOME", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "OLLAMA_MODELS"};
  std::map<std::string, std::string> saved_;
};

TEST_F(LikelyCachedFiles, AreTheLargeOnesUnderTheNameThatTellsTheModel) {
  tree.sparse("home/user/.cache/huggingface/hub/models--a--b/blobs/0123abcd", 300 * k_mib);
  tree.sparse("home/user/.cache/huggingface/hub/models--a--b/blobs/tokenizer", 3 * k_mib);
  tree.link("home/user/.cache/huggingface/hub/models--a--b/snapshots/r1/model-00001.safetensors",
            "../../blobs/0123abcd");
  tree.sparse("home/user/.ollama/models/blobs/sha256-99", 900 * k_mib);
  tree.sparse("home/user/.cache/vllm/torch_compile_cache/small", 10);
  EXPECT_THAT(likely_cached_files(tree.root()),
              ElementsAre("/home/user/.ollama/models/blobs/sha256-99",
                          "/home/user/.cache/huggingface/hub/models--a--b/snapshots/r1/model-00001.safetensors"));
}

TEST_F(LikelyCachedFiles, FollowTheVariablesOfTheHub) {
  tree.sparse("data/hub/models--x/blobs/aa", 300 * k_mib);
  ::setenv("HF_HOME", "/data", 1);
  EXPECT_THAT(likely_cached_files(tree.root()), ElementsAre("/data/hub/models--x/blobs/aa"));
  ::setenv("HF_HUB_CACHE", "/nowhere", 1);
  EXPECT_THAT(likely_cached_files(tree.root()), IsEmpty());
}

TEST_F(LikelyCachedFiles, ContainThoseThatProcessesHoldOpen) {
  tree.sparse("models/weights.gguf", 512 * k_mib);
  tree.link("proc/4242/fd/3", "/models/weights.gguf");
  tree.link("proc/4242/fd/4", "socket:[99]");
  tree.link("proc/4242/fd/5", "/dev/nvidia0");
  EXPECT_THAT(likely_cached_files(tree.root()), ElementsAre("/models/weights.gguf"));
}

TEST_F(LikelyCachedFiles, AreLookedForNoDeeperThanEightDirectories) {
  tree.sparse("home/user/.ollama/models/1/2/3/4/5/6/7/8/found", 300 * k_mib);
  tree.sparse("home/user/.ollama/models/1/2/3/4/5/6/7/8/9/too-deep", 300 * k_mib);
  EXPECT_THAT(likely_cached_files(tree.root()), ElementsAre("/home/user/.ollama/models/1/2/3/4/5/6/7/8/found"));
}

TEST_F(LikelyCachedFiles, OfTwoThousandFilesNoneMoreIsLookedAt) {
  for (int i = 0; i < 2000; ++i) tree.write("home/user/.cache/huggingface/hub/" + std::to_string(i), "");
  tree.sparse("home/user/.ollama/models/late", 300 * k_mib);
  EXPECT_THAT(likely_cached_files(tree.root()), Not(Contains("/home/user/.ollama/models/late")));
}

}  // namespace
}  // namespace sparkops::facts
