// Which Python a preflight looks at, as the command line tells it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string temporary(const std::string& name, const std::string& content) {
  const auto path = std::filesystem::temp_directory_path() / name;
  std::ofstream(path) << content;
  return path.string();
}

TEST(PreflightSoftware, JudgesAListForASparkOnAnyMachine) {
  const std::string list = temporary("sparkops-freeze.txt", "torch==2.9.1+cpu\nvllm==0.13.0\n");
  const ProgramResult result = run_sparkops({"preflight", "--packages", list});
  EXPECT_THAT(line_after(result.out, "G1 "), StartsWith("FAIL: torch 2.9.1+cpu is built without CUDA")) << result.err;
  EXPECT_THAT(line_after(result.out, "G3 "), "") << "only what the list can answer runs";
  EXPECT_EQ(result.exit_code, 1);
  std::filesystem::remove(list);
}

TEST(PreflightSoftware, WorkInAnImageIsNotJudgedByThePythonAtHand) {
  const ProgramResult result =
      run_sparkops({"preflight", "--root", machine_path("spark-idle-healthy"), "--only", "G1,G2", "--", "docker", "run",
                    "--gpus", "all", "nvcr.io/nvidia/pytorch:25.11-py3", "python", "train.py"});
  EXPECT_THAT(line_after(result.out, "G1 "), HasSubstr("runs in the image nvcr.io/nvidia/pytorch:25.11-py3"));
  EXPECT_THAT(line_after(result.out, "G1 "), StartsWith("SKIP: "));
}

TEST(PreflightSoftware, AServerWithoutPythonIsNotJudgedByIt) {
  const ProgramResult result = run_sparkops(
      {"preflight", "--root", machine_path("spark-idle-healthy"), "--only", "G1", "--", "ollama", "serve"});
  EXPECT_THAT(line_after(result.out, "G1 "), HasSubstr("runs no Python"));
}

TEST(PreflightSoftware, WhatIsNotThereIsAUsageError) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--packages", "/nowhere/x.txt"},
                                             {"--env", "/nowhere"},
                                             {"--python", "/nowhere/python3"},
                                             {"--pid", "0"},
                                             {"--pid", "many"},
                                             {"--env", "/", "--python", "/bin/sh"}}) {
    std::vector<std::string> all{"preflight", "--only", "G1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(run_sparkops(all).exit_code, 2) << arguments[0] << " " << arguments[1];
  }
}

TEST(Setup, PrintsACommandForEveryStepAndComparesWhenAsked) {
  const std::string healthy = machine_path("spark-idle-healthy");
  const ProgramResult recipe = run_sparkops({"setup", "--for", "unsloth", "--root", healthy});
  EXPECT_EQ(recipe.exit_code, 0) << recipe.err;
  EXPECT_THAT(recipe.out, HasSubstr("docker pull unsloth/unsloth:dgxspark-latest"));
  EXPECT_THAT(recipe.out, HasSubstr("pip install --no-deps unsloth==2026.7.2"));
  EXPECT_EQ(run_sparkops({"setup", "--for", "trl", "--check", "--root", healthy}).exit_code, 0);
  const ProgramResult differs = run_sparkops({"setup", "--for", "unsloth", "--check", "--root", healthy});
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_THAT(differs.out, HasSubstr("not installed"));
  EXPECT_EQ(run_sparkops({"setup", "--for", "sglang", "--check", "--root", healthy}).exit_code, 3);
  EXPECT_EQ(run_sparkops({"setup", "--for", "mainframes"}).exit_code, 2);
}

}  // namespace
}  // namespace sparkops::testing
