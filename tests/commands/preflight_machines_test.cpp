// Each fixture machine, line by line: the statuses of all ten checks, the words that matter, the verdict, the exit
// code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Expected {
  std::string machine;
  std::string statuses;                                    ///< of G1 to G10, as letters: P F W S I
  std::vector<std::pair<std::string, std::string>> words;  ///< the line that starts with first contains second
  std::string verdict;                                     ///< starts with
  int exit_code;
};

/// Most machines have Ubuntu's own Python without torch; where work runs in a container beside it, the packages are
/// there (G1 SKIP).
const std::vector<Expected>& expectations() {
  static const std::vector<Expected> all{
      {"spark-idle-healthy", "PPIIIPIIII", {{"G4 ", "idle"}}, "ready", 0},
      {"spark-full-page-cache", "IIWIIPIIII", {{"G3 ", ".safetensors"}}, "ready-with-warnings (warned: G3)", 0},
      {"spark-fragmented", "IIWIIPIIII", {{"G3 ", "no free block of 32 MiB"}}, "ready-with-warnings (warned: G3)", 0},
      {"spark-wedged", "IIIFIWIIII", {{"G4 ", "power delivery is wedged"}}, "blocked (G4: power delivery is wedged", 1},
      {"spark-uncapped-vllm", "SIIIIWIIII", {{"G6 ", "no memory cap"}}, "ready-with-warnings (warned: G6;", 0},
      {"spark-capped-vllm-and-trainer", "SIIPIPIIII", {{"G6 ", "0.4"}}, "ready-with-warnings (not checked: G1)", 0},
      {"spark-ngc-container", "PPIIIPIIPI", {{"G6 ", "process list is empty"}, {"G9 ", "PyTorch"}}, "ready", 0},
      {"spark-two-node-mtu", "IIIIIPIIII", {}, "ready", 0},
      {"laptop-x86", "IIISISIIII", {}, "blocked (not a DGX Spark: x86_64 Linux without an NVIDIA GPU", 3},
      {"spark-memory-host-and-cuda", "IIIPIWIIII", {{"G6 ", "60.0 GiB"}}, "ready-with-warnings (warned: G6)", 0},
      {"spark-thermal-software",
       "IIIWIWIIII",
       {{"G4 ", "software thermal slowdown"}},
       "ready-with-warnings (warned: G4, G6)",
       0},
      {"spark-power-limited-healthy", "IIIPIWIIII", {{"G4 ", "normal"}}, "ready-with-warnings (warned: G6)", 0},
      {"spark-driver-not-loaded",
       "IIISISIIII",
       {{"G4 ", "not loaded"}},
       "blocked (the GPU does not answer: NVML: Driver Not Loaded (9)",
       1},
      {"spark-nvml-hung",
       "IIISISIIII",
       {{"G4 ", "has not returned"}},
       "blocked (the GPU does not answer: NVML call",
       1},
      {"spark-hugepages", "IIWIIPIIII", {{"G3 ", "huge pages"}}, "ready-with-warnings (warned: G3)", 0},
      {"spark-swapping", "IIWPIWIIII", {{"G3 ", "swapped"}}, "ready-with-warnings (warned: G3, G6)", 0},
  };
  return all;
}

std::string word_of(char letter) {
  switch (letter) {
    case 'P': return "PASS";
    case 'F': return "FAIL";
    case 'W': return "WARN";
    case 'S': return "SKIP";
    case 'I': return "INFO";
    default: return "no such letter";
  }
}

class PreflightMachine : public ::testing::TestWithParam<Expected> {};

TEST_P(PreflightMachine, IsJudgedLineByLine) {
  const Expected& expected = GetParam();
  const ProgramResult result = run_sparkops({"preflight", "--root", machine_path(expected.machine)});
  EXPECT_EQ(result.exit_code, expected.exit_code) << result.out << result.err;
  EXPECT_EQ(result.err, "");
  for (std::size_t i = 0; i < 10; ++i) {
    const std::string id = "G" + std::to_string(i + 1);
    const std::string line = line_after(result.out, id + " ");
    EXPECT_THAT(line, StartsWith(word_of(expected.statuses[i]) + ": ")) << id << "\n" << result.out;
  }
  for (const auto& [start, part] : expected.words) EXPECT_THAT(line_after(result.out, start), HasSubstr(part));
  EXPECT_THAT(line_after(result.out, "verdict: "), StartsWith(expected.verdict));
  EXPECT_NE(line_after(result.out, "headroom: "), "");
}

/// Instead of the bytes of the structure in a failure message.
void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.machine;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PreflightMachine, ::testing::ValuesIn(expectations()),
                         [](const ::testing::TestParamInfo<Expected>& expected) {
                           std::string name = expected.param.machine;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(PreflightText, HasTheContractsOrder) {
  const ProgramResult result = run_sparkops({"preflight", "--root", machine_path("spark-idle-healthy")});
  std::istringstream lines(result.out);
  std::string line;
  std::vector<std::string> starts;
  while (std::getline(lines, line))
    if (!line.starts_with("  ")) starts.push_back(line.substr(0, line.find_first_of(" :")));
  EXPECT_THAT(starts, ::testing::ElementsAre("box", "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10",
                                             "headroom", "verdict"));
}

TEST(PreflightTwoSparks, AnUnequalTwinWarnsOnceTensorsAreToCrossIt) {
  const std::vector<std::string> start{
      "preflight", "--root", machine_path("spark-two-node-mtu"), "--only", "G10", "--", "vllm", "serve", "m"};
  std::vector<std::string> crossing = start;
  crossing.insert(crossing.end(), {"--tensor-parallel-size", "2", "--nnodes", "2"});
  const ProgramResult result = run_sparkops(crossing);
  EXPECT_THAT(line_after(result.out, "G10 "), StartsWith("WARN: ")) << result.out;
  EXPECT_THAT(result.out, HasSubstr("1500"));
  EXPECT_THAT(line_after(run_sparkops(start).out, "G10 "), StartsWith("PASS: "));
}

TEST(PreflightLaptop, HasNoPassOnFactsItCouldNotRead) {
  const ProgramResult result = run_sparkops({"preflight", "--root", machine_path("laptop-x86")});
  EXPECT_THAT(line_after(result.out, "G4 "), StartsWith("SKIP: "));
  EXPECT_THAT(result.out, ::testing::Not(HasSubstr("G4 PASS")));
}

}  // namespace
}  // namespace sparkops::testing
