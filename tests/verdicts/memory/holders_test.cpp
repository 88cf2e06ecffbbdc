#include "verdicts/memory/holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"
#include "verdicts/memory/picture.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::healthy_spark;
using ::testing::IsEmpty;
using testing::tables;

facts::Process process(std::int64_t pid, std::vector<std::string> words, Bytes anonymous) {
  facts::Process process;
  process.pid = pid;
  process.parent = 50;
  process.name = as_read(std::string("python3"));
  process.command_line = as_read(std::move(words));
  process.environment = as_read(facts::EnvironmentVariables{});
  process.owner = as_read(std::uint32_t{1000});
  process.owner_name = unknown("no passwd");
  process.state = as_read(std::string("S"));
  process.anonymous = as_read(Bytes{anonymous});
  process.shared = as_read(Bytes{0});
  process.swapped = as_read(Bytes{0});
  process.container = unknown("none");
  process.gpu_memory = unknown("not in NVML's list of processes");
  return process;
}

void put_on_gpu(facts::Machine& machine, facts::Process process, Bytes bytes) {
  process.on_gpu = true;
  process.gpu_memory = as_read(Bytes{bytes});
  change(machine.gpus, [&](facts::GpuInventory& inventory) {
    auto list = *inventory.gpus[0].samples.back().processes;
    list.push_back({process.pid, facts::GpuProcess::Kind::compute, as_read(Bytes{bytes})});
    inventory.gpus[0].samples.back().processes = as_read(std::move(list));
  });
  change(machine.processes, [&](facts::ProcessTable& table) { table.processes.push_back(process); });
}

TEST(Holders, HostMemoryBesideACudaProcessIsRankedByWhatEachTakesOfThePool) {
  facts::Machine machine = healthy_spark();
  put_on_gpu(machine, process(60, {"python3", "train.py"}, gibibytes(4)), gibibytes(60));
  change(machine.processes, [](facts::ProcessTable& table) {
    table.other_holders.push_back(process(70, {"python3", "preprocess.py"}, gibibytes(30)));
    table.other_holders.push_back(process(80, {"/usr/bin/redis"}, gibibytes(1)));
  });
  const auto holders = pool_holders(machine, tables());
  ASSERT_EQ(holders.size(), 3U);
  EXPECT_EQ(holders[0].pid, 60);
  EXPECT_EQ(holders[0].in_pool(), gibibytes(64));
  EXPECT_EQ(holders[0].cap, "no cap");
  EXPECT_EQ(*holders[0].owner, "user 1000");
  EXPECT_EQ(holders[1].pid, 70);
  EXPECT_EQ(holders[1].in_pool(), gibibytes(30));
  EXPECT_THAT(holders[1].name, HasSubstr("preprocess.py (pid 70)"));
  EXPECT_EQ(holders[1].cap, "") << "no server and no trainer: nothing to cap";
}

TEST(Holders, TheCapOfAServerHoldsForItsWorkersToo) {
  facts::Machine machine = healthy_spark();
  facts::Process server = process(60, {"vllm", "serve", "m", "--gpu-memory-utilization", "0.4"}, gibibytes(1));
  change(machine.processes, [&](facts::ProcessTable& table) { table.processes.push_back(server); });
  facts::Process engine = process(61, {"VLLM::EngineCore"}, gibibytes(2));
  engine.parent = 60;
  put_on_gpu(machine, engine, gibibytes(40));
  const auto holders = pool_holders(machine, tables());
  ASSERT_EQ(holders.size(), 2U);
  EXPECT_EQ(holders[0].pid, 61);
  EXPECT_THAT(holders[0].cap, HasSubstr("0.4"));
  EXPECT_EQ(holders[0].cap, holders[1].cap);
}

TEST(Orphans, AHealthyMachineHasNone) {
  facts::Machine machine = healthy_spark();
  put_on_gpu(machine, process(60, {"python3", "train.py"}, gibibytes(4)), gibibytes(60));
  EXPECT_THAT(find_orphans(machine, tables()).clauses, IsEmpty());
}

TEST(Orphans, AWorkerWhoseLauncherIsGoneIsOneAndTheLauncherItselfIsNot) {
  facts::Machine machine = healthy_spark();
  facts::Process worker = process(60, {"python3", "train.py"}, gibibytes(4));
  worker.environment = as_read(facts::EnvironmentVariables{{"LOCAL_RANK", "3"}});
  worker.parent = 1;
  put_on_gpu(machine, worker, gibibytes(20));
  facts::Process alone = process(61, {"python3", "other.py"}, gibibytes(4));
  alone.parent = 1;
  put_on_gpu(machine, alone, gibibytes(20));
  const Orphans orphans = find_orphans(machine, tables());
  EXPECT_THAT(orphans.clauses, ElementsAre(HasSubstr("train.py (pid 60) is a worker whose launcher is gone")));
  ASSERT_EQ(orphans.fixes.size(), 1U);
  EXPECT_EQ(orphans.fixes[0].run, "kill 60");
}

TEST(Orphans, ZombieWorkersOfAJobAreNamedAndThoseOfAShellAreNot) {
  facts::Machine machine = healthy_spark();
  put_on_gpu(machine, process(60, {"python3", "train.py"}, gibibytes(4)), gibibytes(60));
  change(machine.processes, [](facts::ProcessTable& table) {
    table.zombies = {{90, 60, "python3", "python3"}, {91, 50, "ls", "bash"}, {92, 77, "git", "python3"}};
  });
  EXPECT_THAT(find_orphans(machine, tables()).clauses,
              ElementsAre(HasSubstr("worker python3 (pid 90) has ended and train.py (pid 60) has not collected it")));
}

