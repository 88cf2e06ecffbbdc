#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/embedded_machines.h"
#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Demo, ListsEveryFixtureMachineWithItsStory) {
  const Json list = Json::parse(run_sparkops({"demo", "--json"}).out).at("machines");
  std::size_t captures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SPARKOPS_FIXTURES "/machines"))
    if (entry.path().extension() == ".machine") ++captures;
  EXPECT_EQ(list.size(), captures);
  for (const Json& machine : list) EXPECT_FALSE(machine.at("story").get<std::string>().empty()) << machine;
  const ProgramResult text = run_sparkops({"demo"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("spark-wedged"));
  EXPECT_THAT(text.out, HasSubstr("power delivery is wedged"));
}

TEST(Demo, EveryScreenIsMarkedAndSaysWhatTheCommandsSayOfTheCapture) {
  const ProgramResult demo = run_sparkops({"demo", "wedged"});
  EXPECT_EQ(demo.exit_code, 0) << demo.err;
  std::size_t marks = 0;
  for (std::size_t at = demo.out.find("RECORDED"); at != std::string::npos; at = demo.out.find("RECORDED", at + 1))
    ++marks;
  EXPECT_EQ(marks, 2U) << "preflight and memory";
  EXPECT_THAT(demo.out, HasSubstr(run_sparkops({"preflight", "--root", machine_path("spark-wedged")}).out));
  EXPECT_THAT(demo.out, HasSubstr("\n$ sparkops memory\n"));
}

TEST(Demo, AllMachinesCanBeShownAsJson) {
  for (const auto& machine : commands::embedded_machines()) {
    const ProgramResult result = run_sparkops({"demo", "--json", std::string(machine.name)});
    ASSERT_EQ(result.exit_code, 0) << machine.name << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json.at("recorded"), true);
    EXPECT_EQ(json.at("preflight").at("schema"), "sparkops.preflight/1");
    EXPECT_EQ(json.at("memory").at("schema"), "sparkops.memory/1");
  }
}

TEST(Demo, AnUnknownOrAmbiguousNameIsExitCode2AndNamesTheOthers) {
  const ProgramResult unknown = run_sparkops({"demo", "mainframe"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("spark-wedged"));
  EXPECT_EQ(run_sparkops({"demo", "spark"}).exit_code, 2);
}

TEST(Demo, TheMachinesAreInTheProgramAndStayModest) {
  std::size_t size = 0;
  for (const auto& machine : commands::embedded_machines()) size += machine.content.size();
  EXPECT_GT(size, 100'000U);
  EXPECT_LT(size, std::size_t{2} << 20);
}

}  // namespace
}  // namespace sparkops::testing
