#include "facts/machine/kernel_log.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Tree;

constexpr const char* k_this_boot = "22222222222222222222222222222222";
constexpr const char* k_boot_before = "11111111111111111111111111111111";

/// Turns entries in the journal's export format into real journal files.
constexpr const char* k_journal_writer = "/lib/systemd/systemd-journal-remote";

class JournalWriter {
 public:
  void add(const char* boot, std::int64_t second, int priority, const std::string& message,
           const char* transport = "kernel") {
    const std::int64_t time_us = (1'760'000'000 + second) * 1'000'000 + ++entries_;
    text_ += "__REALTIME_TIMESTAMP=" + std::to_string(time_us) +
             "\n__MONOTONIC_TIMESTAMP=" + std::to_string(second * 1'000'000 + entries_) + "\n_BOOT_ID=" + boot +
             "\n_TRANSPORT=" + transport + "\nPRIORITY=" + std::to_string(priority) + "\nMESSAGE=" + message + "\n\n";
  }

  void write(const Tree& tree) const {
    const std::string directory = "var/log/journal/0123456789abcdef0123456789abcdef";
    tree.directory(directory);
    tree.write("export", text_);
    const std::string command = std::string(k_journal_writer) +
                                " --output=" + tree.path(directory + "/system.journal") + " " + tree.path("export") +
                                " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT: a test tool with paths of our own
  }

 private:
  std::string text_;
  std::int64_t entries_ = 0;
};

class Journal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access(k_journal_writer, X_OK) != 0) GTEST_SKIP() << k_journal_writer << " is not installed";
    if (::dlopen("libsystemd.so.0", RTLD_NOW) == nullptr) GTEST_SKIP() << "libsystemd.so.0 cannot be loaded";
    tree.write("proc/sys/kernel/random/boot_id", "22222222-2222-2222-2222-222222222222\n");
  }
  Tree tree;
};

