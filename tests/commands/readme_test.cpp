#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "run_program.h"

namespace sparkops {
namespace {

/// The console blocks of the README: the words after "./run", and what is shown as their output.
struct ShownRun {
  std::vector<std::string> arguments;
  std::string output;
};

std::vector<ShownRun> shown_runs(const std::string& text) {
  std::vector<ShownRun> runs;
  bool inside = false;
  for (const auto line : split_lines(text)) {
    if (line == "```console" || line == "```") {
      inside = line == "```console";
      continue;
    }
    if (!inside) continue;
    constexpr std::string_view k_prompt = "$ ./run ";
    if (line.starts_with(k_prompt)) {
      ShownRun run;
      for (const auto word : split_words(line.substr(k_prompt.size()))) {
        const bool is_fixture = word.starts_with("tests/");
        run.arguments.push_back((is_fixture ? SPARKOPS_SOURCE "/" : "") + std::string(word));
      }
      runs.push_back(std::move(run));
    } else if (!runs.empty()) {
      runs.back().output += std::string(line) + '\n';
    }
  }
  return runs;
}

TEST(Readme, ShowsWhatTheProgramPrints) {
  std::ifstream file(SPARKOPS_SOURCE "/README.md");
  std::stringstream text;
  text << file.rdbuf();
  const auto runs = shown_runs(text.str());
  ASSERT_FALSE(runs.empty());
  for (const auto& run : runs)
    EXPECT_EQ(sparkops::testing::run_sparkops(run.arguments).out, run.output) << join(run.arguments, " ");
}

}  // namespace
}  // namespace sparkops
