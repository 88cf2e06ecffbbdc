#include "verdicts/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::busy_samples;
using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;

TEST(Preflight, TheRegistryHoldsTheTenInOrder) {
  std::vector<std::string> ids;
  for (const GotchaCheck& check : gotcha_checks()) ids.emplace_back(check.id);
  EXPECT_THAT(ids, ::testing::ElementsAre("G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10"));
}

TEST(Preflight, EachFindingCarriesItsOwnNumber) {
  const facts::Machine machine = healthy_spark();
  const PreflightResult result = run_preflight(facts_of(machine), {});
  ASSERT_EQ(result.findings.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(result.findings[i].id, "G" + std::to_string(i + 1));
}

TEST(Preflight, AFailBlocks) {
  facts::Machine machine = healthy_spark();
  change(machine.gpus, [](facts::GpuInventory& inventory) { inventory.gpus[0].samples = busy_samples(6, 507, 12); });
  const PreflightResult result = run_preflight(facts_of(machine), {"G4"});
  EXPECT_EQ(result.verdict.readiness, Readiness::blocked);
  EXPECT_THAT(to_string(result.verdict), ::testing::StartsWith("blocked (G4: power delivery is wedged"));
}

TEST(Preflight, ReadingsAloneAreReady) {
  const facts::Machine machine = healthy_spark();
  EXPECT_EQ(to_string(run_preflight(facts_of(machine), {"G3", "G4", "G10"}).verdict), "ready");
}

TEST(Preflight, ASkipIsNeverReady) {
  facts::Machine machine = healthy_spark();
  machine.memory = unknown("unreadable");
  const PreflightResult result = run_preflight(facts_of(machine), {"G3", "G4"});
  EXPECT_EQ(to_string(result.verdict), "ready-with-warnings (not checked: G3)");
  EXPECT_FALSE(result.budget);
}

TEST(Preflight, NothingButSkipsFoundOutNothing) {
  facts::Machine machine = healthy_spark();
  machine.memory = unknown("unreadable");
  EXPECT_TRUE(run_preflight(facts_of(machine), {"G3"}).verdict.found_out_nothing);
}

TEST(Preflight, AnotherMachineIsBlockedAsNoSpark) {
  facts::Machine machine = healthy_spark();
  change(machine.identity, [](facts::Identity& identity) {
    identity.architecture = as_read(std::string("x86_64"));
    identity.nvidia_devices = as_read(std::vector<facts::PciDevice>{});
  });
  machine.gpus = unknown("libnvidia-ml.so.1: not found");
  const PreflightResult result = run_preflight(facts_of(machine), {});
  EXPECT_TRUE(result.verdict.not_a_spark);
  EXPECT_THAT(to_string(result.verdict),
              ::testing::StartsWith("blocked (not a DGX Spark: x86_64 Linux without an NVIDIA GPU"));
}

TEST(Preflight, AnUnknownMachineIsNotCalledAnotherOne) {
  facts::Machine machine = healthy_spark();
  machine.identity = unknown("did not answer");
  machine.gpus = unknown("did not answer");
  EXPECT_THAT(to_string(run_preflight(facts_of(machine), {}).verdict),
              HasSubstr("could not find out whether this is a DGX Spark"));
}

TEST(Preflight, ASparkWhoseGpuDoesNotAnswerIsNotReady) {
  facts::Machine machine = healthy_spark();
  machine.gpus = unknown("NVML: Driver Not Loaded (9)");
  const PreflightResult result = run_preflight(facts_of(machine), {});
  EXPECT_EQ(result.verdict.readiness, Readiness::blocked);
  EXPECT_FALSE(result.verdict.not_a_spark);
  EXPECT_THAT(to_string(result.verdict), HasSubstr("the GPU does not answer: NVML: Driver Not Loaded (9)"));
}

TEST(Preflight, ALostGpuDoesNotAnswerEither) {
  facts::Machine machine = healthy_spark();
  change(machine.gpus, [](facts::GpuInventory& inventory) {
    facts::GpuSample lost;
    lost.utilization = unknown("NVML: GPU is lost (15)");
    inventory.gpus[0].samples = {lost};
  });
  const PreflightResult result = run_preflight(facts_of(machine), {});
  EXPECT_THAT(to_string(result.verdict), HasSubstr("the GPU does not answer: NVML: GPU is lost (15)"));
  EXPECT_FALSE(result.platform.fixes.empty());
}

TEST(Preflight, AMachineOfWhichNothingCouldBeReadIsNoPass) {
  facts::Machine machine = healthy_spark();
  machine.memory = unknown("unreadable");
  machine.processes = unknown("unreadable");
  machine.gpus = unknown("no answers in this capture");
  machine.gpu_was_asked = false;
  const PreflightResult result = run_preflight(facts_of(machine), {});
  EXPECT_TRUE(result.verdict.found_out_nothing);
  EXPECT_THAT(to_string(result.verdict), ::testing::StartsWith("blocked (nothing could be found out"));
}

TEST(Preflight, WorkThatCouldNotBeReadIsNoPass) {
  const facts::Machine machine = healthy_spark();
  facts::Workload workload;
  workload.name = "work";
  workload.not_understood = {"b.yaml: larger than 4 MiB"};
  PreflightFacts facts{.machine = machine, .knowledge = testing::tables(), .now = {}};
  facts.workload = &workload;
  const PreflightResult result = run_preflight(facts, {"G10"});
  EXPECT_EQ(result.findings[0].status, Status::skip);
  EXPECT_THAT(result.findings[0].headline, HasSubstr("b.yaml"));
}

TEST(Preflight, TheCommandThatVerifiesAFixLooksAtTheSameWork) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) { memory.info.free = as_read(gibibytes(9)); });
  PreflightFacts facts{.machine = machine, .knowledge = testing::tables(), .now = {}};
  facts.work_arguments = "--workload compose.yaml";
  const PreflightResult result = run_preflight(facts, {"G3"});
  ASSERT_FALSE(result.findings[0].fixes.empty());
  EXPECT_EQ(result.findings[0].fixes[0].verify, "sparkops preflight --only G3 --workload compose.yaml");
}

