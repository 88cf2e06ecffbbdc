// What `sparkops memory` reads beyond the other commands: the memory of every process, names of users, stopped
// containers, named files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../emulation.h"
#include "facts/machine/file_residency.h"
#include "facts/machine/memory_cached_files.h"
#include "facts/machine/processes.h"
#include "facts/machine/stopped_containers.h"
#include "facts/machine/user_names.h"
#include "tree.h"

namespace sparkops::facts {
namespace {

using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::Tree;

void write_process(const Tree& tree, int pid, std::string_view command_line, const std::string& name, int parent,
                   std::int64_t anonymous_kib, const std::string& state = "S (sleeping)") {
  const std::string base = "proc/" + std::to_string(pid);
  tree.write(base + "/cmdline", command_line);
  tree.write(base + "/comm", name + "\n");
  tree.write(base + "/stat", std::to_string(pid) + " (" + name + ") " + state.substr(0, 1) + " " +
                                 std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 0 6000 0 0 0\n");
  const std::string kib = std::to_string(anonymous_kib);
  tree.write(base + "/status", "Name:\t" + name + "\nState:\t" + state + "\nPPid:\t" + std::to_string(parent) +
                                   "\nUid:\t1000\t1000\t1000\t1000\nVmRSS:\t" + kib + " kB\nRssAnon:\t" + kib +
                                   " kB\nRssFile:\t12 kB\nRssShmem:\t8 kB\nVmSwap:\t4 kB\n");
}

TEST(HolderFacts, EveryProcessThatHoldsMuchIsReadAndRanked) {
  const Tree tree;
  tree.write("etc/passwd", "ada:x:1000:1000::/home/ada:/bin/bash\n");
  write_process(tree, 10, "vllm\0serve\0m\0"sv, "vllm", 1, 1024);
  write_process(tree, 20, "/bin/bash\0"sv, "bash", 1, 500);
  write_process(tree, 30, "python3\0preprocess.py\0"sv, "python3", 20, 31457280);
  write_process(tree, 40, "redis\0"sv, "redis", 1, 100 * 1024);
  write_process(tree, 50, "", "python3", 30, 0, "Z (zombie)");
  const ProcessTable table = read_processes(tree.root(), unknown("no NVML"), Processes::with_holders);
  ASSERT_EQ(table.processes.size(), 1U);
  EXPECT_EQ(*table.processes[0].owner_name, "ada");
  ASSERT_EQ(table.other_holders.size(), 2U) << "bash holds too little to be named";
  EXPECT_EQ(table.other_holders[0].pid, 30);
  EXPECT_EQ(*table.other_holders[0].anonymous, gibibytes(30));
  EXPECT_EQ(*table.other_holders[0].file_backed, kibibytes(12));
  EXPECT_EQ(*table.other_holders[0].shared, kibibytes(8));
  EXPECT_EQ(*table.other_holders[0].parent_name, "bash");
  EXPECT_EQ(table.other_holders[1].pid, 40);
  ASSERT_EQ(table.zombies.size(), 1U);
  EXPECT_EQ(table.zombies[0].parent_name, "python3");
  EXPECT_THAT(read_processes(tree.root(), unknown("no NVML")).other_holders, IsEmpty());
}

TEST(UserNames, TheFirstEntryOfANumberWinsAndNonsenseIsPassedOver) {
  const auto names = parse_passwd(
      "root:x:0:0::/root:/bin/sh\nada:x:1000:1000\nbob:x:1000:1\n:x:7:7\nno\nx:y:-1:3\n"
      "big:x:99999999999:1\n\0\xff:x:8:8\n"sv);
  EXPECT_THAT(names, ElementsAre(Pair(0U, "root"), Pair(8U, "\\x00\\xff"), Pair(1000U, "ada")));
  const Tree tree;
  EXPECT_EQ(*read_user_names(tree.root()).name_of(0), "root");
  EXPECT_THAT(read_user_names(tree.root()).name_of(5).reason(), HasSubstr("etc/passwd"));
}

constexpr std::string_view k_stopped =
    R"({"ID":"4f1d","Name":"/vllm","State":{"Running":false,"FinishedAt":"2026-11-12T08:14:40.123456789Z"}})";

TEST(StoppedContainers, AreReadFromDockersRecords) {
  const Tree tree;
  tree.write("var/lib/docker/containers/a/config.v2.json", k_stopped);
  tree.write("var/lib/docker/containers/b/config.v2.json",
             R"({"Name":"/later","State":{"Running":false,"FinishedAt":"2026-11-12T09:00:00Z"}})");
  tree.write("var/lib/docker/containers/c/config.v2.json",
             R"({"Name":"/up","State":{"Running":true,"FinishedAt":"0001-01-01T00:00:00Z"}})");
  const auto stopped = read_stopped_containers(tree.root());
  ASSERT_TRUE(stopped.known()) << stopped.reason();
  ASSERT_EQ(stopped->size(), 2U);
  EXPECT_EQ(stopped->at(0).name, "later");
  EXPECT_EQ(stopped->at(1).name, "vllm");
  EXPECT_EQ(stopped->at(1).finished, parse_rfc3339("2026-11-12T08:14:40.123Z"));
  EXPECT_FALSE(read_stopped_containers(Tree().root()).known());
}

TEST(StoppedContainers, HostileRecordsAreNone) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"State":5})"),
        std::string(R"({"State":{"Running":"no"}})"), std::string(R"({"State":{"Running":false,"FinishedAt":7}})"),
        std::string(R"({"State":{"Running":false,"FinishedAt":"0001-01-01T00:00:00Z"}})"), std::string(100'000, '['),
        std::string("\0\0\xff", 3)})
    EXPECT_FALSE(parse_docker_container(text).has_value()) << text.substr(0, 60);
  for (std::size_t size = 0; size < k_stopped.size(); ++size)
    EXPECT_FALSE(parse_docker_container(k_stopped.substr(0, size)).has_value()) << size;
}

