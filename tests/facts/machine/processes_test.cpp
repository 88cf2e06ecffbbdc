#include "facts/machine/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "tree.h"

namespace sparkops::facts {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Tree;

const std::string k_container(64, 'c');

void write_process(const Tree& tree, int pid, std::string_view command_line, const std::string& name = "python3",
                   const std::string& memory = "VmRSS:\t1024 kB\nRssAnon:\t512 kB\nVmSwap:\t0 kB\n") {
  const std::string base = "proc/" + std::to_string(pid);
  tree.write(base + "/cmdline", command_line);
  tree.write(base + "/comm", name + "\n");
  tree.write(base + "/stat",
             std::to_string(pid) + " (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 6000 0 0 0\n");
  tree.write(base + "/status", "Name:\t" + name + "\nUid:\t1000\t1000\t1000\t1000\n" + memory);
  tree.write(base + "/cgroup", "0::/system.slice/docker-" + k_container + ".scope\n");
  tree.write(base + "/environ", "CUDA_VISIBLE_DEVICES=0\0HOME=/root\0"sv);
}

Known<std::vector<GpuProcess>> gpu_list(std::vector<GpuProcess> list) {
  return as_read(std::move(list));
}

TEST(Processes, ServersAreReadInFullAndOthersOnlyCounted) {
  const Tree tree;
  tree.write("proc/stat", "cpu 1\nbtime 1780000000\n");
  tree.write("proc/meminfo", "MemTotal: 1 kB\n");
  write_process(tree, 100, "vllm\0serve\0model\0--gpu-memory-utilization\0000.4\0"sv);
  write_process(tree, 200, "/bin/bash\0"sv, "bash");
  write_process(tree, 2, "", "kthreadd");
  const ProcessTable table = read_processes(tree.root(), unknown("no NVML"));
  EXPECT_EQ(*table.process_count, 3);
  ASSERT_EQ(table.processes.size(), 1U);
  const Process& process = table.processes[0];
  EXPECT_EQ(process.pid, 100);
  EXPECT_EQ(process.parent, 1);
  EXPECT_EQ(*process.name, "python3");
  EXPECT_THAT(*process.command_line, ElementsAre("vllm", "serve", "model", "--gpu-memory-utilization", "0.4"));
  EXPECT_EQ(process.environment->at(0), (std::pair<std::string, std::string>("CUDA_VISIBLE_DEVICES", "0")));
  EXPECT_EQ(*process.owner, 1000U);
  EXPECT_EQ(*process.state, "S");
  EXPECT_EQ(process.started->unix_ms, 1780000060000) << "60 s after boot";
  EXPECT_EQ(process.resident->value, 1024 * 1024);
  EXPECT_EQ(*process.container, k_container);
  EXPECT_FALSE(process.on_gpu);
  EXPECT_FALSE(process.gpu_memory);
  EXPECT_EQ(table.gpu_pids_without_process.reason(), "no NVML");
}

TEST(Processes, OnTheGpuTheyComeByWeightAndOrphansAreNamed) {
  const Tree tree;
  tree.write("proc/stat", "btime 1780000000\n");
  write_process(tree, 10, "/opt/strange\0"sv, "strange");
  write_process(tree, 11, "ollama\0serve\0"sv, "ollama");
  write_process(tree, 12, "python\0train.py\0"sv);
  const ProcessTable table =
      read_processes(tree.root(), gpu_list({{10, GpuProcess::Kind::compute, as_read(Bytes{1000})},
                                            {12, GpuProcess::Kind::compute, as_read(Bytes{5000})},
                                            {99, GpuProcess::Kind::compute, as_read(Bytes{7})}}));
  ASSERT_EQ(table.processes.size(), 3U);
  EXPECT_EQ(table.processes[0].pid, 12);
  EXPECT_EQ(table.processes[1].pid, 10);
  EXPECT_TRUE(table.processes[1].on_gpu);
  EXPECT_EQ(table.processes[1].gpu_memory->value, 1000);
  EXPECT_EQ(table.processes[2].pid, 11);
  EXPECT_THAT(*table.gpu_pids_without_process, ElementsAre(99));
}

TEST(Processes, ZombiesOfServersAreSeenByName) {
  const Tree tree;
  write_process(tree, 77, "", "VLLM::EngineCor", "");
  tree.write("proc/77/stat", "77 (VLLM::EngineCor) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 6000 0 0 0\n");
  const ProcessTable table = read_processes(tree.root(), gpu_list({}));
  ASSERT_EQ(table.processes.size(), 1U);
  EXPECT_EQ(*table.processes[0].state, "Z");
  EXPECT_THAT(*table.processes[0].command_line, IsEmpty());
  EXPECT_THAT(table.processes[0].resident.reason(), HasSubstr("proc/77/status has no VmRSS"));
  EXPECT_EQ(table.processes[0].started.reason(), "proc/stat has no btime");
  EXPECT_THAT(*table.gpu_pids_without_process, IsEmpty());
}

TEST(Processes, HostileFilesAreUnknownValues) {
  const Tree tree;
  write_process(tree, 5, "python\0train.py\0"sv);
  tree.sparse("proc/5/environ", std::int64_t{1} << 30);
  tree.write("proc/5/stat", std::string(1000, '\xff'));
  tree.write("proc/5/status", "\0\0VmRSS:\t-1 kB\n"sv);
  tree.write("proc/5/cgroup", "\0\0\0"sv);
  tree.directory("proc/6");
  tree.fifo("proc/6/cmdline");
  tree.directory("proc/7");
  tree.link("proc/7/cmdline", "../8/cmdline");
  tree.directory("proc/8");
  tree.link("proc/8/cmdline", "../7/cmdline");
  tree.write("proc/99999999999999999999/cmdline", "vllm\0serve\0"sv);
  tree.write("proc/9/cmdline", std::string("python\0train.py\0"sv) + std::string(1 << 20, 'x'));
  tree.write("proc/12a/cmdline", "vllm\0serve\0"sv);
  tree.sparse("proc/13/cmdline", std::int64_t{1} << 30);
  const ProcessTable table = read_processes(tree.root(), gpu_list({{6, GpuProcess::Kind::compute, unknown("n/a")}}));
  EXPECT_EQ(*table.process_count, 6);
  ASSERT_EQ(table.processes.size(), 3U);
  for (const Process& process : table.processes) {
    if (process.pid == 5) {
      EXPECT_FALSE(process.state);
      EXPECT_FALSE(process.resident);
      EXPECT_FALSE(process.cgroup);
      ASSERT_TRUE(process.environment);
      EXPECT_THAT(*process.environment, IsEmpty());
    } else if (process.pid == 6) {
      EXPECT_FALSE(process.command_line) << "a FIFO is not read";
    } else {
      EXPECT_EQ(process.pid, 9);
      std::size_t bytes = 0;
      for (const std::string& word : *process.command_line) bytes += word.size();
      EXPECT_LT(bytes, 256U << 10);
    }
  }
}

TEST(Processes, WithoutProcNothingIsKnown) {
  const Tree tree;
  const ProcessTable table = read_processes(tree.root(), gpu_list({{1, GpuProcess::Kind::compute, unknown("n/a")}}));
  EXPECT_FALSE(table.process_count);
  EXPECT_FALSE(table.gpu_pids_without_process);
  EXPECT_THAT(table.could_not, Contains(HasSubstr("any process")));
}

TEST(Processes, HiddenProcessesAreSaid) {
  const Tree tree;
  write_process(tree, 1, "init\0"sv, "init");
  tree.write("proc/mounts", "proc /proc proc rw,nosuid,hidepid=invisible 0 0\n");
  EXPECT_THAT(read_processes(tree.root(), gpu_list({})).could_not, Contains(HasSubstr("hidepid")));
  tree.write("proc/mounts", "proc /proc proc rw,nosuid,relatime 0 0\n");
  EXPECT_THAT(read_processes(tree.root(), gpu_list({})).could_not, IsEmpty());
}

TEST(Processes, TheFixtureMachineWithAnUncappedServer) {
  const Result<Root> root = Root::open(SPARKOPS_FIXTURES "/machines/spark-uncapped-vllm.machine");
  ASSERT_TRUE(root) << root.error().message;
  const Known<GpuInventory> gpus = read_gpus(*root);
  ASSERT_TRUE(gpus) << gpus.reason();
  const ProcessTable table = read_processes(*root, gpus->gpus.at(0).latest().processes);
  ASSERT_FALSE(table.processes.empty());
  EXPECT_THAT(*table.processes[0].command_line, Contains("VLLM::EngineCore"));
  EXPECT_TRUE(table.processes[0].on_gpu);
  EXPECT_TRUE(table.processes[0].container);
  EXPECT_THAT(*table.gpu_pids_without_process, IsEmpty());
}

TEST(Processes, OnesThatCannotBeLookedAtAreCountedAndKnownNamesAreKept) {
  const Tree tree;
  write_process(tree, 2, "", "kthreadd");
  for (const int pid : {20, 21, 22}) {
    tree.fifo("proc/" + std::to_string(pid) + "/cmdline");
    tree.write("proc/" + std::to_string(pid) + "/comm", pid == 20 ? "vllm\n" : pid == 21 ? "python3\n" : "");
  }
  tree.write("proc/23/comm", "python3\n");
  tree.sparse("proc/23/cmdline", std::int64_t{1} << 30);
  tree.write("proc/24/comm", "bash\n");
  tree.write("proc/24/cmdline", "\0"sv);
  const ProcessTable table = read_processes(tree.root(), unknown("no NVML"));
  EXPECT_EQ(*table.process_count, 6);
  EXPECT_EQ(table.not_looked_at, 3);
  EXPECT_THAT(table.could_not, Contains(HasSubstr("3 processes: the command line cannot be read")));
  ASSERT_EQ(table.processes.size(), 1U);
  EXPECT_EQ(table.processes[0].pid, 20);
  EXPECT_FALSE(table.processes[0].command_line);
}

TEST(Processes, TheBeginningOfAnEndlessCommandLineIsEnough) {
  const Tree tree;
  std::string line = "vllm\0serve\0m\0"s;
  line.append(std::size_t{5} << 20, 'x');
  write_process(tree, 30, line);
  const ProcessTable table = read_processes(tree.root(), unknown("no NVML"));
  ASSERT_EQ(table.processes.size(), 1U);
  EXPECT_EQ(table.processes[0].command_line->at(1), "serve");
  EXPECT_EQ(table.not_looked_at, 0);
}

TEST(Processes, AProcWithoutProcessesHasNoCount) {
  const Tree tree;
  tree.write("proc/meminfo", "MemTotal: 1 kB\n");
  EXPECT_FALSE(read_processes(tree.root(), unknown("no NVML")).process_count);
  const Tree none;
  EXPECT_FALSE(read_processes(none.root(), unknown("no NVML")).process_count);
}

TEST(Processes, NamesTellProgramsApart) {
  EXPECT_EQ(program_of_name("vllm").role, LaunchRole::server);
  EXPECT_EQ(*program_of_name("ollama").server, ServerKind::ollama);
  EXPECT_EQ(program_of_name("text-generation").role, LaunchRole::server);
  EXPECT_EQ(program_of_name("torchrun").role, LaunchRole::trainer);
  EXPECT_EQ(program_of_name("bash").role, LaunchRole::other);
  EXPECT_EQ(program_of_name("").role, LaunchRole::other);
}

}  // namespace
}  // namespace sparkops::facts
