// The scan of this machine's own processes, and what a scan costs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "facts/machine/processes.h"
#include "tree.h"

namespace sparkops::facts {
namespace {

using namespace std::string_view_literals;
using testing::Tree;

TEST(LiveProcesses, ThisProcessIsFoundWhenItIsOnTheGpu) {
  const std::vector<GpuProcess> list = {{::getpid(), GpuProcess::Kind::compute, as_read(Bytes{1})}};
  const ProcessTable table = read_processes(Root::live(), as_read(list));
  ASSERT_TRUE(table.process_count);
  EXPECT_GE(*table.process_count, 1);
  bool found = false;
  for (const Process& process : table.processes) {
    if (process.pid != ::getpid()) continue;
    found = true;
    EXPECT_EQ(process.parent, ::getppid());
    EXPECT_EQ(*process.owner, ::geteuid());
    EXPECT_GT(process.resident->value, 0);
    EXPECT_EQ(*process.state, "R");
    ASSERT_TRUE(process.started);
    const std::int64_t age_ms = Timestamp::now().unix_ms - process.started->unix_ms;
    EXPECT_GE(age_ms, -2000);
    EXPECT_LT(age_ms, 600'000);
    EXPECT_TRUE(process.environment);
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(table.gpu_pids_without_process->empty());
}

std::chrono::duration<double, std::milli> best_scan(const Tree& tree) {
  std::chrono::duration<double, std::milli> best = std::chrono::hours(1);
  const Root root = tree.root();
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(read_processes(root, as_read(std::vector<GpuProcess>{})).process_count);
    best = std::min<decltype(best)>(best, std::chrono::steady_clock::now() - before);
  }
  return best;
}

void add_processes(const Tree& tree, int from, int to) {
  for (int pid = from; pid < to; ++pid) {
    tree.write(
        "proc/" + std::to_string(pid) + "/cmdline",
        pid % 2 == 0 ? "/usr/lib/systemd/systemd-something\0--with\0arguments\0"sv : "python3\0/opt/service.py\0"sv);
  }
}

TEST(CostOfAScan, IsSmall) {
#ifdef NDEBUG
  const Tree tree;
  add_processes(tree, 1, 301);
  const auto few = best_scan(tree);
  add_processes(tree, 301, 10'001);
  const auto many = best_scan(tree);
  RecordProperty("ms_300", std::to_string(few.count()));
  RecordProperty("ms_10000", std::to_string(many.count()));
  std::printf("300 processes: %.2f ms, 10,000: %.1f ms\n", few.count(), many.count());
  EXPECT_LE(few.count(), 5);
  EXPECT_LE(many.count(), 120);
#else
  GTEST_SKIP() << "times are those of an optimised build";
#endif
}

}  // namespace
}  // namespace sparkops::facts
