#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../facts/software/elf_builder.h"
#include "../facts/software/fatbin_builder.h"
#include "../facts/software/zip_builder.h"
#include "run_program.h"

namespace sparkops {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::run_sparkops;
using Json = nlohmann::json;

/// Files in a directory of their own, gone with the test.
class Inspect : public ::testing::Test {
 protected:
  Inspect() {
    std::string name = (std::filesystem::temp_directory_path() / "sparkops-inspect-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~Inspect() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = (directory_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string cuda_library(std::vector<testing::FatbinEntry> entries) {
    testing::ElfBuilder builder;
    builder.soname = "libkernels.so.1";
    builder.needed = {"libcudart.so.13"};
    builder.runpath = "$ORIGIN";
    builder.sections = {{".nv_fatbin", testing::fatbin_container(entries)}};
    return builder.bytes();
  }

  std::filesystem::path directory_;
};

TEST_F(Inspect, ALibraryWithCodeForOtherGpus) {
  const std::string path =
      write("libkernels.so", cuda_library({{.arch = 87}, {.arch = 120, .variant_flags = testing::k_variant_a}}));
  const auto result = run_sparkops({"inspect", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("64-bit ELF for aarch64"), HasSubstr("libkernels.so.1"), HasSubstr("libcudart.so.13"),
                    HasSubstr("sm_120a"), HasSubstr("does not run: built for sm_120a, sm_87")));
}

TEST_F(Inspect, JsonTellsEachGroup) {
  const std::string path =
      write("libkernels.so", cuda_library({{.arch = 121}, {.kind = 1, .arch = 120, .major = 9, .minor = 0}}));
  const auto result = run_sparkops({"inspect", "--json", "--verbose", path});
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["file"]["elf"]["soname"], "libkernels.so.1");
  EXPECT_EQ(json["file"]["code"]["groups"].size(), 2U);
  EXPECT_EQ(json["file"]["code"]["list"].size(), 2U);
  EXPECT_EQ(json["file"]["sm121"]["runs"], "native");
}

TEST_F(Inspect, AWheelAndWhatIsBrokenInIt) {
  const std::string path = write("x.whl", testing::zip_bytes({{"x/libk.so", cuda_library({{.arch = 90}})},
                                                              {"x/bad.so", "no library"},
                                                              {"x/__init__.py", "print()"}}));
  const auto result = run_sparkops({"inspect", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("3 members, 2 of them"), HasSubstr("x/libk.so"), HasSubstr("sm_90"),
                                HasSubstr("x/bad.so: could not be read")));
}

TEST_F(Inspect, WhatCannotBeReadIsAnErrorThatNamesTheFile) {
  const std::string whole = cuda_library({{.arch = 121}});
  const std::vector<std::pair<std::string, std::string>> files{
      {"cut.so", whole.substr(0, whole.size() / 2)},
      {"bomb.whl", testing::zip_bytes({{"x.so", std::string(2000, 'x'), 8, std::uint64_t{2} << 30}})},
      {"text.so", "hello"},
      {"empty.so", ""}};
  for (const auto& [name, bytes] : files) {
    const auto result = run_sparkops({"inspect", write(name, bytes)});
    EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 3) << name << ": " << result.exit_code;
    EXPECT_THAT(result.err, HasSubstr(name));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(run_sparkops({"inspect", (directory_ / "absent.so").string()}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"inspect", directory_.string()}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"inspect"}).exit_code, 2);
}

}  // namespace
}  // namespace sparkops
