#include "facts/machine/process_files.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sparkops::facts {
namespace {

using namespace std::string_view_literals;

const std::string k_id(64, 'a');

TEST(ProcessFiles, CommandLines) {
  EXPECT_EQ(parse_command_line("python3\0-m\0\0x y\0"sv), (std::vector<std::string_view>{"python3", "-m", "", "x y"}));
  EXPECT_EQ(parse_command_line("VLLM::EngineCore   \0\0\0"sv), (std::vector<std::string_view>{"VLLM::EngineCore"}));
  EXPECT_TRUE(parse_command_line("").empty());
  EXPECT_TRUE(parse_command_line("\0\0"sv).empty());
}

TEST(ProcessFiles, Environments) {
  const EnvironmentVariables variables = parse_environment("A=1\0B=x=y\0novalue\0=z\0C=\0D=\xff"sv);
  EXPECT_EQ(variables, (EnvironmentVariables{{"A", "1"}, {"B", "x=y"}, {"C", ""}, {"D", "\\xff"}}));
}

TEST(ProcessFiles, StatWithAHostileName) {
  const auto stat = parse_process_stat(
      "42 (a) R 1 (b) Z 7 42 42 0 -1 4194560 1 0 1 0 4 8 0 0 20 0 3 0 123456 1 2 18446744073709551615 1\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, "Z");
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->start_ticks, 123456);
  EXPECT_FALSE(parse_process_stat("42 (a) R 1"));
  EXPECT_FALSE(parse_process_stat("no parenthesis"));
}

TEST(ProcessFiles, StatusMemoryIsInBytesAndMayBeAbsent) {
  const ProcessStatus status =
      parse_process_status("Name:\tx\nUid:\t1000\t1001\t1000\t1000\nVmRSS:\t  2048 kB\nRssAnon:\t 1024 kB\n");
  EXPECT_EQ(status.owner, 1001U);
  EXPECT_EQ(status.resident->value, 2048 * 1024);
  EXPECT_EQ(status.anonymous->value, 1024 * 1024);
  EXPECT_FALSE(status.swapped);
  EXPECT_FALSE(parse_process_status("VmRSS:\t99999999999999999999 kB\n").resident);
  EXPECT_FALSE(parse_process_status("VmRSS:\t9223372036854775807 kB\n").resident);
  EXPECT_FALSE(parse_process_status("VmRSS:\t-5 kB\nUid:\t1\t-1\n").owner);
}

TEST(ProcessFiles, CgroupsOfAllThreeHierarchies) {
  EXPECT_EQ(parse_process_cgroup("0::/system.slice/a.service\n"), "/system.slice/a.service");
  EXPECT_EQ(parse_process_cgroup("12:memory:/docker/x\n1:name=systemd:/y\n"), "/docker/x");
  EXPECT_EQ(parse_process_cgroup("3:cpu,memory:/docker/x\n0::/\n"), "/docker/x");
  EXPECT_EQ(parse_process_cgroup("3:memory:/old\n0::/new\n"), "/new");
  EXPECT_EQ(parse_process_cgroup("0::/\n"), "/");
  EXPECT_FALSE(parse_process_cgroup("garbage\n"));
  EXPECT_EQ(parse_process_cgroup("0::/a\0b\n"sv), "/a\\x00b");
}

TEST(ProcessFiles, ContainersByTheirCgroup) {
  EXPECT_EQ(container_of_cgroup("/system.slice/docker-" + k_id + ".scope"), k_id);
  EXPECT_EQ(container_of_cgroup("/docker/" + k_id), k_id);
  EXPECT_EQ(container_of_cgroup("/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + k_id + ".scope"), k_id);
  EXPECT_EQ(container_of_cgroup("/kubepods/besteffort/pod12345/" + k_id), k_id);
  EXPECT_EQ(container_of_cgroup("/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" + k_id), k_id);
  EXPECT_EQ(container_of_cgroup("/machine.slice/libpod-" + k_id + ".scope/container"), k_id);
  EXPECT_EQ(container_of_cgroup("/lxc.payload.web/init.scope"), "web");
  EXPECT_EQ(container_of_cgroup("/lxc/db"), "db");
  EXPECT_EQ(container_of_cgroup("/machine.slice/machine-deb.scope"), "deb");
  EXPECT_FALSE(container_of_cgroup("/user.slice/user-1000.slice/session-4.scope"));
  EXPECT_FALSE(container_of_cgroup("/system.slice/docker.service"));
  EXPECT_FALSE(container_of_cgroup("/machine.slice/libpod-conmon-" + k_id + ".scope"));
  EXPECT_FALSE(container_of_cgroup("/"));
}

TEST(ProcessFiles, BootTime) {
  EXPECT_EQ(parse_boot_time("cpu  1 2 3\nbtime 1780000000\nprocesses 5\n"), 1780000000);
  EXPECT_FALSE(parse_boot_time("btime soon\n"));
}

RC_GTEST_PROP(ProcessFiles, AnyBytesAreHarmless, (const std::string& bytes)) {
  (void)parse_process_stat(bytes);
  (void)parse_process_status(bytes);
  (void)parse_boot_time(bytes);
  (void)parse_command_line(bytes);
  const auto cgroup = parse_process_cgroup("0::" + bytes);
  if (cgroup) RC_ASSERT(cgroup->find('\n') == std::string::npos);
  (void)container_of_cgroup(bytes);
  for (const auto& [name, value] : parse_environment(bytes)) RC_ASSERT(!name.empty());
}

}  // namespace
}  // namespace sparkops::facts
