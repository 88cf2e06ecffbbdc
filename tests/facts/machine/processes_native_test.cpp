// The scan of this machine's own processes, and what a scan costs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
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

/// Processor time of this thread: what a scan costs, however busy the machine is with other things.
double processor_ms() {
  timespec now = {};
  EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double best_scan_ms(const Tree& tree) {
  double best = std::numeric_limits<double>::infinity();
  const Root root = tree.root();
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double before = processor_ms();
    EXPECT_TRUE(read_processes(root, as_read(std::vector<GpuProcess>{})).process_count);
    best = std::min(best, processor_ms() - before);
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
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);  // proc is no disk either
  const Tree tree;
  add_processes(tree, 1, 301);
  const double few = best_scan_ms(tree);
  add_processes(tree, 301, 10'001);
  const double many = best_scan_ms(tree);
  std::printf("300 processes: %.2f ms, 10,000: %.1f ms\n", few, many);
  EXPECT_LE(few, 5);
  EXPECT_LE(many, 120);
#else
  GTEST_SKIP() << "times are those of an optimised build";
#endif
}

}  // namespace
}  // namespace sparkops::facts
