#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "commands/command.h"
#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sparkops-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(CommandLine, EveryCommandHasHelpWithAnExampleWithin80Columns) {
  for (const commands::CommandSpec& command : commands::all_commands()) {
    const ProgramResult result = run_sparkops({std::string(command.name), "--help"});
    EXPECT_EQ(result.exit_code, 0) << command.name;
    EXPECT_THAT(result.out, HasSubstr("Examples\n  sparkops")) << command.name;
    std::istringstream lines(result.out);
    std::string line;
    while (std::getline(lines, line)) EXPECT_LE(line.size(), 100U) << line;  // bytes; a few signs take two or three
  }
}

TEST(CommandLine, HelpListsEveryCommand) {
  const ProgramResult result = run_sparkops({"--help"});
  for (const commands::CommandSpec& command : commands::all_commands())
    EXPECT_THAT(result.out, HasSubstr(std::string(command.name)));
}

TEST(CommandLine, WrongUseIsExitCode2WithAWayOut) {
  const std::vector<std::vector<std::string>> wrong{{"prefligth"},
                                                    {"preflight", "--nonsense"},
                                                    {"preflight", "--only", "G11"},
                                                    {"preflight", "--only", "thermal"},
                                                    {"preflight", "--reserve", "much"},
                                                    {"preflight", "--settle", "-1"},
                                                    {"preflight", "--platform", "h200"},
                                                    {"preflight", "--platform", "gb10"},
                                                    {"preflight", "--root", "/nonexistent/capture"},
                                                    {"preflight", "--workload", "/nonexistent/file.yaml"},
                                                    {"preflight", "--workload", "x.yaml", "--", "true"},
                                                    {"preflight", "--reserve", "-5"},
                                                    {"preflight", "--only", ""},
                                                    {"preflight", "--root", ""},
                                                    {"preflight", "--root"},
                                                    {"preflight", "--root", "/etc/passwd"},
                                                    {"preflight", "--settle", "1", "--settle", "2"},
                                                    {"preflight", "--"},
                                                    {"status", "--", "true"},
                                                    {"explain", "no such topic at all"},
                                                    {"capture"}};
  for (const auto& arguments : wrong) {
    const ProgramResult result = run_sparkops(arguments);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(arguments) << result.out;
    EXPECT_THAT(result.err, Not(IsEmpty()));
    EXPECT_THAT(result.out, IsEmpty()) << ::testing::PrintToString(arguments);
  }
}

TEST(CommandLine, AMistypedCommandIsMended) {
  EXPECT_THAT(run_sparkops({"prefligth"}).err, HasSubstr("did you mean preflight?"));
}

TEST(CommandLine, BareIsTheStatusInAtMostTenLines) {
  const ProgramResult result = run_sparkops({"--root", machine_path("spark-uncapped-vllm")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 10);
  EXPECT_THAT(result.out, HasSubstr("NVIDIA DGX Spark"));
  EXPECT_THAT(result.out, HasSubstr("next      sparkops "));
}

TEST(CommandLine, AFullDiskBehindARedirectionIsNoSuccess) {
  const std::string command = "'" + std::string(SPARKOPS_PROGRAM) + "' --help > /dev/full 2> /dev/null < /dev/null";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(Preflight, ReportHasTheFourKeysThatNeverChange) {
  const TemporaryDirectory directory;
  const auto report = directory.path() / "report.json";
  const ProgramResult result =
      run_sparkops({"preflight", "--root", machine_path("spark-wedged"), "--report", report.string()});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(file_content(report));
  EXPECT_EQ(json["platform"], "dgx-spark");
  EXPECT_EQ(json["verdict"], "blocked");
  EXPECT_TRUE(json["headroom_gb"].is_number_integer());
  EXPECT_THAT(json["checks"]["G4"].get<std::string>(), ::testing::StartsWith("fail: "));
  EXPECT_EQ(json["checks"].size(), 10U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1) << "a temporary file was left";
}

TEST(Preflight, StrictTurnsWarningsIntoExitCode1) {
  EXPECT_EQ(run_sparkops({"preflight", "--strict", "--root", machine_path("spark-full-page-cache")}).exit_code, 1);
  EXPECT_EQ(run_sparkops({"preflight", "--strict", "--only", "g3,G4", "--root", machine_path("spark-idle-healthy")})
                .exit_code,
            0);
}

TEST(Preflight, ACheckThatFoundOutNothingIsExitCode3) {
  EXPECT_EQ(run_sparkops({"preflight", "--only", "G1", "--root", machine_path("spark-uncapped-vllm")}).exit_code, 3);
}

TEST(Preflight, OnlyPrintsOnlyThose) {
  const ProgramResult result =
      run_sparkops({"preflight", "--only", "G3", "--only", "G9", "--root", machine_path("spark-idle-healthy")});
  EXPECT_THAT(result.out, HasSubstr("G3 INFO"));
  EXPECT_THAT(result.out, HasSubstr("G9 INFO"));
  EXPECT_THAT(result.out, Not(HasSubstr("G4")));
}

TEST(Preflight, VerboseShowsOrigins) {
  const ProgramResult result =
      run_sparkops({"preflight", "--verbose", "--root", machine_path("spark-full-page-cache")});
  EXPECT_THAT(result.out, HasSubstr("[read]"));
  EXPECT_THAT(result.out, HasSubstr("[derived]"));
}

TEST(Preflight, ACommandAfterTheDashesIsReadNotRun) {
  const TemporaryDirectory directory;
  const auto witness = directory.path() / "was-run";
  const ProgramResult result = run_sparkops(
      {"preflight", "--root", machine_path("spark-idle-healthy"), "--only", "G10", "--", "touch", witness.string()});
  EXPECT_FALSE(std::filesystem::exists(witness));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(Preflight, ThisMachineEndsWithinItsTimeAndSaysWhatItIs) {
  const ProgramResult result = run_sparkops({"preflight"});
  EXPECT_THAT(result.exit_code, ::testing::AnyOf(0, 1, 3)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nverdict: "));
}

}  // namespace
}  // namespace sparkops::testing
