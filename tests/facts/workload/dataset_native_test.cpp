#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "facts/workload/dataset.h"

namespace sparkops::facts {
namespace {

/// Bytes of a file that are in the page cache.
std::size_t resident(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0) return 0;
  const auto size = static_cast<std::size_t>(status.st_size);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  std::vector<unsigned char> pages((size + page - 1) / page);
  ::mincore(mapping, size, pages.data());
  ::munmap(mapping, size);
  ::close(file);
  return page * static_cast<std::size_t>(
                    std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1U) != 0; }));
}

void drop(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fdatasync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

TEST(DatasetInThePageCache, LeavesNothingBehind) {
  const std::string name = "sparkops-dataset-cache-" + std::to_string(::getpid()) + ".jsonl";
  const std::string path = testing::TempDir() + name;
  {
    std::ofstream file(path);
    const std::string line = "{\"text\": \"" + std::string(1000, 'a') + "\"}\n";
    for (int i = 0; i < 16'000; ++i) file << line;
  }
  drop(path);
  const std::size_t before = resident(path);
  const auto summary = read_dataset(*Root::open(testing::TempDir()), name);
  const std::size_t after = resident(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, 16'000);
  constexpr std::size_t k_left = std::size_t{1} << 20;
  if (before > k_left) GTEST_SKIP() << "this file system keeps " << before << " bytes of a file that was to be dropped";
  EXPECT_LE(after, k_left);
}

}  // namespace
}  // namespace sparkops::facts
