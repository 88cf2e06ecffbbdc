// `record` as a user types it, over a stand-in GPU that is found as the real one is.
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
#include "store/pid_file.h"

namespace sparkops::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class RecordCommand : public ::testing::Test {
 protected:
  RecordCommand() {
    std::string pattern = (fs::temp_directory_path() / "sparkops-record-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~RecordCommand() override {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (directory / name).string(); }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> result;
    const std::string text = content(name);
    for (const auto line : split_lines(text)) result.emplace_back(line);
    return result;
  }
  static Environment gpu(const std::string& scenario) {
    return {{"LD_LIBRARY_PATH", SPARKOPS_BUILD "/tests/fake_gpu/current"},
            {"FAKE_GPU_SCENARIO", SPARKOPS_SOURCE "/tests/fake_gpu/scenarios/" + scenario + ".txt"}};
  }
  fs::path directory;
};

constexpr const char* k_line = "20[0-9][0-9]/[01][0-9]/[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}, ";

TEST_F(RecordCommand, TheLogOfTheShellSampler) {
  const ProgramResult result = run_sparkops({"record", "0.2", at("t.log"), "--duration", "0.9"}, gpu("wedged"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Sampling every 0.2 s into " + at("t.log") + " (pid "));
  EXPECT_EQ(result.err, "");
  const auto log = lines("t.log");
  ASSERT_EQ(log.size(), 6U) << "the header, and a line at 0, 0.2, 0.4, 0.6 and 0.8 s";
  EXPECT_EQ(log[0], "timestamp,temperature.gpu,power.draw");
  for (std::size_t i = 1; i < log.size(); ++i) EXPECT_THAT(log[i], MatchesRegex(std::string(k_line) + "44, 11\\.90 W"));
  EXPECT_FALSE(fs::exists(at("t.log.pid"))) << "it ended";
}

TEST_F(RecordCommand, WithoutAGpuItSaysSoAndRecordsWhatExists) {
  const ProgramResult result =
      run_sparkops({"record", "1", at("t.log"), "--duration", "0.1", "--columns", "mem.available"},
                   {{"LD_LIBRARY_PATH", at("nothing")}});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("No GPU readings ("));
  ASSERT_EQ(lines("t.log").size(), 2U);
  EXPECT_THAT(lines("t.log")[1], MatchesRegex(std::string(k_line) + "\\[N/A\\], \\[N/A\\], [1-9][0-9]+"));
}

TEST_F(RecordCommand, AHungDriverDoesNotStopTheClock) {
  const ProgramResult result = run_sparkops({"record", "--interval", "0.25", "--json", "--duration", "3"}, gpu("hung"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::size_t read = 0, hung = 0;
  double age = 0;
  for (const auto line : split_lines(result.out)) {
    const auto sample = nlohmann::json::parse(line);
    EXPECT_TRUE(sample["memory_available_bytes"].is_number());
    if (sample["power_w"].is_number()) {
      ++read;
      continue;
    }
    ++hung;
    EXPECT_THAT(sample["unknown"]["power_w"].get<std::string>(), HasSubstr("nvmlDeviceGetPowerUsage"));
    EXPECT_GT(sample["nvml_age_ms"].get<double>(), age) << "the readings get older";
    age = sample["nvml_age_ms"].get<double>();
  }
  EXPECT_GE(read, 6U);
  EXPECT_GE(hung, 3U);
  EXPECT_GE(read + hung, 11U) << "12 or 13 samples in 3 s";
}

TEST_F(RecordCommand, ASecondRecorderEndsTheFirstAndKeepsItsLog) {
  ASSERT_EQ(run_sparkops({"record", "0.1", at("t.log"), "--background"}, gpu("idle")).exit_code, 0);
  const auto first = store::read_pid_file(at("t.log.pid"));
  ASSERT_TRUE(first);
  EXPECT_EQ(::kill(static_cast<pid_t>(first->pid), 0), 0) << "it runs on";
  const ProgramResult second = run_sparkops({"record", "10", at("t.log"), "--background"}, gpu("wedged"));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("Stopped the sampler before (pid " + std::to_string(first->pid) + ")"));
  const auto mark = store::read_pid_file(at("t.log.pid"));
  ASSERT_TRUE(mark);
  EXPECT_NE(mark->pid, first->pid);
  EXPECT_EQ(lines("t.log.1")[0], "timestamp,temperature.gpu,power.draw");
  ::kill(static_cast<pid_t>(mark->pid), SIGTERM);
  for (int i = 0; i < 300 && fs::exists(at("t.log.pid")); ++i) ::usleep(10'000);
  EXPECT_FALSE(fs::exists(at("t.log.pid")));
  ASSERT_EQ(lines("t.log").size(), 2U);
  EXPECT_THAT(lines("t.log")[1], HasSubstr("44, 11.90 W"));
}

TEST_F(RecordCommand, AProcessThatIsNoRecorderIsLeftAlone) {
  const pid_t other = ::fork();
  if (other == 0) {
    ::execlp("sleep", "sleep", "30", nullptr);
    ::_exit(127);
  }
  ::usleep(100'000);
  std::ifstream stat("/proc/" + std::to_string(other) + "/stat");
  std::string word;
  for (int field = 1; field <= 22; ++field) stat >> word;
  std::ofstream(at("t.log.pid")) << other << " " << word << "\n";
  EXPECT_EQ(run_sparkops({"record", "1", at("t.log"), "--duration", "0.1"}).exit_code, 0);
  EXPECT_EQ(::kill(other, 0), 0);
  EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "it lives";
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_F(RecordCommand, KilledAtAnyMomentEveryLineIsWhole) {
  std::mt19937 random(20261201);
  std::size_t samples = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const ProgramResult started = run_sparkops({"record", "0.1", at("t.log"), "--background"}, gpu("idle"));
    ASSERT_EQ(started.exit_code, 0) << started.err;
    ::usleep(static_cast<useconds_t>(random() % 300'000));
    const auto mark = store::read_pid_file(at("t.log.pid"));
    ASSERT_TRUE(mark);
    ::kill(static_cast<pid_t>(mark->pid), SIGKILL);
    const std::string text = content("t.log");
    if (text.empty()) continue;  // killed before the first write
    EXPECT_EQ(text.back(), '\n');
    const auto log = lines("t.log");
    EXPECT_EQ(log[0], "timestamp,temperature.gpu,power.draw");
    for (std::size_t i = 1; i < log.size(); ++i, ++samples)
      EXPECT_THAT(log[i], MatchesRegex(std::string(k_line) + "[0-9]+, [0-9.]+ W"));
  }
  EXPECT_GT(samples, 30U);
}

TEST_F(RecordCommand, MetricsForNodeExporter) {
  ASSERT_EQ(
      run_sparkops({"record", "1", at("t.log"), "--duration", "0.1", "--textfile", directory.string()}, gpu("wedged"))
          .exit_code,
      0);
  EXPECT_THAT(content("sparkops.prom"), HasSubstr("# TYPE sparkops_gpu_temperature_celsius gauge\n"
                                                  "sparkops_gpu_temperature_celsius 44\n"));
}

TEST_F(RecordCommand, RefusesWhatCannotBe) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"record", "soon"},
                                             {"record", "0.05"},
                                             {"record", "1", at("no/where.log")},
                                             {"record", "1", "--interval", "2"},
                                             {"record", "1", "--columns", "fan"},
                                             {"record", "--json", "--background"},
                                             {"record", "1", directory.string()}}) {
    const ProgramResult result = run_sparkops(words);
    EXPECT_THAT(result.exit_code, ::testing::AnyOf(2, 3)) << join(words, " ");
    EXPECT_THAT(result.err, ::testing::StartsWith("sparkops: ")) << join(words, " ");
  }
}

TEST_F(RecordCommand, AFullDiskIsSaidAndNotFatal) {
  const ProgramResult result = run_sparkops({"record", "0.2", "/dev/full", "--duration", "0.5"}, gpu("idle"));
  // Where /dev takes no pid file it says that instead: either way nothing is silent.
  EXPECT_THAT(result.err,
              ::testing::AnyOf(HasSubstr("/dev/full: No space left on device"), HasSubstr("/dev/full.pid")));
}

}  // namespace
}  // namespace sparkops::testing