TEST_F(Journal, GivesThisBootAndTheOneBefore) {
  JournalWriter journal;
  journal.add(k_boot_before, 10, 6, "Linux version 6.17");
  journal.add(k_boot_before, 20, 3, "NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY]");
  journal.add(k_this_boot, 100, 6, "Linux version 6.17");
  journal.add(k_this_boot, 110, 3, "Out of memory: Killed process 5 (python3)", "stdout");
  journal.add(k_this_boot, 120, 3, "NVRM: Xid (PCI:000f:01:00): 31, pid=5");
  journal.add(k_this_boot, 130, 3, "NVRM: Xid (PCI:000f:01:00): 31, pid=5");
  journal.write(tree);
  const KernelLog log = read_kernel_log(tree.root());
  ASSERT_TRUE(log.source.known()) << log.source.reason();
  EXPECT_THAT(*log.source, HasSubstr("journal (this boot and the one before"));
  ASSERT_THAT(log.current, SizeIs(1)) << "a program's words are not the kernel's";
  EXPECT_EQ(*log.current[0].xid, 31);
  EXPECT_EQ(log.current[0].repeated, 2);
  EXPECT_EQ(log.current[0].time->unix_ms / 1000, 1'760'000'120);
  ASSERT_TRUE(log.previous.known()) << log.previous.reason();
  ASSERT_THAT(*log.previous, SizeIs(1));
  EXPECT_EQ(log.previous->front().kind, KernelEventKind::nvrm_no_memory);
  EXPECT_THAT(log.could_not, IsEmpty());
}

TEST_F(Journal, ThatKeepsOneBootLeavesTheOneBeforeToTheTextLog) {
  JournalWriter journal;
  journal.add(k_this_boot, 120, 4, "thermal_zone0: critical temperature reached");
  journal.write(tree);
  tree.write("var/log/kern.log",
             "2025-10-09T08:00:00+00:00 spark kernel: Linux version 6.17\n"
             "2025-10-09T08:00:09+00:00 spark kernel: NVRM: in the boot before\n"
             "2025-10-09T08:55:00+00:00 spark kernel: Linux version 6.17\n");
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_THAT(*log.source, HasSubstr("journal (this boot"));
  EXPECT_THAT(*log.source, HasSubstr("var/log/kern.log (the boot before)"));
  EXPECT_THAT(log.current, SizeIs(1));
  ASSERT_TRUE(log.previous.known());
  EXPECT_THAT(*log.previous, SizeIs(1));
}

TEST_F(Journal, ThatLiesOutsideTheRootIsNotOpened) {
  Tree other;
  JournalWriter journal;
  journal.add(k_this_boot, 120, 3, "NVRM: of another machine");
  journal.write(other);
  tree.link("var/log/journal", other.path("var/log/journal"));
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_THAT(log.current, IsEmpty());
  EXPECT_FALSE(log.source.known());
}

TEST_F(Journal, OfGarbageIsRefused) {
  for (const std::string& content : {std::string(), std::string("LPKSHHRH"), std::string(100'000, '\xa5')}) {
    tree.write("var/log/journal/0123456789abcdef0123456789abcdef/system.journal", content);
    const KernelLog log = read_kernel_log(tree.root());
    EXPECT_FALSE(log.source.known());
    EXPECT_THAT(log.current, IsEmpty());
    EXPECT_THAT(log.could_not, Contains(HasSubstr("journal")));
  }
}

TEST_F(Journal, CutShortOrDamagedNeverCrashes) {
  JournalWriter journal;
  for (int i = 0; i < 200; ++i) journal.add(k_this_boot, 100 + i, 3, "NVRM: line " + std::to_string(i));
  journal.write(tree);
  const std::string path = "var/log/journal/0123456789abcdef0123456789abcdef/system.journal";
  const std::string whole = tree.root().read(path, std::size_t{64} << 20).value();
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 40) {
    tree.write(path, whole.substr(0, size));
    EXPECT_LE(read_kernel_log(tree.root()).current.size(), 200U);
  }
  for (std::size_t at = 256; at < whole.size(); at += whole.size() / 40) {
    std::string damaged = whole;
    damaged.replace(at, 64, std::string(64, '\xff'));
    tree.write(path, damaged);
    EXPECT_LE(read_kernel_log(tree.root()).current.size(), 200U);
  }
}

TEST_F(Journal, OfManyEntriesIsReadWithinItsTime) {
  JournalWriter journal;
  constexpr int k_entries = 40'000;
  for (int i = 0; i < k_entries; ++i)
    journal.add(k_this_boot, 100 + i, i % 2 == 0 ? 6 : 4, "a message of the kernel, number " + std::to_string(i));
  journal.add(k_this_boot, 100 + k_entries, 3, "NVRM: at the end");
  journal.write(tree);
  const auto start = std::chrono::steady_clock::now();
  const KernelLog log = read_kernel_log(tree.root());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(log.current, SizeIs(1));
  EXPECT_LT(took.count(), 3.0);
  std::printf("20,000 warnings read in %.1f ms\n", took.count() * 1000);
}

TEST(KernelLog, ComesFromTheTextLogWhereThereIsNoJournal) {
  const Tree tree;
  tree.write("proc/stat", "btime 1760000000\n");
  tree.write("var/log/kern.log", "2025-10-09T08:55:00+00:00 spark kernel: [ 5.0] NVRM: Xid (PCI:000f:01:00): 13, x\n");
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_EQ(*log.source, "var/log/kern.log (this boot)");
  ASSERT_THAT(log.current, SizeIs(1));
  EXPECT_EQ(*log.current[0].xid, 13);
  EXPECT_FALSE(log.previous.known());
}

TEST(KernelLog, OfACaptureComesFromItsRingBuffer) {
  const Tree tree;
  tree.write("proc/stat", "btime 1760000000\n");
  tree.write("sparkops/dmesg", "<3>[    1.000000] NVRM: Xid (PCI:000f:01:00): 119, text\n");
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_THAT(*log.source, HasSubstr("dmesg"));
  ASSERT_THAT(log.current, SizeIs(1));
  EXPECT_EQ(*log.current[0].time, Timestamp{1'760'000'001'000});
  EXPECT_FALSE(log.previous.known());
}

TEST(KernelLog, AnEmptyRingBufferIsALogWithoutEvents) {
  const Tree tree;
  tree.write("sparkops/dmesg", "");
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_TRUE(log.source.known());
  EXPECT_THAT(log.current, IsEmpty());
}

TEST(KernelLog, WithoutAnySourceSaysSo) {
  const Tree tree;
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_THAT(log.source.reason(), HasSubstr("no kernel log can be read"));
  EXPECT_FALSE(log.previous.known());
}

TEST(KernelLog, HostileTextLogsGiveNoEvents) {
  const Tree tree;
  tree.fifo("var/log/kern.log");
  tree.sparse("var/log/syslog", std::int64_t{1} << 30);
  tree.link("sparkops/dmesg", "dmesg");
  const KernelLog log = read_kernel_log(tree.root());
  EXPECT_THAT(log.current, IsEmpty());
  EXPECT_FALSE(log.source.known());
  EXPECT_THAT(log.could_not, Contains(HasSubstr("not a regular file")));
}

TEST(LiveKernelLog, NamesItsSourceOrTheReason) {
  const KernelLog log = read_kernel_log(Root::live());
  EXPECT_TRUE(log.source.known() || !log.source.reason().empty());
  for (const KernelEvent& event : log.current) EXPECT_LE(event.line.size(), 400U);
}

}  // namespace
}  // namespace sparkops::facts
