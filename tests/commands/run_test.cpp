// `run` as a user types it, with real children: output, exit codes, signals, and what lies in the run directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "base/text.h"
#include "run_program.h"
#include "store/ring_file.h"

namespace sparkops::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class RunCommand : public ::testing::Test {
 protected:
  RunCommand() {
    std::string pattern = (fs::temp_directory_path() / "sparkops-run-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~RunCommand() override {
    std::error_code ignored;
    fs::permissions(directory, fs::perms::owner_all, ignored);
    fs::remove_all(directory, ignored);
  }
  [[nodiscard]] Words words(const Words& command) const {
    Words all{"run", "--run-dir", (directory / "runs").string(), "--"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  [[nodiscard]] ProgramResult run(const Words& command, const Environment& environment = {}) const {
    return run_sparkops(words(command), environment);
  }
  [[nodiscard]] ProgramResult shell(const std::string& script) const { return run({"sh", "-c", script}); }
  /// The only run there is.
  [[nodiscard]] fs::path run_directory() const {
    for (const auto& item : fs::directory_iterator(directory / "runs")) return item.path();
    return {};
  }
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] nlohmann::json run_json() const {
    return nlohmann::json::parse(content(run_directory() / "run.json"), nullptr, false);
  }
  /// Starts it without waiting; its stderr is dropped.
  [[nodiscard]] pid_t start(const Words& command) const {
    const Words all = words(command);
    const pid_t child = ::fork();
    if (child != 0) return child;
    std::vector<char*> list{const_cast<char*>("sparkops")};
    for (const std::string& word : all) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    (void)!::freopen("/dev/null", "w", stderr);
    (void)!::freopen("/dev/null", "w", stdout);
    ::execv(SPARKOPS_PROGRAM, list.data());
    ::_exit(127);
  }
  [[nodiscard]] bool wait_for(const std::string& file_name) const {
    for (int i = 0; i < 1000; ++i, ::usleep(10'000))
      if (fs::exists(directory / file_name)) return true;
    return false;
  }
  fs::path directory;
};

TEST_F(RunCommand, OutputAndExitCodeAreTheJobsOwn) {
  const ProgramResult result = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.exit_code, 7) << result.err;
  EXPECT_EQ(result.out, "out\n") << "nothing of ours on stdout";
  EXPECT_THAT(result.err, HasSubstr("err\n"));
  EXPECT_THAT(result.err, HasSubstr("sparkops: plan unknown ("));
  EXPECT_THAT(result.err, HasSubstr("sparkops: exit 7, "));
  EXPECT_THAT(content(run_directory() / "output.log"), ::testing::AnyOf("out\nerr\n", "err\nout\n"));
}

TEST_F(RunCommand, EveryFileOfTheRunDirectory) {
  ASSERT_EQ(run({"sh", "-c", "echo one; sleep 1.3; echo two"},
                {{"LD_LIBRARY_PATH", SPARKOPS_BUILD "/tests/fake_gpu/current"},
                 {"FAKE_GPU_SCENARIO", SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/idle.txt"}})
                .exit_code,
            0);
  const fs::path run = run_directory();
  EXPECT_THAT(run.filename().string(), ::testing::MatchesRegex("20[0-9-]+-[0-9]{6}-sh"));
  const auto record = run_json();
  EXPECT_EQ(record["schema"], "sparkops.run/1");
  EXPECT_EQ(record["command"], (nlohmann::json{"sh", "-c", "echo one; sleep 1.3; echo two"}));
  EXPECT_EQ(record["end"]["exit_code"], 0);
  EXPECT_EQ(record["end"]["output_bytes"], 8);
  EXPECT_EQ(record["end"]["output_lost_bytes"], 0);
  EXPECT_TRUE(record["ended_at"].is_string());
  EXPECT_GT(record["end"]["lowest_available_bytes"].get<std::int64_t>(), 0);
  EXPECT_THAT(record["gpu"].get<std::string>(), HasSubstr("GB10"));

  EXPECT_EQ(content(run / "output.log"), "one\ntwo\n");
  const std::string index = content(run / "output.idx");
  ASSERT_EQ(split_lines(index).size(), 2U) << index;
  EXPECT_TRUE(split_lines(index)[0].starts_with("0 "));
  EXPECT_TRUE(split_lines(index)[1].starts_with("4 "));
  const std::string thermal = content(run / "thermal.csv");
  EXPECT_THAT(thermal, ::testing::StartsWith("timestamp,temperature.gpu,power.draw\n20"));
  EXPECT_THAT(thermal, HasSubstr(" W\n"));
  const std::string samples = content(run / "samples.csv");
  EXPECT_GE(split_lines(samples).size(), 3U) << "a header and two seconds";
  for (const auto line : split_lines(samples)) EXPECT_EQ(split(line, ',').size(), 19U) << line;
  EXPECT_TRUE(nlohmann::json::parse(content(run / "env-report.json"))["checks"].contains("G10"));
  EXPECT_TRUE(fs::exists(run / "events.jsonl"));
  const auto ring = store::parse_ring(content(run / "ring.bin"));
  ASSERT_GE(ring.size(), 2U);
  EXPECT_THAT(samples, HasSubstr(ring[0].text)) << "the ring holds the same samples";
}

TEST_F(RunCommand, ExitCodesOfWhatDoesNotStartAndOfSignals) {
  EXPECT_EQ(run({"/no/such/program"}).exit_code, 127);
  EXPECT_EQ(run({"no-such-program-anywhere"}).exit_code, 127);
  EXPECT_EQ(run({directory.string()}).exit_code, 126) << "a directory";
  std::ofstream(directory / "plain") << "no program";
  EXPECT_EQ(run({(directory / "plain").string()}).exit_code, 126) << "not executable";
  const ProgramResult killed = shell("kill -KILL $$");
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  EXPECT_THAT(killed.err, HasSubstr("ended by signal 9 (Killed)"));
  EXPECT_EQ(shell("kill -SEGV $$").exit_code, 128 + SIGSEGV);
  EXPECT_EQ(run_sparkops({"run"}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"run", "--"}).exit_code, 2);
  EXPECT_EQ(run_sparkops({"run", "--pty", "--", "true"}).exit_code, 2) << "no terminal on stdin";
}

TEST_F(RunCommand, ABlockedBoxIsNotStartedAndForceStarts) {
  const Environment wedged{{"LD_LIBRARY_PATH", SPARKOPS_BUILD "/tests/fake_gpu/current"},
                           {"FAKE_GPU_SCENARIO", SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/wedged.txt"}};
  const ProgramResult refused = run({"touch", (directory / "started").string()}, wedged);
  EXPECT_EQ(refused.exit_code, 91) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("wedged"));
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_FALSE(fs::exists(directory / "started"));
  EXPECT_FALSE(fs::exists(directory / "runs")) << "nothing ran, nothing is recorded";
  Words forced = words({"true"});
  forced.insert(forced.begin() + 1, "--force");
  EXPECT_EQ(run_sparkops(forced, wedged).exit_code, 0);
}

TEST_F(RunCommand, SignalsReachTheJobOnce) {
  const std::string log = (directory / "log").string();
  const pid_t supervisor = start({"sh", "-c",
                                  "trap 'echo term >> " + log + "; exit 3' TERM; touch " +
                                      (directory / "ready").string() + "; while :; do sleep 0.05; done"});
  ASSERT_TRUE(wait_for("ready"));
  ::kill(supervisor, SIGTERM);
  int status = 0;
  ::waitpid(supervisor, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(content(log), "term\n");
  EXPECT_EQ(run_json()["end"]["exit_code"], 3);
}

TEST_F(RunCommand, TheJobGetsTheSignalsItWouldHaveHad) {
  // Blocked or ignored signals that leak into a job break timeouts and pipelines in it.
  const ProgramResult result = run({"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"});
  EXPECT_THAT(result.out, HasSubstr("SigBlk:\t0000000000000000\n"));
  const ProgramResult plain = run({"sh", "-c", "yes | head -n 1"});
  EXPECT_EQ(plain.out, "y\n");
  EXPECT_EQ(plain.err.find("Broken pipe"), std::string::npos);
}

TEST_F(RunCommand, OneOrderWhereStdoutAndStderrAreOne) {
  const std::string both = (directory / "both").string();
  const std::string script = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done";
  const std::string line = std::string(SPARKOPS_PROGRAM) + " run --run-dir " + (directory / "runs").string() +
                           " -- sh -c '" + script + "' > " + both + " 2>&1 < /dev/null";
  ASSERT_EQ(std::system(line.c_str()), 0);
  std::string expected;
  for (int i = 1; i <= 9; ++i) expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
  EXPECT_THAT(content(both), HasSubstr(expected));
  EXPECT_EQ(content(run_directory() / "output.log"), expected);
}

TEST_F(RunCommand, AReaderThatGoesAwayEndsTheJobAsItWouldWithoutUs) {
  const std::string line = std::string(SPARKOPS_PROGRAM) + " run --run-dir " + (directory / "runs").string() +
                           " -- yes 2>/dev/null < /dev/null | head -n 2 > " + (directory / "two").string();
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(content(directory / "two"), "y\ny\n");
  EXPECT_EQ(run_json()["end"]["signal"], SIGPIPE);
}

TEST_F(RunCommand, OutputOfAProcessThatStaysBehindIsNotWaitedForForEver) {
  const auto begin = std::chrono::steady_clock::now();
  const ProgramResult result = shell("echo out; sleep 20 &");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(12));
}

TEST_F(RunCommand, ALargeFastOutputIsWhole) {
  constexpr std::size_t k_bytes = std::size_t{200} << 20;
  const ProgramResult result = shell("head -c " + std::to_string(k_bytes) + " /dev/zero | tr '\\0' 'x'; echo");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.size(), k_bytes + 1);
  const auto end = run_json()["end"];
  EXPECT_EQ(end["output_bytes"], k_bytes + 1);
  EXPECT_EQ(end["output_lost_bytes"].get<std::uintmax_t>() + fs::file_size(run_directory() / "output.log"), k_bytes + 1)
      << "what the disk could not take is counted";
}

TEST_F(RunCommand, WithoutARunDirectoryTheJobRunsAllTheSame) {
  std::ofstream(directory / "runs") << "a file in the way";
  const ProgramResult result = shell("echo out; exit 4");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_THAT(result.err, HasSubstr("this run is not recorded: "));
}

TEST_F(RunCommand, WhatTheDriverDoesMeanwhileIsToldAndWritten) {
  // A driver that stops answering two seconds after the job has begun, and a job that does not care.
  const ProgramResult result =
      run({"sleep", "11"}, {{"LD_LIBRARY_PATH", SPARKOPS_BUILD "/tests/fake_gpu/current"},
                            {"FAKE_GPU_SCENARIO", SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/hung.txt"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the GPU's driver has not answered for "));
  const std::string events = content(run_directory() / "events.jsonl");
  ASSERT_FALSE(split_lines(events).empty());
  bool found = false;
  for (const auto line : split_lines(events)) {
    const auto event = nlohmann::json::parse(line);
    EXPECT_EQ(event["schema"], "sparkops.event/1");
    found = found || event["kind"] == "gpu-unresponsive";
  }
  EXPECT_TRUE(found) << events;
  const std::string samples = content(run_directory() / "samples.csv");
  EXPECT_GE(split_lines(samples).size(), 11U) << "the clock went on";
}

TEST_F(RunCommand, KilledAtAnyMomentEveryFileParses) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 8; ++trial) {
    const pid_t supervisor = start({"sh", "-c", "while :; do echo line; sleep 0.01; done"});
    ::usleep(static_cast<useconds_t>(random() % 2'500'000));
    ::kill(supervisor, SIGKILL);
    ::waitpid(supervisor, nullptr, 0);
  }
  std::size_t runs = 0;
  if (fs::exists(directory / "runs"))
    for (const auto& item : fs::directory_iterator(directory / "runs")) {
      ++runs;
      const std::string json = content(item.path() / "run.json");
      if (!json.empty()) {
        EXPECT_FALSE(nlohmann::json::parse(json)["started_at"].is_null());
      }
      EXPECT_FALSE(json.find("ended_at") != std::string::npos);
      for (const char* const name : {"thermal.csv", "samples.csv", "events.jsonl", "output.idx"}) {
        const std::string text = content(item.path() / name);
        EXPECT_TRUE(text.empty() || text.back() == '\n') << name;
      }
      const std::string samples = content(item.path() / "samples.csv");
      for (const auto line : split_lines(samples)) EXPECT_EQ(split(line, ',').size(), 19U) << line;
      (void)store::parse_ring(content(item.path() / "ring.bin"));
    }
  EXPECT_GE(runs, 4U);
}

}  // namespace
}  // namespace sparkops::testing
