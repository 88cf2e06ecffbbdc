#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"
#include "base/text.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;

facts::Process process(std::int64_t pid, std::vector<std::string> command, Bytes on_gpu) {
  facts::Process made;
  made.pid = pid;
  made.parent = 1;
  made.command_line = as_read(std::move(command));
  made.state = as_read(std::string("S"));
  made.on_gpu = true;
  made.gpu_memory = as_read(Bytes(on_gpu));
  return made;
}

Finding judged_for_gb10(const facts::Workload& workload, const std::string& check) {
  const facts::Machine machine;
  PreflightFacts facts = facts_of(machine);
  facts.judged = JudgedPlatform::gb10;
  facts.workload = &workload;
  return check == "G6" ? check_g06_contention(facts) : check_g10_parallelism(facts);
}

/// A command judged on a machine with this much available.
Finding starting(const std::string& command, Bytes available, std::vector<facts::Process> processes = {},
                 std::int64_t huge_pages = 0) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [&](facts::Memory& memory) {
    memory.info.available = as_read(Bytes(available));
    memory.info.huge_pages_total = memory.info.huge_pages_free = as_read(std::int64_t{huge_pages});
  });
  facts::ProcessTable table;
  table.process_count = as_read(std::int64_t{300});
  table.processes = std::move(processes);
  machine.processes = as_read(std::move(table));
  std::vector<std::string> words;
  for (const std::string_view word : split_words(command)) words.emplace_back(word);
  const facts::Workload workload = facts::read_command(words);
  PreflightFacts facts = facts_of(machine);
  facts.workload = &workload;
  return check_g06_contention(facts);
}

std::string first_fix(const Finding& finding) {
  return finding.fixes.empty() ? "" : finding.fixes.front().instruction;
}

TEST(G06, AClaimAboveWhatAFlushWouldGiveFails) {
  const std::string command = "vllm serve m --gpu-memory-utilization 0.95";
  const Finding finding = starting(command, gibibytes(110));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline,
              HasSubstr("claims 115.5 GiB, 110.0 GiB are available even after a flush: vLLM refuses"));
  EXPECT_EQ(starting(command, gibibytes(118)).status, Status::warn) << "it starts, but nothing fits beside it";
  EXPECT_EQ(starting("vllm serve m", gibibytes(100)).status, Status::fail) << "the default is a claim too";
  EXPECT_NE(starting("python -m sglang.launch_server --mem-fraction-static 0.7", gibibytes(60)).status, Status::fail)
      << "SGLang takes its fraction of what it finds";
}

TEST(G06, TheRuleOfHugePagesDecidesWhatIsAvailable) {
  constexpr std::int64_t k_pages = 5 * 1024;  // of 2 MiB: 10 GiB
  const Finding finding = starting("vllm serve m --gpu-memory-utilization 0.3", gibibytes(100), {}, k_pages);
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("10.0 GiB are available even after a flush (the free huge pages"));
}

TEST(G06, WhatRunsIsNotCountedTwice) {
  const auto server = process(50, {"vllm", "serve", "a", "--gpu-memory-utilization", "0.3"}, gibibytes(36));
  const Finding finding = starting("vllm serve b --gpu-memory-utilization 0.4", gibibytes(80), {server});
  EXPECT_EQ(finding.status, Status::pass) << finding.headline;
}

TEST(G06, TheFixHoldsWhatTheModelNeeds) {
  EXPECT_THAT(
      first_fix(starting("vllm serve m", gibibytes(116))),
      HasSubstr("--gpu-memory-utilization 0.4 (0.4 of the pool is 48.6 GiB: it must hold weights and KV cache)"));
  EXPECT_THAT(first_fix(starting("vllm serve Qwen/Qwen3-32B", gibibytes(116))),
              HasSubstr("--gpu-memory-utilization 0.6 "));
  EXPECT_THAT(first_fix(starting("vllm serve Qwen/Qwen3-30B-A3B-FP8", gibibytes(116))),
              HasSubstr("--gpu-memory-utilization 0.4 "));
  EXPECT_THAT(first_fix(starting("vllm serve Llama-3.3-70B", gibibytes(120))), HasSubstr("cannot share the box"));
}

TEST(G06, TheFixNeverProposesWhatIsSet) {
  const auto trainer = process(60, {"python", "train.py"}, gibibytes(60));
  const Finding finding = starting("vllm serve m --gpu-memory-utilization 0.35", gibibytes(55), {trainer});
  ASSERT_FALSE(finding.fixes.empty()) << finding.headline;
  for (const Fix& fix : finding.fixes) {
    EXPECT_THAT(fix.instruction, ::testing::Not(HasSubstr("utilization 0.35")));
    EXPECT_THAT(fix.instruction, ::testing::Not(HasSubstr("utilization 0.4")));
  }
}

TEST(G06, TheLargestUncappedClaimOfTheWorkloadComesFirst) {
  const auto server = process(50, {"vllm", "serve", "a"}, gibibytes(20));
  const Finding finding = starting("vllm serve b", gibibytes(95), {server});
  ASSERT_EQ(finding.fixes.size(), 2U) << finding.headline;
  EXPECT_THAT(finding.fixes[0].instruction, HasSubstr("start vLLM (the command) with --gpu-memory-utilization 0.35"));
  EXPECT_THAT(finding.fixes[1].instruction,
              HasSubstr("restart running vLLM (pid 50) with --gpu-memory-utilization 0.4"));
  EXPECT_THAT(finding.headline,
              HasSubstr("running vLLM (pid 50) 112 GiB and vLLM (the command) 112 GiB claim 224 GiB"));
}

std::string all_evidence(const Finding& finding) {
  std::string text;
  for (const Evidence& evidence : finding.evidence) text += evidence.reading + "\n";
  return text;
}

TEST(G06, ACommandThatIsNotKnownIsCalledSo) {
  EXPECT_THAT(all_evidence(starting("foo bar", gibibytes(116))), HasSubstr("foo is not known to sparkops"));
  const Finding compose = starting("docker compose up", gibibytes(116));
  EXPECT_EQ(compose.status, Status::skip);
  EXPECT_THAT(compose.headline, HasSubstr("no compose.yaml or docker-compose.yml here"));
}

TEST(G06, TheModelThatOllamaRunLoadsIsOllamas) {
  const Finding finding = starting("ollama run llama3.1:70b", gibibytes(116));
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("Ollama (the command)"));
}

TEST(G06, FilesThatWereReadAreEvidence) {
  facts::Workload workload;
  workload.files = {"b.env"};
  EXPECT_THAT(all_evidence(judged_for_gb10(workload, "G6")), HasSubstr("read: b.env"));
  EXPECT_THAT(all_evidence(judged_for_gb10(workload, "G10")), HasSubstr("read: b.env"));
}

TEST(G10, ACommandThatIsNotKnownIsNotApplicable) {
  const Finding finding = judged_for_gb10(facts::read_command({"foo", "bar"}), "G10");
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("not applicable (foo is not known to sparkops"));
  EXPECT_THAT(finding.headline, HasSubstr("nothing in it names several boxes"));
  const Finding compose = judged_for_gb10(facts::read_command({"docker", "compose", "up"}), "G10");
  EXPECT_EQ(compose.status, Status::skip);
  EXPECT_THAT(compose.headline, HasSubstr("no compose.yaml"));
}

}  // namespace
}  // namespace sparkops::verdicts