TEST(Preflight, ACaptureWithoutNvmlAnswersSaysNothingAboutTheGpu) {
  facts::Machine machine = healthy_spark();
  machine.gpus = unknown("sparkops/nvml.json: does not exist");
  machine.gpu_was_asked = false;
  EXPECT_EQ(run_preflight(facts_of(machine), {"G3"}).verdict.readiness, Readiness::ready);
}

TEST(Preflight, AMismatchOfIdentityIsAWarning) {
  facts::Machine machine = healthy_spark();
  change(machine.gpus, [](facts::GpuInventory& inventory) { inventory.cuda_version = as_read(12080); });
  const PreflightResult result = run_preflight(facts_of(machine), {"G3"});
  EXPECT_EQ(result.verdict.readiness, Readiness::ready_with_warnings);
  EXPECT_THAT(result.verdict.why, HasSubstr("CUDA 12.8"));
}

TEST(Preflight, OnAGb10JudgementThisMachineDoesNotCount) {
  facts::Machine machine = healthy_spark();
  change(machine.identity, [](facts::Identity& identity) { identity.architecture = as_read(std::string("x86_64")); });
  facts::Workload workload;
  PreflightFacts facts{.machine = machine, .knowledge = testing::tables(), .now = {}};
  facts.judged = JudgedPlatform::gb10;
  facts.workload = &workload;
  const PreflightResult result = run_preflight(facts, {"G10"});
  EXPECT_FALSE(result.verdict.not_a_spark);
  EXPECT_THAT(result.platform.headline, HasSubstr("judged for"));
}

}  // namespace
}  // namespace sparkops::verdicts
