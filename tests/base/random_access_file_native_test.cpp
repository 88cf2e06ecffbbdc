#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/random_access_file.h"
#include "base/root.h"

namespace sparkops {
namespace {

constexpr std::size_t k_size = std::size_t{8} << 20;

/// A file on the disk of this build: a temporary directory may be kept in memory, where nothing can be dropped.
class PageCache : public ::testing::Test {
 protected:
  PageCache() {
    std::string name = SPARKOPS_BUILD "/page-cache-XXXXXX";
    const int file = ::mkstemp(name.data());
    ::close(file);
    path_ = name;
    std::string content(k_size, '\0');
    for (std::size_t i = 0; i < content.size(); i += 512) content[i] = static_cast<char>('a' + i / 512 % 26);
    std::ofstream(path_, std::ios::binary) << content;
    drop();
  }
  ~PageCache() override { std::filesystem::remove(path_); }

  void drop() const {
    const FileDescriptor file(::open(path_.c_str(), O_RDONLY));
    ::fsync(file.get());
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  /// Which pages are in the page cache.
  [[nodiscard]] std::vector<bool> resident() const {
    const FileDescriptor file(::open(path_.c_str(), O_RDONLY));
    void* const address = ::mmap(nullptr, k_size, PROT_READ, MAP_SHARED, file.get(), 0);
    std::vector<unsigned char> pages(k_size / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
    ::mincore(address, k_size, pages.data());
    ::munmap(address, k_size);
    std::vector<bool> out;
    for (const unsigned char page : pages) out.push_back((page & 1U) != 0);
    return out;
  }
  /// Reads as a listing does: small pieces far apart, then a long stretch.
  void read_through_root() const {
    const auto file = Root::live().open_file(path_).value();
    std::array<char, 64> piece{};
    for (std::uint64_t at = 0; at < k_size; at += 512 * 200) {
      ASSERT_TRUE(file->read_at(at, piece));
      EXPECT_EQ(piece[0], static_cast<char>('a' + at / 512 % 26));
    }
    std::vector<char> stretch(std::size_t{1} << 20);
    EXPECT_EQ(file->read_at(std::size_t{3} << 20, stretch).value(), stretch.size());
  }

  std::string path_;
};

TEST_F(PageCache, NothingIsLeftBehindOfAFileThatWasNotThere) {
  const auto before = resident();
  if (std::find(before.begin(), before.end(), true) != before.end())
    GTEST_SKIP() << "the file system of " << path_ << " does not drop pages";
  read_through_root();
  EXPECT_EQ(resident(), before);
}

TEST_F(PageCache, WhatWasThereStays) {
  {
    const FileDescriptor file(::open(path_.c_str(), O_RDONLY));
    std::vector<char> part(std::size_t{2} << 20);
    ASSERT_GT(::pread(file.get(), part.data(), part.size(), std::size_t{2} << 20), 0);
  }
  const auto before = resident();
  read_through_root();
  const auto after = resident();
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i] || !before[i]) << i;
  // The kernel may have read ahead of somebody else's mark; a window of that is no more than this.
  constexpr std::ptrdiff_t k_window_pages = 256;
  EXPECT_LE(std::count(after.begin(), after.end(), true),
            std::count(before.begin(), before.end(), true) + k_window_pages);
}

TEST_F(PageCache, AllOfItWasThereAndStays) {
  std::ifstream file(path_, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_EQ(content.size(), k_size);
  read_through_root();
  const auto after = resident();
  EXPECT_EQ(std::count(after.begin(), after.end(), true), static_cast<std::ptrdiff_t>(after.size()));
}

TEST_F(PageCache, AFileThatShrinksIsNoHarm) {
  const auto file = Root::live().open_file(path_).value();
  std::filesystem::resize_file(path_, 10);
  std::array<char, 64> piece{};
  EXPECT_EQ(file->read_at(0, piece).value(), 10U);
  EXPECT_EQ(file->read_at(1'000'000, piece).value(), 0U);
}

}  // namespace
}  // namespace sparkops
