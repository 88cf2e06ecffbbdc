#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr double k_gib = 1024.0 * 1024.0 * 1024.0;

Json memory_of(const std::string& machine) {
  const ProgramResult result = run_sparkops({"memory", "--json", "--root", machine_path(machine)});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  return count;
}

TEST(MemoryCommand, AttributesHostMemoryBesideACudaProcess) {
  const Json memory = memory_of("spark-memory-host-and-cuda");
  const Json& pool = memory.at("pool");
  EXPECT_NEAR(pool.at("gpu_bytes").get<double>() / k_gib, 60.06, 0.01);
  EXPECT_NEAR(pool.at("anonymous_bytes").get<double>() / k_gib, 36.0, 0.01);
  const Json& first = memory.at("holders").at(0);
  EXPECT_EQ(first.at("pid"), 30118);
  EXPECT_NEAR(first.at("gpu_bytes").get<double>() / k_gib, 60.0, 0.01);
  const Json& second = memory.at("holders").at(1);
  EXPECT_EQ(second.at("pid"), 30990);
  EXPECT_NEAR(second.at("anonymous_bytes").get<double>() / k_gib, 30.0, 0.01);
  EXPECT_TRUE(second.at("gpu_bytes").is_null());
}

TEST(MemoryCommand, ThePartsAddUpToWhatIsUsed) {
  const Json pool = memory_of("spark-memory-host-and-cuda").at("pool");
  std::int64_t sum = 0;
  for (const char* const part : {"gpu_bytes", "anonymous_bytes", "shared_bytes", "huge_pages_bytes", "kernel_bytes",
                                 "unexplained_bytes", "swap_cache_bytes", "mapped_files_bytes", "flush_gives_bytes"})
    sum += pool.at(part).get<std::int64_t>();
  EXPECT_EQ(sum, pool.at("used_bytes").get<std::int64_t>());
}

TEST(MemoryCommand, InAContainerItSaysWhatItCannotSee) {
  const ProgramResult text = run_sparkops({"memory", "--root", machine_path("spark-ngc-container")});
  EXPECT_THAT(text.out, HasSubstr("cannot be seen from here"));
  EXPECT_THAT(text.out, HasSubstr("--pid=host"));
  EXPECT_THAT(text.out, HasSubstr("the list is empty inside a"));
  const Json memory = memory_of("spark-ngc-container");
  EXPECT_TRUE(memory.at("pool").at("gpu_bytes").is_null());
  EXPECT_TRUE(memory.at("pool").at("unexplained_bytes").is_null()) << "not zero: nobody knows";
}

TEST(MemoryCommand, FitsEightyColumnsOnEveryMachineButForCommands) {
  std::vector<std::vector<std::string>> calls{{"memory"}};
  for (const auto& entry : std::filesystem::directory_iterator(SPARKOPS_FIXTURES "/machines"))
    if (entry.path().extension() == ".machine") calls.push_back({"memory", "--root", entry.path().string()});
  ASSERT_GT(calls.size(), 10U);
  for (const auto& call : calls) {
    const ProgramResult result = run_sparkops(call);
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);)
      if (line.find("sparkops ") == std::string::npos) {
        EXPECT_LE(columns(line), 80U) << call.back() << ": " << line;
      }
    EXPECT_THAT(result.out, HasSubstr("\nheadroom "));
  }
}

TEST(MemoryCommand, NamesTheFilesOfACaptureAndFiltersByPath) {
  const std::string machine = machine_path("spark-full-page-cache");
  const ProgramResult all = run_sparkops({"memory", "--root", machine});
  EXPECT_THAT(all.out, HasSubstr("model-00001-of-00003.safetensors"));
  EXPECT_THAT(all.out, HasSubstr("\n  sparkops flush /home/user1/"));
  const ProgramResult one = run_sparkops({"memory", "--json", "--root", machine, "/home/user1/.cache"});
  EXPECT_EQ(Json::parse(one.out).at("named").size(), 3U);
  const Json none =
      Json::parse(run_sparkops({"memory", "--json", "--root", machine, "/nowhere"}).out).at("named").at(0);
  EXPECT_TRUE(none.at("cached_bytes").is_null());
}

TEST(MemoryCommand, ASwappingMachineShowsItsRate) {
  const Json state = memory_of("spark-swapping").at("state");
  EXPECT_NEAR(state.at("swap_in_pages_per_s").get<double>(), 20480, 1);
}

TEST(MemoryCommand, WrongUseIsExitCode2) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"memory", "/nonexistent/file"},
                                                {"memory", "--reserve", "-1"},
                                                {"memory", "--nonsense"},
                                                {"flush"},
                                                {"flush", "/nonexistent/file"},
                                                {"flush", "--all", "/tmp"},
                                                {"flush", "--compact", "/etc/hostname"}}) {
    const ProgramResult result = run_sparkops(wrong);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(wrong) << result.out;
    EXPECT_THAT(result.err, Not(::testing::IsEmpty()));
  }
}

}  // namespace
}  // namespace sparkops::testing
