#include "facts/machine/kernel_log_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <sstream>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

KernelEventKind kind_of(const char* line) {
  const auto event = parse_kernel_line(line);
  if (!event) throw std::runtime_error(std::string("of no concern: ") + line);
  return event->kind;
}

TEST(KernelLine, IsClassified) {
  // Shapes: mm/oom_kill.c, nvidia's NVRM messages, drivers/pci/pcie/aer.c, drivers/thermal; values of our own.
  EXPECT_EQ(kind_of("python3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE), order=0"),
            KernelEventKind::oom_kill);
  EXPECT_EQ(kind_of("Out of memory: Killed process 77 (python3) total-vm:9kB, anon-rss:8kB"),
            KernelEventKind::oom_kill);
  EXPECT_EQ(kind_of("Memory cgroup out of memory: Killed process 78 (worker) total-vm:9kB"), KernelEventKind::oom_kill);
  EXPECT_EQ(kind_of("NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051)"),
            KernelEventKind::nvrm_no_memory)
      << "the driver's allocation failed, the kernel killed nobody";
  EXPECT_EQ(kind_of("NVRM: GPU 000f:01:00.0: RmInitAdapter failed! (0x62:0x65:2028)"), KernelEventKind::nvrm_other);
  EXPECT_EQ(kind_of("thermal thermal_zone0: acpitz: critical temperature reached, shutting down"),
            KernelEventKind::thermal);
  EXPECT_EQ(kind_of("pcieport 0000:00:00.0: AER: Uncorrectable (Fatal) error message received from 0000:01:00.0"),
            KernelEventKind::pcie_error);
  EXPECT_EQ(kind_of("mlx5_core 0000:01:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer"),
            KernelEventKind::pcie_error);
  EXPECT_EQ(kind_of("Kernel panic - not syncing: Fatal exception in interrupt"), KernelEventKind::panic);
}

TEST(KernelLine, XidHasItsNumber) {
  const auto event = parse_kernel_line("<3>[  120.500000] NVRM: Xid (PCI:000f:01:00): 119, pid=42, name=python3, text");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, KernelEventKind::xid);
  EXPECT_EQ(*event->xid, 119);
  EXPECT_EQ(event->line, "NVRM: Xid (PCI:000f:01:00): 119, pid=42, name=python3, text");
  EXPECT_FALSE(event->time.known());
}

TEST(KernelLine, AnXidWithoutANumberIsAnotherDriverLine) {
  EXPECT_EQ(kind_of("NVRM: Xid (PCI:000f:01:00): what"), KernelEventKind::nvrm_other);
  EXPECT_EQ(kind_of("NVRM: Xid (PCI:000f:01:00): 99999999999999999999, x"), KernelEventKind::nvrm_other);
}

TEST(KernelLine, OrdinaryLinesAreOfNoConcern) {
  for (const char* const line :
       {"", "usb 1-1: new high-speed USB device",
        "NVRM: loading NVIDIA UNIX Open Kernel Module for aarch64  580.159.03",
        "ACPI: thermal: [Firmware Bug]: No valid trip points!", "ACPI: thermal: Thermal Zone [TZ00] (44 C)",
        "pcieport 0000:00:00.0: AER: Corrected error message received from 0000:01:00.0",
        "mlx5_core 0000:01:00.0: Detected insufficient power on the PCIe slot (27W)."})
    EXPECT_FALSE(parse_kernel_line(line).has_value()) << line;
}

TEST(KernelLine, RepetitionsOfTheLoggerAreCounted) {
  const auto event = parse_kernel_line("message repeated 12 times: [ NVRM: _memdescAllocInternal NV_ERR_NO_MEMORY]");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->repeated, 12);
  EXPECT_EQ(event->line, "NVRM: _memdescAllocInternal NV_ERR_NO_MEMORY");
}

TEST(KernelLine, IsMadePrintableAndShort) {
  const auto event = parse_kernel_line("NVRM: \x1b[31m" + std::string(5000, '\x01'));
  ASSERT_TRUE(event.has_value());
  EXPECT_LE(event->line.size(), 400U);
  EXPECT_THAT(event->line, HasSubstr("\\x1b"));
}

TEST(KernelLine, AnyBytesNeverCrash) {
  EXPECT_TRUE(rc::check("any bytes", [](const std::string& bytes) {
    (void)parse_kernel_line(bytes);
    (void)parse_kernel_line("NVRM: Xid (" + bytes + "): " + bytes);
    (void)parse_kernel_line("message repeated " + bytes + " times: [" + bytes + "]");
    const auto event = parse_kernel_line("<3>[ 1.0] NVRM: " + bytes);
    RC_ASSERT(event.has_value() == (bytes.find("loading NVIDIA") == std::string::npos));
    RC_ASSERT(event->line.size() <= 400U);
  }));
}

