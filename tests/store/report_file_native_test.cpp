#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "store/report_file.h"

namespace sparkops::store {
namespace {

class ReportFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "sparkops-report-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(ReportFile, IsCreatedAndReplaced) {
  ASSERT_TRUE(write_report_file(path("a.json"), "one"));
  ASSERT_TRUE(write_report_file(path("a.json"), "two"));
  EXPECT_EQ(content("a.json"), "two");
  EXPECT_EQ(entries(), 1U) << "a temporary file was left";
}

TEST_F(ReportFile, BehindASymlinkTheTargetIsReplacedAndTheLinkStays) {
  ASSERT_TRUE(write_report_file(path("target"), "old"));
  std::filesystem::create_symlink(path("target"), path("link"));
  ASSERT_TRUE(write_report_file(path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(content("target"), "new");
}

TEST_F(ReportFile, ADeviceIsWrittenIntoAndStays) {
  if (::mknod(path("null").c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0)
    GTEST_SKIP() << "needs root to make a device";
  ASSERT_TRUE(write_report_file(path("null"), "gone"));
  EXPECT_TRUE(std::filesystem::is_character_file(path("null")));
}

TEST_F(ReportFile, AFifoWithoutAReaderIsAnErrorAndStays) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(write_report_file(path("fifo"), "nobody reads"));
  EXPECT_TRUE(std::filesystem::is_fifo(path("fifo")));
}

TEST_F(ReportFile, ADirectoryOrAMissingFolderIsAnErrorThatNamesIt) {
  EXPECT_EQ(write_report_file(path("."), "x").error().kind, ErrorKind::usage);
  const auto missing = write_report_file(path("no/such/folder.json"), "x");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("no/such/folder.json"), std::string::npos);
}

}  // namespace
}  // namespace sparkops::store
