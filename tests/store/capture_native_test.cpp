#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "facts/machine/boot_records.h"
#include "facts/machine/machine.h"
#include "store/capture.h"
#include "store/capture_output.h"

namespace sparkops::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (fs::temp_directory_path() / "sparkops-capture-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

ArchiveEntry file(std::string path, std::string content, std::uint32_t owner = 0) {
  ArchiveEntry entry;
  entry.path = std::move(path);
  entry.mode = 0444;
  entry.owner = owner;
  entry.content = std::move(content);
  return entry;
}
ArchiveEntry link(std::string path, std::string target) {
  ArchiveEntry entry;
  entry.kind = ArchiveKind::link;
  entry.path = std::move(path);
  entry.target = std::move(target);
  return entry;
}

Root root_of(const std::vector<ArchiveEntry>& entries) {
  return Root(parse_archive_root(write_archive(entries), "test.machine").value());
}

std::string nul_ended(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word + '\0';
  return out;
}

/// A record of struct utmp with 32-bit times.
std::string login(std::int16_t type, const std::string& user, const std::string& host, std::int32_t seconds) {
  std::string record(384, '\0');
  std::memcpy(record.data(), &type, sizeof type);
  record.replace(8, 5, "pts/0");
  record.replace(44, user.size(), user);
  record.replace(76, host.size(), host);
  std::memcpy(record.data() + 340, &seconds, sizeof seconds);
  record.replace(348, 4, "\x0a\x01\x02\x03");
  return record;
}

/// A machine full of things that must not leave it.
std::vector<ArchiveEntry> private_machine() {
  const std::string secret = "S3cretV4lueThatMustGo";
  return {
      file("etc/passwd", "alice:x:1000:1000:Alice Liddell:/home/alice:/bin/bash\n"),
      file("proc/sys/kernel/hostname", "wonderland\n"),
      file("etc/dgx-release", "DGX_NAME=\"DGX Spark\"\nDGX_SERIAL_NUMBER=\"1983924X\"\n"),
      file("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
      file("sys/class/dmi/id/product_serial", "SN-1983924\n"),
      file("sys/class/dmi/id/product_name", "NVIDIA_DGX_Spark\n"),
      file("proc/cmdline", "root=UUID=6b2a3c4d-1111-2222-3333-444455556666 ip=10.20.30.40 token=" + secret + "\n"),
      file("proc/mounts",
           "/dev/nvme0n1p2 / ext4 rw 0 0\nnas.corp:/secret-project /data nfs4 rw,addr=10.20.30.41 0 0\n"),
      file("proc/net/route", "Iface\tDestination\tGateway \tFlags\nenx48b02daabbcc\t00000000\t29281E0A\t0003\n"),
      file("proc/net/if_inet6", "2a0104f8000100020000000000000003 02 40 00 80 enx48b02daabbcc\n"),
      link("sys/class/net/enx48b02daabbcc", "../../devices/virtual/net/enx48b02daabbcc"),
      file("sys/devices/virtual/net/enx48b02daabbcc/mtu", "1500\n"),
      file("sys/devices/virtual/net/enx48b02daabbcc/address", "48:b0:2d:aa:bb:cc\n"),
      file("proc/4711/comm", "vllm\n", 1000),
      file("proc/4711/stat", "4711 (vllm) S 1 4711 4711 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n", 1000),
      file(
          "proc/4711/cmdline",
          nul_ended({"/home/alice/env/bin/vllm", "serve", "m", "--gpu-memory-utilization", "0.4", "--api-key", secret}),
          1000),
      file("proc/4711/environ",
           nul_ended({"HF_TOKEN=" + secret, "DIARY=dear diary", "CUDA_VISIBLE_DEVICES=0", "USER=alice"}), 1000),
      file("proc/4712/comm", "vim\n", 1000),
      file("proc/4712/stat", "4712 (vim) S 1 4712 4712 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n", 1000),
      file("proc/4712/cmdline", nul_ended({"vim", "/home/alice/love-letter.txt"}), 1000),
      file("proc/4712/environ", nul_ended({"CUDA_HOME=/usr/local/cuda"}), 1000),
      file("sparkops/dmesg", "<3>[ 12.5] NVRM: Xid (PCI:000f:01:00): 31, pid=4711, name=vllm, host wonderland\n"),
      file("var/log/wtmp", login(2, "reboot", "6.17.0", 1'790'000'000) +
                               login(7, "alice", "looking-glass", 1'790'000'100) +
                               login(1, "shutdown", "6.17.0", 1'790'000'200)),
      file("home/alice/love-letter.txt", "dear bob\n"),
  };
}

TEST(Capture, NothingPrivateLeavesTheMachine) {
  const Capture capture = take_capture(root_of(private_machine()), {});
  const std::string text = write_archive(capture.entries);
  for (const char* const secret :
       {"S3cretV4lueThatMustGo", "alice", "Alice", "wonderland", "1983924", "0123456789abcdef0123456789abcdef",
        "6b2a3c4d", "10.20.30", "29281E0A", "2a0104f8", "48b02daabbcc", "48:b0:2d", "secret-project", "nas.corp",
        "dear diary", "love-letter", "looking-glass", "dear bob", "\\x0a\\x01\\x02\\x03"})
    EXPECT_THAT(text, Not(HasSubstr(secret))) << secret;
  EXPECT_GE(capture.redacted.at("secrets"), 1);
  EXPECT_GE(capture.redacted.at("user names"), 1);
  EXPECT_EQ(capture.redacted.at("serial numbers"), 1);
}

TEST(Capture, KeepsWhatReadersNeed) {
  const Root root = root_of(take_capture(root_of(private_machine()), {}).entries);
  EXPECT_EQ(root.read("sys/class/dmi/id/product_name").value(), "NVIDIA_DGX_Spark\n");
  EXPECT_EQ(root.read("proc/4711/cmdline").value(),
            nul_ended({"/home/user1/env/bin/vllm", "serve", "m", "--gpu-memory-utilization", "0.4", "--api-key",
                       "secret-1"}));
  EXPECT_EQ(root.read("proc/4712/cmdline").value(), nul_ended({"vim"})) << "only the program of what is not a job";
  EXPECT_FALSE(root.exists("proc/4712/environ"));
  EXPECT_EQ(root.status("proc/4711/comm")->owner, 1000U);
  const auto interfaces = root.list("sys/class/net").value();
  ASSERT_EQ(interfaces.size(), 1U);
  EXPECT_EQ(root.read("sys/class/net/" + interfaces[0].name + "/mtu").value(), "1500\n")
      << "the link still leads there";
  const auto logins = facts::parse_login_records(root.read("var/log/wtmp").value()).value();
  ASSERT_EQ(logins.size(), 3U);
  EXPECT_EQ(logins[0].kind, facts::LoginRecord::Kind::boot);
  EXPECT_EQ(logins[1].time.unix_ms, 1'790'000'100'000) << "when there was a login, but not whose";
  EXPECT_EQ(logins[2].kind, facts::LoginRecord::Kind::shutdown);
}

TEST(Capture, SaysWhatItIs) {
  const Root root = root_of(take_capture(root_of(private_machine()), {}).entries);
  const auto notes = nlohmann::json::parse(root.read("sparkops/capture.json").value());
  EXPECT_EQ(notes["schema"], "sparkops.capture-notes/1");
  EXPECT_EQ(notes["redacted"]["serial numbers"], 1);
  EXPECT_TRUE(notes["taken_at"].is_null()) << "the machine that was read does not say when that was";
}

TEST(Capture, OfPid1OnlyItsProgramAndWhatTellsAContainer) {
  auto entries = private_machine();
  const std::string id(64, 'c');
  entries.insert(entries.end(), {file("proc/1/comm", "bash\n"),
                                 file("proc/1/stat", "1 (bash) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n"),
                                 file("proc/1/cmdline", nul_ended({"/bin/bash", "-c", "run my-secret-experiment"})),
                                 file("proc/1/environ", nul_ended({"container=podman", "DIARY=dear diary"})),
                                 file("proc/1/cgroup", "0::/machine.slice/libpod-" + id + ".scope\n"),
                                 file("proc/4711/cgroup", "0::/system.slice/docker-" + id + ".scope\n", 1000)});
  const Root root = root_of(take_capture(root_of(entries), {}).entries);
  EXPECT_EQ(root.read("proc/1/cmdline").value(), nul_ended({"/bin/bash"}));
  EXPECT_EQ(root.read("proc/1/environ").value(), nul_ended({"container=podman", "DIARY=(left out)"}));
  EXPECT_EQ(facts::read_container(root).runtime.value_or("?"), "podman");
  EXPECT_EQ(root.read("proc/1/cgroup").value(), "0::/machine.slice/libpod-" + id + ".scope\n");
  EXPECT_EQ(root.read("proc/4711/cgroup").value(), "0::/system.slice/docker-" + id + ".scope\n");
}

TEST(Capture, OfALargeHolderOfMemoryItKeepsHowMuchAndWhose) {
  auto entries = private_machine();
  for (const auto& [pid, kib] : {std::pair{5001, "70000"}, std::pair{5002, "60000"}}) {
    const std::string directory = "proc/" + std::to_string(pid);
    entries.push_back(file(directory + "/comm", "redis\n"));
    entries.push_back(file(directory + "/cmdline", nul_ended({"/usr/bin/redis", "--secret-project"})));
    entries.push_back(file(directory + "/status",
                           std::string("Name:\tredis\nUid:\t1000\t1000\t1000\t1000\nVmRSS:\t") + kib + " kB\n"));
  }
  const Root root = root_of(take_capture(root_of(entries), {}).entries);
  EXPECT_THAT(root.read("proc/5001/status").value(), HasSubstr("VmRSS:\t70000 kB"));
  EXPECT_EQ(root.read("proc/5001/cmdline").value(), nul_ended({"/usr/bin/redis"}));
  EXPECT_FALSE(root.exists("proc/5002/status")) << "less than 64 MiB";
}

TEST(Capture, WhatCannotBeReadStaysUnknown) {
  auto entries = private_machine();
  ArchiveEntry environ = file("proc/1/environ", "permission denied\n");
  environ.unreadable = ErrorKind::permission_denied;
  entries.push_back(environ);
  ArchiveEntry zones;
  zones.kind = ArchiveKind::directory;
  zones.path = "sys/class/thermal";
  zones.unreadable = ErrorKind::input_output;
  zones.content = "Input/output error\n";
  entries.push_back(zones);
  const Root root = root_of(take_capture(root_of(entries), {}).entries);
  EXPECT_EQ(root.read("proc/1/environ").error().kind, ErrorKind::permission_denied);
  EXPECT_THAT(root.read("proc/1/environ").error().message, HasSubstr("permission denied"));
  EXPECT_EQ(root.list("sys/class/thermal").error().kind, ErrorKind::input_output);
  EXPECT_EQ(root.read("etc/nvidia/cx7-hotplug-enabled").error().kind, ErrorKind::not_found);
}

/// The facts of a machine that a capture of it must give again.
std::vector<std::string> facts_of(const Root& root) {
  const facts::Identity identity = facts::read_identity(root);
  const facts::Memory memory = facts::read_memory(root);
  const facts::Container container = facts::read_container(root);
  std::vector<std::string> list;
  const auto add = [&](const std::string& name, const auto& value, auto show) {
    list.push_back(name + ": " + (value ? show(*value) : "unknown"));
  };
  const auto as_text = [](const std::string& text) { return text; };
  const auto as_number = [](auto number) { return std::to_string(number); };
  add("architecture", identity.architecture, as_text);
  add("kernel", identity.kernel_release, as_text);
  add("page size", identity.page_size, as_number);
  add("os", identity.operating_system, as_text);
  add("product", identity.product_name, as_text);
  add("bios", identity.bios_version, as_text);
  add("dgx", identity.dgx_release, as_text);
  add("driver", identity.driver_version, as_text);
  add("boot time", identity.boot_time, [](Timestamp time) { return to_rfc3339(time); });
  add("last boot", identity.last_boot_end, [](facts::BootEnd end) { return std::to_string(static_cast<int>(end)); });
  add("devices", identity.nvidia_devices, [](const auto& devices) {
    std::string text;
    for (const facts::PciDevice& device : devices) text += device.address + " " + device.id + ", ";
    return text;
  });
  add("total", memory.info.total, [](Bytes bytes) { return std::to_string(bytes.value); });
  add("min free", memory.min_free, [](Bytes bytes) { return std::to_string(bytes.value); });
  add("huge pages", memory.info.huge_pages_total, as_number);
  add("container", container.inside, as_number);
  for (const std::string& sign : container.signs) list.push_back("sign: " + sign);
  for (const facts::NetworkLink& link : facts::read_network_links(root).links) {
    list.push_back("link: " + link.name);
    add(" pci", link.pci_address, as_text);
    add(" driver", link.driver, as_text);
    add(" up", link.up, as_number);
    add(" mtu", link.mtu, as_number);
    add(" rdma", link.rdma_device, as_text);
    add(" rate", link.rdma_rate, as_text);
  }
  std::vector<std::string> sensors;
  for (const auto& sensor : facts::read_sensors(root).temperatures)
    sensors.push_back("sensor: " + sensor.name + (sensor.critical_trip ? " critical" : ""));
  std::sort(sensors.begin(), sensors.end());
  list.insert(list.end(), sensors.begin(), sensors.end());
  return list;
}

TEST(Capture, ThisMachineReadsBackAsItself) {
  CaptureOptions options;
  options.duration = {0.2};
  std::vector<std::string> progress;
  options.progress = [&](std::string_view what) { progress.emplace_back(what); };
  const Capture capture = take_capture(Root::live(), options);
  EXPECT_GE(progress.size(), 3U);

  TemporaryDirectory directory;
  ASSERT_TRUE(write_capture_file(directory.at("this.machine"), capture.entries).has_value());
  const Root captured = Root::open(directory.at("this.machine")).value();
  EXPECT_EQ(facts_of(captured), facts_of(Root::live()));
  const facts::Memory memory = facts::read_memory(captured);
  ASSERT_TRUE(memory.counters.known());
  ASSERT_TRUE(memory.earlier_counters.known()) << memory.earlier_counters.reason();
  EXPECT_LE(memory.earlier_counters->taken, memory.counters->taken);
  EXPECT_EQ(facts::read_gpus(captured).known(), facts::read_gpus(Root::live()).known());

  // Everything, also what changes from moment to moment, is the same in the tree and in the file.
  ASSERT_TRUE(write_capture_tree(directory.at("tree"), capture.entries).has_value());
  const Root tree = Root::open(directory.at("tree")).value();
  EXPECT_EQ(facts_of(tree), facts_of(captured));
  EXPECT_EQ(facts::read_memory(tree).info.fields, memory.info.fields);
  EXPECT_EQ(tree.read("proc/1/cmdline").value(), captured.read("proc/1/cmdline").value());
}

TEST(Capture, EveryFixtureMachineKeepsItsFacts) {
  for (const auto& item : fs::directory_iterator(SPARKOPS_FIXTURES "/machines")) {
    if (item.path().extension() != ".machine") continue;
    const Root original = Root::open(item.path().string()).value();
    const Root again = root_of(take_capture(original, {}).entries);
    EXPECT_EQ(facts_of(again), facts_of(original)) << item.path();
    EXPECT_EQ(again.read("sparkops/nvml.json").value().size(), original.read("sparkops/nvml.json").value().size());
  }
}

TEST(CaptureOutput, NeverOverwritesAndLeavesNoPart) {
  TemporaryDirectory directory;
  const std::vector<ArchiveEntry> entries{file("a/b", "x\n")};
  ASSERT_TRUE(write_capture_file(directory.at("m.machine"), entries).has_value());
  for (const auto& result : {write_capture_file(directory.at("m.machine"), entries),
                             write_capture_tree(directory.at("m.machine"), entries)}) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::usage);
    EXPECT_THAT(result.error().message, HasSubstr("exists already"));
  }
  fs::create_symlink("nowhere", directory.at("dangling.machine"));
  EXPECT_FALSE(write_capture_file(directory.at("dangling.machine"), entries).has_value());
  const auto nowhere = write_capture_file(directory.at("no/such/directory.machine"), entries);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::usage);
  EXPECT_THAT(nowhere.error().message, testing::MatchesRegex(".*no/such: no directory to write in.*"));
  int count = 0;
  for ([[maybe_unused]] const auto& item : fs::directory_iterator(directory.at(""))) ++count;
  EXPECT_EQ(count, 2) << "the capture and the link, and nothing temporary";
}

TEST(CaptureOutput, ATreeHoldsLinksAndKeepsUnreadableFilesUnknown) {
  TemporaryDirectory directory;
  ArchiveEntry unreadable = file("proc/1/environ", "permission denied\n");
  unreadable.unreadable = ErrorKind::permission_denied;
  ArchiveEntry magic = link("proc/1/exe", "/usr/bin/init");
  magic.kind = ArchiveKind::magic_link;
  const std::vector<ArchiveEntry> entries{file("etc/real", "x\n"), link("etc/alias", "/etc/real"), unreadable, magic};
  ASSERT_TRUE(write_capture_tree(directory.at("tree"), entries).has_value());
  const Root tree = Root::open(directory.at("tree")).value();
  EXPECT_EQ(tree.read("etc/alias").value(), "x\n");
  EXPECT_EQ(tree.read("proc/1/environ").error().kind, ErrorKind::outside_root) << "there, but not to be read";
  EXPECT_EQ(tree.read_link("proc/1/exe").value(), "/usr/bin/init");
  EXPECT_FALSE(tree.read("proc/1/exe").has_value());
}

}  // namespace
}  // namespace sparkops::store