TEST(KernelEventCollector, JoinsEqualLinesInARow) {
  KernelEventCollector collector;
  for (int i = 0; i < 3; ++i) collector.add("NVRM: a NV_ERR_NO_MEMORY", as_read(Timestamp{1000 + i}));
  collector.add("usb 1-1: nothing", as_read(Timestamp{2000}));
  collector.add("NVRM: b", as_read(Timestamp{3000}));
  const auto events = collector.take();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].repeated, 3);
  EXPECT_EQ(*events[0].time, Timestamp{1000}) << "the first of them";
  EXPECT_EQ(events[1].repeated, 1);
}

TEST(KernelEventCollector, KeepsTheNewestOfVeryMany) {
  KernelEventCollector collector;
  const auto count = static_cast<int>(KernelEventCollector::k_most_events) + 10;
  for (int i = 0; i < count; ++i) collector.add("NVRM: line " + std::to_string(i), as_read(Timestamp{i}));
  const auto events = collector.take();
  ASSERT_THAT(events, SizeIs(KernelEventCollector::k_most_events));
  EXPECT_EQ(*events.back().time, Timestamp{count - 1});
}

TEST(CandidateLines, AreTheOnesOfConcernWhereverTheyStand) {
  const std::vector<std::string> of_concern{
      "a invoked oom-killer: x",
      "Memory cgroup out of memory: Killed process 7 (a)",
      "Out of memory: Killed process",
      "NVRM: Xid (PCI:000f:01:00): 31, x",
      "RmInitAdapter failed! x",
      "acpitz: critical temperature reached",
      "Critical temperature reached",
      "CPU3: Core temperature above threshold, cpu clock throttled",
      "mlx5_core: High temperature on sensors with bit set",
      "AER: Uncorrected (Fatal) error received: x",
      "mlx5_pci_slot_reset was called",
      "Kernel panic - not syncing: x",
      "Linux version 6.17",
      "Booting Linux on physical",
  };
  EXPECT_TRUE(rc::check("none is passed over", [&] {
    const auto before = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("NVRM: oliKemprut(F5x ")));
    const auto line = *rc::gen::elementOf(of_concern);
    std::vector<std::string> found;
    const std::string text = before + "\n" + before + line + before + "\n" + before;
    for_each_candidate_line(text, [&](std::string_view candidate, std::size_t start) {
      RC_ASSERT(text.substr(start, candidate.size()) == candidate);
      found.emplace_back(candidate);
    });
    RC_ASSERT(std::find(found.begin(), found.end(), before + line + before) != found.end());
  }));
  for (const std::string& line : of_concern)
    EXPECT_TRUE(parse_kernel_line(line).has_value() || starts_a_boot(line)) << line;
}

TEST(CandidateLines, AreNoneInOrdinaryText) {
  for_each_candidate_line("usb 1-1: new device\nNVR\nM:\n",
                          [](std::string_view line, std::size_t) { ADD_FAILURE() << line; });
  EXPECT_TRUE(rc::check("any bytes", [](const std::string& bytes) {
    for_each_candidate_line(bytes, [&](std::string_view line, std::size_t) { RC_ASSERT(line.size() <= bytes.size()); });
  }));
}

std::vector<KernelEventKind> kinds_in(const std::string& text) {
  std::vector<KernelEventKind> kinds;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const auto event = parse_kernel_line(line)) kinds.push_back(event->kind);
  return kinds;
}

TEST(PublishedOutput, OutOfMemoryKills) {
  for (const char* const name : {"dmesg-oom-1.txt", "dmesg-oom-2.txt"}) {
    SPARKOPS_PUBLISHED_OUTPUT(text, name);
    EXPECT_THAT(kinds_in(text), ::testing::ElementsAre(KernelEventKind::oom_kill)) << name;
  }
}

TEST(PublishedOutput, TheKillerEnteredFromTheDriver) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "dmesg-oom-3.txt");
  EXPECT_THAT(kinds_in(text), ::testing::ElementsAre(KernelEventKind::nvrm_no_memory, KernelEventKind::oom_kill,
                                                     KernelEventKind::oom_kill));
}

TEST(PublishedOutput, DriverLinesWithoutMemory) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "dmesg-nvrm-1.txt");
  const auto kinds = kinds_in(text);
  ASSERT_THAT(kinds, SizeIs(4));
  EXPECT_EQ(kinds[0], KernelEventKind::nvrm_no_memory);
  EXPECT_EQ(kinds[1], KernelEventKind::nvrm_other);
}

TEST(PublishedOutput, XidsAndAFailedAdapter) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "dmesg-xid.txt");
  std::vector<int> xids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const auto event = parse_kernel_line(line); event && event->xid) xids.push_back(*event->xid);
  EXPECT_THAT(xids, ::testing::ElementsAre(31, 13, 119, 120));
  SPARKOPS_PUBLISHED_OUTPUT(torn, "dmesg-gsp.txt");
  EXPECT_THAT(kinds_in(torn), ::testing::Contains(KernelEventKind::nvrm_other));
}

}  // namespace
}  // namespace sparkops::facts
