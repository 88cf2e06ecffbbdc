// The command as a user types it: what it prints, its exit codes, and that it never overwrites.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/quantities.h"
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

  static std::string size_of(const std::string& path) {
    return format_size({static_cast<std::int64_t>(fs::file_size(path))});
  }

  fs::path directory;
};

TEST_F(CaptureCommand, ThisMachineIsCapturedAndJudgedAsItself) {
  const ProgramResult captured = run_sparkops({"capture", at("this.machine"), "--seconds", "0.1"});
  ASSERT_EQ(captured.exit_code, 0) << captured.err;
  EXPECT_THAT(captured.out, HasSubstr("captured "));
  EXPECT_THAT(captured.out, HasSubstr("left out: "));
  EXPECT_EQ(captured.err, "sparkops: wrote " + at("this.machine") + " (" + size_of(at("this.machine")) + ")\n")
      << "and no progress, which is for terminals";
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

TEST_F(CaptureCommand, ATreeIsSaidToBeOneAndWhy) {
  const std::string original = machine_path("spark-idle-healthy");
  const ProgramResult tree = run_sparkops({"capture", at("report"), "--root", original, "--json"});
  ASSERT_EQ(tree.exit_code, 0) << tree.err;
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
  for (const auto& item : fs::recursive_directory_iterator(at("report"))) {
    if (item.is_symlink() || !item.is_regular_file()) continue;  // a link to itself has no status
    ++files;
    bytes += item.file_size();
  }
  EXPECT_EQ(tree.err,
            "sparkops: wrote a directory tree, because the name does not end in .machine (that would be one "
            "file): " +
                at("report") + " (" + std::to_string(files) + " files, " +
                format_size({static_cast<std::int64_t>(bytes)}) + ")\n");
  EXPECT_EQ(nlohmann::json::parse(tree.out)["schema"], "sparkops.capture/1");
  const ProgramResult asked_for = run_sparkops({"capture", at("asked/"), "--root", original});
  EXPECT_THAT(asked_for.err, ::testing::StartsWith("sparkops: wrote a directory tree: " + at("asked") + " ("));
}

/// What preflight says about a machine, without the paths of the capture itself.
nlohmann::json checks_of(const std::string& machine) {
  const ProgramResult result = run_sparkops({"preflight", "--root", machine, "--json"});
  std::string text = result.out;
  for (std::size_t found = text.find(machine); found != std::string::npos; found = text.find(machine, found))
    text.replace(found, machine.size(), "MACHINE");
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << machine << ": " << result.out << result.err;
  return document;
}

TEST_F(CaptureCommand, EveryFixtureMachineIsJudgedTheSameAfterwards) {
  std::size_t machines = 0, in_containers = 0;
  for (const auto& item : fs::directory_iterator(SPARKOPS_FIXTURES "/machines")) {
    if (item.path().extension() != ".machine") continue;
    const std::string original = item.path().string(), copy = at(item.path().filename().string());
    const ProgramResult captured = run_sparkops({"capture", "--root", original, copy});
    ASSERT_EQ(captured.exit_code, 0) << original << ": " << captured.err;
    const nlohmann::json before = checks_of(original), after = checks_of(copy);
    ASSERT_EQ(before["checks"].size(), 10U) << original;
    EXPECT_EQ(after, before) << original << "\n" << nlohmann::json::diff(before, after).dump(1);
    ++machines;
    if (before["checks"].dump().find("container 4f1d4f1d4f1d") != std::string::npos) ++in_containers;
  }
  EXPECT_GE(machines, 16U);
  EXPECT_GE(in_containers, 2U) << "machines whose server runs in a container, which must be told again";
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
  EXPECT_EQ(run_sparkops({"capture", at("a.machine"), "--root", at("taken.machine")}).exit_code, 2) << "not a capture";
  EXPECT_FALSE(fs::exists(at("a.machine")));
}

}  // namespace
}  // namespace sparkops::testing
