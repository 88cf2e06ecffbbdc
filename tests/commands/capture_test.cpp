// The command as a user types it: what it prints, its exit codes, and that it never overwrites.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sparkops::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CaptureCommand : public ::testing::Test {
 protected:
  CaptureCommand() {
    std::string pattern = (fs::temp_directory_path() / "sparkops-capture-command-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~CaptureCommand() override {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (directory / name).string(); }

  fs::path directory;
};

TEST_F(CaptureCommand, ThisMachineIsCapturedAndJudgedAsItself) {
  const ProgramResult captured = run_sparkops({"capture", at("this.machine"), "--seconds", "0.1"});
  ASSERT_EQ(captured.exit_code, 0) << captured.err;
  EXPECT_THAT(captured.out, HasSubstr("captured "));
  EXPECT_THAT(captured.out, HasSubstr("left out: "));
  EXPECT_EQ(captured.err, "") << "progress is for terminals";
  const ProgramResult live = run_sparkops({"preflight", "--settle", "0"});
  const ProgramResult read_back = run_sparkops({"preflight", "--root", at("this.machine")});
  EXPECT_EQ(read_back.exit_code, live.exit_code) << read_back.out;
  EXPECT_EQ(line_after(read_back.out, "box: "), line_after(live.out, "box: "));
  EXPECT_EQ(line_after(read_back.out, "G9 "), line_after(live.out, "G9 "));
}

TEST_F(CaptureCommand, ACaptureOfACaptureIsTheSameMachine) {
  const std::string original = machine_path("spark-wedged");
  const ProgramResult captured = run_sparkops({"capture", at("copy.machine"), "--root", original, "--json"});
  ASSERT_EQ(captured.exit_code, 0) << captured.err;
  EXPECT_EQ(nlohmann::json::parse(captured.out)["schema"], "sparkops.capture/1");
  const ProgramResult first = run_sparkops({"preflight", "--root", original});
  const ProgramResult second = run_sparkops({"preflight", "--root", at("copy.machine")});
  EXPECT_EQ(second.out, first.out);
  const ProgramResult as_tree = run_sparkops({"capture", at("tree/"), "--root", original});
  ASSERT_EQ(as_tree.exit_code, 0) << as_tree.err;
  EXPECT_EQ(run_sparkops({"preflight", "--root", at("tree")}).out, first.out);
}

TEST_F(CaptureCommand, RefusesWithoutWaiting) {
  std::ofstream(at("taken.machine")) << "mine";
  const ProgramResult taken = run_sparkops({"capture", at("taken.machine"), "--seconds", "300"});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.err, HasSubstr("taken.machine: exists already"));
  EXPECT_EQ(fs::file_size(at("taken.machine")), 4U);
  EXPECT_EQ(run_sparkops({"capture", at("no/where.machine"), "--seconds", "300"}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"capture"}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"capture", at("a.machine"), at("b.machine")}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"capture", at("a.machine"), "--seconds", "soon"}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"capture", at("a.machine"), "--seconds", "2h"}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"capture", at("a.machine"), "--root", at("taken.machine")}).exit_code, 3) << "not a capture";
  EXPECT_FALSE(fs::exists(at("a.machine")));
}

}  // namespace
}  // namespace sparkops::testing
