#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"

/// What G6 says when it could not look: never that nobody is there.
namespace sparkops::verdicts {
namespace {

using ::testing::AllOf;
using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;
using ::testing::Not;

Finding g6(const facts::Machine& machine) {
  return check_g06_contention(facts_of(machine));
}

void change_sample(facts::Machine& machine, void (*function)(facts::GpuSample&)) {
  change(machine.gpus, [function](facts::GpuInventory& inventory) { function(inventory.gpus[0].samples.back()); });
}

void put_inside_container(facts::Machine& machine) {
  change(machine.container, [](facts::Container& container) { container.inside = as_read(true); });
}

facts::Process server(std::int64_t pid, const std::string& name) {
  facts::Process process;
  process.pid = pid;
  process.name = as_read(std::string(name));
  process.state = as_read(std::string("S"));
  process.command_line = unknown("proc/70/cmdline: not a regular file");
  process.environment = unknown("proc/70/environ: permission denied");
  process.gpu_memory = unknown("not in NVML's list of processes");
  return process;
}

TEST(G06Unseen, AHealthyIdleMachinePasses) {
  EXPECT_EQ(g6(healthy_spark()).status, Status::pass);
}

TEST(G06Unseen, AProcessTableThatCouldNotBeListedIsNoEmptyOne) {
  facts::Machine machine = healthy_spark();
  change(machine.processes, [](facts::ProcessTable& table) {
    table.process_count = unknown("proc: permission denied");
    table.gpu_pids_without_process = unknown("proc: permission denied");
  });
  Finding finding = g6(machine);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, HasSubstr("proc: permission denied"));
  // The GPU's own list still names who is there.
  change_sample(machine, [](facts::GpuSample& sample) {
    sample.processes =
        as_read(std::vector<facts::GpuProcess>{{4242, facts::GpuProcess::Kind::compute, as_read(gibibytes(30))}});
  });
  finding = g6(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, AllOf(HasSubstr("pid 4242"), HasSubstr("30.0 GiB")));
  machine.processes = unknown("no answer within 3 s");
  EXPECT_EQ(g6(machine).status, Status::warn);
}

TEST(G06Unseen, ProcessesThatNobodyCouldLookAtLeaveItOpen) {
  facts::Machine machine = healthy_spark();
  change(machine.processes, [](facts::ProcessTable& table) { table.not_looked_at = 3; });
  EXPECT_EQ(g6(machine).status, Status::skip);
  EXPECT_THAT(g6(machine).headline, HasSubstr("3 of 312 processes could not be looked at"));
  machine = healthy_spark();
  change(machine.processes, [](facts::ProcessTable& table) { table.others_are_hidden = true; });
  EXPECT_EQ(g6(machine).status, Status::skip);
  EXPECT_THAT(g6(machine).headline, HasSubstr("hidepid"));
}

TEST(G06Unseen, AServerWhoseCommandLineIsUnreadableHasAnUnknownCap) {
  facts::Machine machine = healthy_spark();
  change(machine.processes, [](facts::ProcessTable& table) { table.processes = {server(70, "vllm")}; });
  const Finding finding = g6(machine);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, AllOf(HasSubstr("cap unknown (proc/70/cmdline: not a regular file)"),
                                      Not(HasSubstr("has no memory cap")), Not(HasSubstr("takes what it wants"))));
}

TEST(G06Unseen, WhatAServerWithAnUnknownCapHoldsIsSaid) {
  facts::Machine machine = healthy_spark();
  change_sample(machine, [](facts::GpuSample& sample) {
    sample.processes =
        as_read(std::vector<facts::GpuProcess>{{70, facts::GpuProcess::Kind::compute, as_read(gibibytes(20))}});
  });
  change(machine.processes, [](facts::ProcessTable& table) {
    facts::Process ollama = server(70, "ollama");
    ollama.command_line = as_read(std::vector<std::string>{"ollama", "serve"});
    ollama.on_gpu = true;
    ollama.gpu_memory = as_read(gibibytes(20));
    table.processes = {ollama};
  });
  const Finding finding = g6(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, AllOf(HasSubstr("holds 20.0 GiB, cap unknown (proc/70/environ: permission denied)"),
                                      Not(HasSubstr("takes what it wants"))));
}

