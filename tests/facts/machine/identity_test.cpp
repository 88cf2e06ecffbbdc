#include "facts/machine/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include "../../emulation.h"
#include "base/text.h"
#include "tree.h"
#include "wtmp_writer.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordLayout;
using testing::Tree;
using testing::utmp_record;

void write_pci_device(const Tree& tree, const std::string& address, const char* vendor, const char* device,
                      const char* device_class) {
  tree.write("sys/bus/pci/devices/" + address + "/vendor", vendor);
  tree.write("sys/bus/pci/devices/" + address + "/device", device);
  tree.write("sys/bus/pci/devices/" + address + "/class", device_class);
}

/// Shapes: gb10-facts §1.1 and §5.1 (PCI address, DMI, release files, driver line); values of our own.
void write_spark(const Tree& tree) {
  tree.write("proc/sys/kernel/arch", "aarch64\n");
  tree.write("proc/sys/kernel/osrelease", "6.17.0-1021-nvidia\n");
  tree.write("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
  tree.write("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\n");
  tree.write("sys/class/dmi/id/sys_vendor", "NVIDIA\n");
  tree.write("sys/class/dmi/id/product_name", "NVIDIA_DGX_Spark\n");
  tree.write("sys/class/dmi/id/product_family", "DGX Spark\n");
  tree.write("sys/class/dmi/id/bios_version", "5.36_TEST\n");
  write_pci_device(tree, "000f:01:00.0", "0x10de\n", "0x2e12\n", "0x030000\n");
  write_pci_device(tree, "0000:01:00.0", "0x15b3\n", "0x1021\n", "0x020000\n");
  write_pci_device(tree, "000f:01:00.1", "0x10de\n", "0x0001\n", "0x040300\n");
  tree.write(
      "etc/dgx-release",
      "DGX_SWBUILD_VERSION=\"7.2.3\"\nDGX_OTA_VERSION=\"7.3.1\"\nDGX_OTA_DATE=\"x\"\nDGX_OTA_VERSION=\"7.5.0\"\n");
  tree.write("etc/fastos-release", "NAME=\"DGX SPARK FASTOS\"\nVERSION=\"1.90.7\"\n");
  tree.write("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.159.03  Release Build  (builder@host)\n"
             "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n");
  tree.write("proc/stat", "cpu 1 2 3\nintr 5 0 0\nbtime 1760007200\nprocesses 9\n");
  tree.write("var/log/wtmp", utmp_record(RecordLayout::with_64_bit_time, 2, "reboot", 1'760'000'000) +
                                 utmp_record(RecordLayout::with_64_bit_time, 2, "reboot", 1'760'007'203));
  tree.write("sparkops/capture.json", R"({"page_size_bytes": 4096, "architecture": "aarch64"})");
}

TEST(Identity, OfASparkIsReadFromItsFiles) {
  const Tree tree;
  write_spark(tree);
  const Identity identity = read_identity(tree.root());
  EXPECT_EQ(*identity.architecture, "aarch64");
  EXPECT_EQ(*identity.kernel_release, "6.17.0-1021-nvidia");
  EXPECT_EQ(*identity.page_size, 4096);
  EXPECT_EQ(*identity.operating_system, "Ubuntu 24.04.3 LTS");
  EXPECT_EQ(*identity.system_vendor, "NVIDIA");
  EXPECT_EQ(*identity.product_name, "NVIDIA_DGX_Spark");
  EXPECT_EQ(*identity.product_family, "DGX Spark");
  EXPECT_EQ(*identity.bios_version, "5.36_TEST");
  ASSERT_EQ(identity.nvidia_devices->size(), 1U) << "only display controllers count";
  EXPECT_EQ(identity.nvidia_devices->front().address, "000f:01:00.0");
  EXPECT_EQ(identity.nvidia_devices->front().id, k_gb10_pci_id);
  EXPECT_EQ(*identity.dgx_release, "7.5.0") << "the last update, not the factory image";
  EXPECT_EQ(*identity.fastos_release, "1.90.7");
  EXPECT_EQ(*identity.driver_version, "580.159.03");
  EXPECT_TRUE(*identity.driver_is_open);
  EXPECT_EQ(*identity.boot_id, "11111111-2222-3333-4444-555555555555");
  EXPECT_EQ(*identity.boot_time, Timestamp{1'760'007'200'000});
  EXPECT_EQ(*identity.last_boot_end, BootEnd::without_shutdown);
  EXPECT_EQ(*identity.last_boot_end_time, Timestamp{1'760'000'000'000});
}

TEST(Identity, ABoxThatWasNeverUpdatedRunsItsFactoryImage) {
  const Tree tree;
  tree.write("etc/dgx-release", "DGX_SWBUILD_VERSION=\"7.2.3\"\n");
  EXPECT_EQ(*read_identity(tree.root()).dgx_release, "7.2.3");
}

TEST(Identity, TheProprietaryModuleIsToldFromTheOpenOne) {
  const Tree tree;
  tree.write("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n");
  const Identity identity = read_identity(tree.root());
  EXPECT_EQ(*identity.driver_version, "535.104.05");
  EXPECT_FALSE(*identity.driver_is_open);
}

TEST(Identity, TheVersionOfTheModuleIsKnownWithoutItsProcFile) {
  const Tree tree;
  tree.write("sys/module/nvidia/version", "580.95.05\n");
  const Identity identity = read_identity(tree.root());
  EXPECT_EQ(*identity.driver_version, "580.95.05");
  EXPECT_FALSE(identity.driver_is_open.known());
}

TEST(Identity, TheArchitectureComesFromTheProcessorWhereTheKernelDoesNotSay) {
  const Tree arm;
  arm.write("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd85\n");
  EXPECT_EQ(*read_identity(arm.root()).architecture, "aarch64");
  EXPECT_EQ(read_identity(arm.root()).architecture.provenance().origin, Origin::derived);
  const Tree x86;
  x86.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n");
  EXPECT_EQ(*read_identity(x86.root()).architecture, "x86_64");
  const Tree noted;
  noted.write("sparkops/capture.json", R"({"architecture": "riscv64"})");
  EXPECT_EQ(*read_identity(noted.root()).architecture, "riscv64");
}

TEST(Identity, APciBusWithoutNvidiaIsKnownToHaveNone) {
  const Tree tree;
  write_pci_device(tree, "0000:00:02.0", "0x8086\n", "0x1234\n", "0x030000\n");
  const Identity identity = read_identity(tree.root());
  ASSERT_TRUE(identity.nvidia_devices.known());
  EXPECT_THAT(*identity.nvidia_devices, IsEmpty());
}

TEST(Identity, APciDeviceThatCannotBeReadLeavesTheQuestionOpen) {
  const Tree tree;
  write_pci_device(tree, "0000:00:02.0", "garbage", "0x1234\n", "0x030000\n");
  EXPECT_FALSE(read_identity(tree.root()).nvidia_devices.known());
}

TEST(Identity, OfAnEmptyRootIsUnknownThroughout) {
  const Tree tree;
  const Identity identity = read_identity(tree.root());
  EXPECT_FALSE(identity.architecture.known());
  EXPECT_FALSE(identity.kernel_release.known());
  EXPECT_FALSE(identity.page_size.known());
  EXPECT_FALSE(identity.nvidia_devices.known());
  EXPECT_FALSE(identity.dgx_release.known());
  EXPECT_FALSE(identity.driver_version.known());
  EXPECT_FALSE(identity.boot_time.known());
  EXPECT_FALSE(identity.last_boot_end.known());
}

TEST(Identity, HostileFilesGiveAReasonAndNoValue) {
  const Tree tree;
  tree.write("proc/sys/kernel/arch", "a\nb\nc\n");
  tree.fifo("proc/sys/kernel/osrelease");
  tree.sparse("proc/stat", std::int64_t{1} << 30);
  tree.link("etc/os-release", "os-release");
  tree.write("etc/dgx-release", std::string("DGX_OTA_VERSION\0=\"9\"\n", 21));
  tree.write("proc/driver/nvidia/version", "\xff\xfe\x01NVRM");
  tree.write("var/log/wtmp", std::string(1000, 'x'));
  tree.link("sys/bus/pci/devices", "../../..");
  const Identity identity = read_identity(tree.root());
  EXPECT_FALSE(identity.architecture.known());
  EXPECT_THAT(identity.kernel_release.reason(), HasSubstr("not a regular file"));
  EXPECT_THAT(identity.boot_time.reason(), HasSubstr("larger than"));
  EXPECT_THAT(identity.operating_system.reason(), HasSubstr("loop"));
  EXPECT_FALSE(identity.dgx_release.known());
  EXPECT_FALSE(identity.driver_version.known());
  EXPECT_FALSE(identity.driver_is_open.known());
  EXPECT_FALSE(identity.last_boot_end.known());
  EXPECT_FALSE(identity.nvidia_devices.known());
}

TEST(Identity, ControlCharactersInAValueAreMadeVisible) {
  const Tree tree;
  tree.write("sys/class/dmi/id/product_name", "evil\x1b[31m\n");
  EXPECT_EQ(*read_identity(tree.root()).product_name, "evil\\x1b[31m");
}

TEST(LiveIdentity, AgreesWithTheKernel) {
  SPARKOPS_NEEDS_THIS_KERNEL();
  utsname name{};
  ASSERT_EQ(::uname(&name), 0);
  const Identity identity = read_identity(Root::live());
  // Under an emulator uname(2) tells of the emulated processor; the kernel's own file is the truth.
  const auto of_kernel = Root::live().read("proc/sys/kernel/arch");
  EXPECT_EQ(*identity.architecture, of_kernel ? std::string(trim(*of_kernel)) : std::string(name.machine));
  ASSERT_TRUE(identity.kernel_release.known()) << identity.kernel_release.reason();
  EXPECT_EQ(*identity.page_size, ::sysconf(_SC_PAGESIZE));
  ASSERT_TRUE(identity.boot_time.known()) << identity.boot_time.reason();
  EXPECT_LE(*identity.boot_time, Timestamp::now());
}

TEST(PublishedOutput, TheReleaseFileOfAnUpdatedBox) {
  SPARKOPS_PUBLISHED_OUTPUT(text, "dgx-release.txt");
  const Tree tree;
  tree.write("etc/dgx-release", text);
  EXPECT_EQ(*read_identity(tree.root()).dgx_release, "7.4.0");
}

}  // namespace
}  // namespace sparkops::facts