TEST(Orphans, AContainerThatStoppedLessThanTwoMinutesAgoMayStillHold) {
  facts::Machine machine = healthy_spark();
  machine.taken = as_measured(Timestamp{1'790'000'000'000});
  machine.stopped_containers =
      as_read(std::vector<facts::StoppedContainer>{{"future", Timestamp{1'790'000'005'000}},
                                                   {"recent", Timestamp{1'790'000'000'000 - 40'000}},
                                                   {"old", Timestamp{1'790'000'000'000 - 120'000}}});
  EXPECT_THAT(find_orphans(machine, tables()).clauses, ElementsAre(HasSubstr("container recent stopped 40 s ago")));
  machine.stopped_containers = unknown("when docker's containers stopped: needs root");
  EXPECT_THAT(find_orphans(machine, tables()).could_not, ElementsAre(HasSubstr("needs root")));
}

TEST(GpuJobs, AreThoseThatComputeAndUnknownIsNotNobody) {
  facts::Machine machine = healthy_spark();
  EXPECT_THAT(*gpu_jobs(machine, tables()), IsEmpty());
  put_on_gpu(machine, process(60, {"python3", "train.py"}, gibibytes(4)), gibibytes(60));
  EXPECT_THAT(*gpu_jobs(machine, tables()), ElementsAre("train.py (pid 60) holds 60.0 GiB"));

  machine = healthy_spark();
  machine.gpus = unknown("NVML did not answer");
  EXPECT_EQ(gpu_jobs(machine, tables()).reason(), "NVML did not answer");
  change(machine.identity,
         [](facts::Identity& identity) { identity.nvidia_devices = as_read(std::vector<facts::PciDevice>{}); });
  EXPECT_THAT(*gpu_jobs(machine, tables()), IsEmpty()) << "no NVIDIA GPU on the bus";

  machine = healthy_spark();
  change(machine.gpus,
         [](facts::GpuInventory& inventory) { inventory.gpus[0].samples.back().utilization = as_read(Percent{80}); });
  EXPECT_THAT(*gpu_jobs(machine, tables()), ElementsAre(HasSubstr("80 % busy"))) << "as inside a container";
}

facts::VmCounters counters(std::int64_t at_ms, std::int64_t in, std::int64_t out) {
  facts::VmCounters counters;
  counters.taken = Timestamp{at_ms};
  counters.pages_swapped_in = as_read(std::int64_t{in});
  counters.pages_swapped_out = as_read(std::int64_t{out});
  return counters;
}

TEST(SwapRates, NeedTwoReadings) {
  facts::Memory memory;
  memory.counters = as_read(counters(2'000, 100, 300));
  memory.earlier_counters = unknown("only one reading");
  EXPECT_EQ(swap_rates(memory).reason(), "only one reading");
  memory.earlier_counters = as_read(counters(1'500, 50, 300));
  EXPECT_DOUBLE_EQ(swap_rates(memory)->in_pages_per_s, 100);
  EXPECT_DOUBLE_EQ(swap_rates(memory)->out_pages_per_s, 0);
  memory.earlier_counters = as_read(counters(2'000, 50, 300));
  EXPECT_FALSE(swap_rates(memory).known()) << "no time between them";
  memory.earlier_counters = as_read(counters(1'000, 500, 300));
  EXPECT_FALSE(swap_rates(memory).known()) << "ran backwards";
}

TEST(Picture, PartsOfThePageCacheAddUpToIt) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.mapped = as_read(gibibytes(1));
    memory.info.swap_cached = as_read(mebibytes(300));
  });
  const MemoryPicture picture = picture_memory(machine, tables(), k_default_reserve);
  EXPECT_EQ(*picture.pool.page_cache,
            *picture.pool.flush_gives + *picture.pool.mapped_files + *picture.pool.swap_cache);
  EXPECT_EQ(*picture.pool.mapped_files, gibibytes(1));
  EXPECT_EQ(picture.largest_block->size, mebibytes(32));
  EXPECT_EQ(picture.largest_block->count, 3400);
}

TEST(Picture, WithoutAMemoryReadingEverythingIsUnknownForThatReason) {
  facts::Machine machine = healthy_spark();
  machine.memory = unknown("the memory reading did not answer within 3.0 s");
  const MemoryPicture picture = picture_memory(machine, tables(), k_default_reserve);
  for (const Known<Bytes>* const bytes : {&picture.used, &picture.pool.flush_gives, &picture.pool.mapped_files})
    EXPECT_EQ(bytes->reason(), "the memory reading did not answer within 3.0 s");
  EXPECT_FALSE(picture.files.known());
  EXPECT_FALSE(picture.swapping.known());
}

TEST(Picture, ProposesTheFilesThatHoldTheCacheAndElseTheWholeMachine) {
  facts::Machine machine = healthy_spark();
  change(machine.memory, [](facts::Memory& memory) {
    memory.info.mapped = as_read(Bytes{0});
    memory.info.cached = as_read(gibibytes(40));
    memory.cached_files = as_read(std::vector<facts::CachedFile>{{"/m/a b", gibibytes(9), gibibytes(8), "cachestat"}});
  });
  EXPECT_EQ(picture_memory(machine, tables(), k_default_reserve).next_command, "sparkops flush '/m/a b'");
  change(machine.memory, [](facts::Memory& memory) { memory.cached_files = unknown("none"); });
  EXPECT_EQ(picture_memory(machine, tables(), k_default_reserve).next_command, "sudo sparkops flush --all");
}

}  // namespace
}  // namespace sparkops::verdicts