TEST(G06Unseen, AnIdleServerThatLoadsOnDemandPassesWhateverItsCap) {
  facts::Machine machine = healthy_spark();
  change(machine.processes, [](facts::ProcessTable& table) {
    facts::Process ollama = server(70, "ollama");
    ollama.command_line = as_read(std::vector<std::string>{"ollama", "serve"});
    table.processes = {ollama};
  });
  EXPECT_EQ(g6(machine).status, Status::pass);
  EXPECT_THAT(g6(machine).headline, HasSubstr("cap unknown"));
}

TEST(G06Unseen, AListThatFailedInsideAContainerIsNoEmptyOne) {
  facts::Machine machine = healthy_spark();
  put_inside_container(machine);
  change_sample(machine, [](facts::GpuSample& sample) { sample.processes = unknown("NVML: code 999"); });
  EXPECT_EQ(g6(machine).status, Status::skip);
  EXPECT_THAT(g6(machine).headline, AllOf(HasSubstr("code 999"), Not(HasSubstr("empty"))));
}

TEST(G06Unseen, AnEmptyListInsideAContainerPassesOnlyWithAnIdleGpuAndFreeMemory) {
  facts::Machine machine = healthy_spark();
  put_inside_container(machine);
  EXPECT_EQ(g6(machine).status, Status::pass) << g6(machine).headline;

  facts::Machine busy = machine;
  change_sample(busy, [](facts::GpuSample& sample) { sample.utilization = as_read(Percent{80}); });
  EXPECT_EQ(g6(busy).status, Status::warn);
  EXPECT_THAT(g6(busy).headline, HasSubstr("somebody outside this container computes on the GPU"));

  facts::Machine unknown_load = machine;
  change_sample(unknown_load, [](facts::GpuSample& sample) { sample.utilization = unknown("NVML: code 3"); });
  EXPECT_EQ(g6(unknown_load).status, Status::skip);
  EXPECT_THAT(g6(unknown_load).headline, HasSubstr("NVML: code 3"));

  facts::Machine full = machine;
  change(full.memory, [](facts::Memory& memory) { memory.info.available = as_read(gibibytes(40)); });
  EXPECT_EQ(g6(full).status, Status::warn);
  EXPECT_THAT(g6(full).headline, HasSubstr("cannot be seen by whom"));
}

TEST(G06Unseen, AWorkloadDoesNotHideWhoIsOutside) {
  facts::Machine machine = healthy_spark();
  put_inside_container(machine);
  change_sample(machine, [](facts::GpuSample& sample) { sample.utilization = as_read(Percent{95}); });
  const facts::Workload workload = facts::read_command({"vllm", "serve", "m", "--gpu-memory-utilization", "0.4"});
  PreflightFacts facts = facts_of(machine);
  facts.workload = &workload;
  EXPECT_EQ(check_g06_contention(facts).status, Status::warn);
  change_sample(machine, [](facts::GpuSample& sample) { sample.processes = unknown("no answer in time"); });
  EXPECT_EQ(check_g06_contention(facts).status, Status::skip);
}

TEST(G06Unseen, PidsOutsideTheContainerAreNamedWithTheirBytes) {
  facts::Machine machine = healthy_spark();
  put_inside_container(machine);
  change_sample(machine, [](facts::GpuSample& sample) {
    sample.processes =
        as_read(std::vector<facts::GpuProcess>{{4242, facts::GpuProcess::Kind::compute, as_read(gibibytes(30))},
                                               {50, facts::GpuProcess::Kind::graphics, as_read(mebibytes(80))}});
  });
  change(machine.processes, [](facts::ProcessTable& table) {
    table.gpu_pids_without_process = as_derived(std::vector<std::int64_t>{50, 4242});
  });
  const Finding finding = g6(machine);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline,
              AllOf(HasSubstr("pid 4242 outside this container"), HasSubstr("30"), Not(HasSubstr("pid 50"))));
}

}  // namespace
}  // namespace sparkops::verdicts
