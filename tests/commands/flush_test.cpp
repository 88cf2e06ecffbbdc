// sparkops flush on this kernel, as a user without rights where this test may become one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr std::size_t k_size = std::size_t{256} << 20;
constexpr uid_t k_nobody = 65534;

bool is_root() {
  return ::geteuid() == 0;
}

/// A folder in a place that any user may enter, with a copy of the program: the build tree may be closed to others.
class FlushCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/var/tmp/sparkops-flush-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    ::chmod(name.c_str(), 0755);
    std::filesystem::copy_file(SPARKOPS_PROGRAM, directory_ / "sparkops");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string write(const std::string& name, std::size_t size, bool for_nobody) const {
    std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << std::string(size, 'x');
    ::chmod(path.c_str(), 0644);
    if (is_root() && for_nobody && ::chown(path.c_str(), k_nobody, k_nobody) != 0) ADD_FAILURE() << "chown";
    return path;
  }

  [[nodiscard]] ProgramResult as_nobody(const std::vector<std::string>& arguments) const {
    RunAs who;
    who.program = directory_ / "sparkops";
    if (is_root()) who.user = k_nobody;
    return run_sparkops(arguments, {}, who);
  }

  std::filesystem::path directory_;
};

TEST_F(FlushCommand, TakesADirtyFileFromAllToNothingWithoutRoot) {
  const std::string path = write("model.safetensors", k_size, true);
  const ProgramResult before = as_nobody({"flush", "--dry-run", "--json", path});
  ASSERT_EQ(before.exit_code, 0) << before.err << before.out;
  EXPECT_EQ(Json::parse(before.out).at("files").at(0).at("cached_before_bytes"), k_size);
  const ProgramResult result = as_nobody({"flush", "--json", path});
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const Json file = Json::parse(result.out).at("files").at(0);
  EXPECT_EQ(file.at("cached_before_bytes"), k_size) << "the dry run changed something";
  EXPECT_EQ(file.at("cached_after_bytes"), 0);
  EXPECT_EQ(file.at("freed_bytes"), k_size);
  EXPECT_EQ(file.at("origin").at("freed_bytes"), "measured");
  EXPECT_THAT(file.at("stays"), ::testing::IsEmpty());
}

TEST_F(FlushCommand, WhatAnotherProcessHasMappedIsNamedAndNotCountedAsFreed) {
  const std::string path = write("mapped", std::size_t{16} << 20, true);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr std::size_t k_mapped = std::size_t{4} << 20;
  void* const mapping = ::mmap(nullptr, k_mapped, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  // As this test's own user, who may see its own mappings.
  const ProgramResult result = run_sparkops({"flush", "--json", path});
  const Json report = Json::parse(result.out).at("files").at(0);
  EXPECT_GE(report.at("cached_after_bytes").get<std::size_t>(), k_mapped);
  EXPECT_EQ(report.at("freed_bytes").get<std::size_t>(),
            report.at("cached_before_bytes").get<std::size_t>() - report.at("cached_after_bytes").get<std::size_t>());
  EXPECT_THAT(report.at("stays").at(0).get<std::string>(),
              HasSubstr("(pid " + std::to_string(::getpid()) + "), 4 MiB of it resident there"));
  const ProgramResult again = run_sparkops({"flush", path});
  EXPECT_EQ(again.exit_code, 1) << "nothing could be given back\n" << again.out;
  ::munmap(mapping, k_mapped);
  ::close(file);
}

TEST_F(FlushCommand, AFileOfAnotherUserIsUnknownAndNeverZero) {
  if (!is_root()) GTEST_SKIP() << "needs root to make a file of another user";
  const std::string path = write("other", std::size_t{8} << 20, false);
  const Json report = Json::parse(as_nobody({"flush", "--json", path}).out);
  const Json& file = report.at("files").at(0);
  EXPECT_TRUE(file.at("cached_before_bytes").is_null());
  EXPECT_TRUE(file.at("freed_bytes").is_null());
  EXPECT_THAT(file.at("unknown").at("cached_before_bytes").get<std::string>(), HasSubstr("needs root"));
  EXPECT_EQ(report.at("totals").at("unknown_files"), 1);
  const Json memory = Json::parse(as_nobody({"memory", "--json", path}).out);
  EXPECT_TRUE(memory.at("named").at(0).at("cached_bytes").is_null());
}

TEST_F(FlushCommand, ADirectoryIsWalkedWithoutFollowingLinks) {
  (void)write("a", 1 << 20, true);
  std::filesystem::create_symlink("/etc/passwd", directory_ / "link");
  const Json report = Json::parse(as_nobody({"flush", "--json", directory_}).out);
  EXPECT_EQ(report.at("files").size(), 2U) << "the program's copy and the file";
  EXPECT_THAT(report.at("notes").dump(), HasSubstr("1 symlink not followed"));
}

TEST_F(FlushCommand, EverythingNeedsRootAndItSaysWhatDoesNot) {
  const ProgramResult result = as_nobody({"flush", "--all"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("--all needs root"));
  EXPECT_THAT(result.out, HasSubstr("instead: sudo sparkops flush --all"));
  const Json report = Json::parse(as_nobody({"flush", "--all", "--json"}).out);
  EXPECT_THAT(report.at("refused").get<std::string>(), HasSubstr("needs root"));
  EXPECT_EQ(as_nobody({"flush", "--all", "--dry-run"}).exit_code, 0);
}

TEST_F(FlushCommand, IsRefusedWhileAJobComputesOnTheGpu) {
  const std::string library = SPARKOPS_BUILD "/tests/fake_gpu/current";
  if (!std::filesystem::exists(library + "/libnvidia-ml.so.1")) GTEST_SKIP() << "tests/fake_gpu is not built";
  const std::string path = write("file", 1 << 20, true);
  const Environment environment{{"LD_LIBRARY_PATH", library},
                                {"FAKE_GPU_SCENARIO", SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/loaded-healthy.txt"}};
  const ProgramResult refused = run_sparkops({"flush", path}, environment);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, HasSubstr("not done: a job computes on the GPU: pid 41207 holds 44.0 GiB"));
  EXPECT_EQ(
      Json::parse(run_sparkops({"flush", "--dry-run", "--json", path}).out).at("files").at(0).at("cached_before_bytes"),
      1 << 20);
  const ProgramResult forced = run_sparkops({"flush", "--force", path}, environment);
  EXPECT_EQ(forced.exit_code, 0) << forced.out;
  EXPECT_THAT(forced.out, HasSubstr("1 MiB freed")) << forced.out;
}

}  // namespace
}  // namespace sparkops::testing