TEST(NamedFiles, AllAppearAlsoThoseThatHoldNothing) {
  SPARKOPS_NEEDS_THIS_KERNEL();
  const Tree tree;
  tree.write("full", std::string(k_mib, 'x'));
  tree.sparse("hole", k_mib);
  const auto files = read_named_files({tree.path("full"), tree.path("hole"), tree.path("missing")});
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(*files[0].cached, mebibytes(1));
  EXPECT_EQ(*files[1].cached, Bytes{0});
  EXPECT_FALSE(files[2].cached.known());
}

TEST(NamedFiles, OfACaptureAreThoseAtOrBelowThePath) {
  const auto cached = as_read(std::vector<CachedFile>{{"/m/a", Bytes{9}, Bytes{8}, "capture"},
                                                      {"/m/sub/b", Bytes{7}, Bytes{6}, "capture"},
                                                      {"/mm/c", Bytes{5}, Bytes{4}, "capture"}});
  const auto below = captured_named_files(cached, {"/m/"});
  ASSERT_EQ(below.size(), 2U);
  EXPECT_EQ(*below[1].cached, Bytes{6});
  const auto other = captured_named_files(cached, {"/x"});
  ASSERT_EQ(other.size(), 1U);
  EXPECT_THAT(other[0].cached.reason(), HasSubstr("not among"));
}

TEST(Residency, KnowsAFileThatLivesInMemory) {
  SPARKOPS_NEEDS_THIS_KERNEL();
  const std::string path = "/dev/shm/sparkops-residency-test-" + std::to_string(::getpid());
  std::ofstream(path) << "x";
  const auto residency = read_residency(path);
  std::filesystem::remove(path);
  if (!residency) GTEST_SKIP() << "no /dev/shm to write in: " << residency.error().message;
  EXPECT_EQ(residency->home, PageHome::memory);
}

}  // namespace
}  // namespace sparkops::facts
