#include "store/redaction.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "base/archive.h"
#include "base/text.h"

namespace sparkops::store {
namespace {

using testing::HasSubstr;
using testing::Not;

Redactor redactor() {
  return Redactor({{"alice", "bob.miller"}, {"spark-1a2b.example.org", "spark-1a2b"}});
}

/// Words with NUL behind each.
std::string words(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& word : list) out += word + '\0';
  return out;
}

TEST(Redaction, TheSameValueBecomesTheSamePlaceholder) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.text("10.1.2.3 and 10.1.2.4 and 10.1.2.3"), "192.0.2.1 and 192.0.2.2 and 192.0.2.1");
  EXPECT_EQ(redact.text("alice on spark-1a2b (spark-1a2b.example.org), bob.miller"), "user1 on host1 (host2), user2");
  EXPECT_EQ(redact.text("/home/alice/x /home/carol/y"), "/home/user1/x /home/user3/y");
  EXPECT_EQ(redact.counts().at("user names"), 3);
  EXPECT_EQ(redact.counts().at("IPv4 addresses"), 2);
  EXPECT_EQ(redact.counts().at("secrets"), 0);
}

TEST(Redaction, AddressesOfEveryForm) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.text("ether 48:b0:2d:aa:bb:cc up"), "ether 02:00:00:00:00:01 up");
  EXPECT_EQ(redact.text("48-B0-2D-AA-BB-CC"), "02:00:00:00:00:01") << "the same address in another spelling";
  EXPECT_EQ(redact.text("enx48b02daabbcc: link"), "enx020000000001: link");
  EXPECT_EQ(redact.text("fe80::1ff:fe23:4567:890a/64"), "fe80::1/64");
  EXPECT_EQ(redact.text("[2a01:4f8:1:2::3]:8000"), "[2001:db8::2]:8000");
  EXPECT_EQ(redact.text("2a01:4f8:0:0:0:0:0:1"), "2001:db8::3");
  EXPECT_EQ(redact.text("GPU-6b2a3c4d-1111-2222-3333-444455556666"), "GPU-00000000-0000-4000-8000-000000000001");
  EXPECT_EQ(redact.text("id 0123456789abcdef0123456789abcdef"), "id 00000000000040008000000000000002");
  EXPECT_EQ(redact.text("mail alice.b@example.com now"), "mail mail1@example.invalid now");
  EXPECT_EQ(redact.text("ping printer.local"), "ping host1");
}

TEST(Redaction, WhatOnlyLooksLikeAnAddressStays) {
  for (const std::string text :
       {"127.0.0.1:8000", "0.0.0.0", "::1", "::", "000f:01:00.0", "0000:01:00.0", "09:17:58", "VLLM::EngineCore",
        "std::add", "580.159.03", "13.0.2.006", "6.17.0-1014-nvidia", "user@1000.service", "getty@tty1.service",
        "255.255.255.0", "pci0000:00/0000:00:1f.6", "--max-num-batched-tokens=8192", "sha256",
        "docker-4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d.scope"}) {
    Redactor redact = redactor();
    EXPECT_EQ(redact.text(text), text);
  }
}

/// Lines in which a colon or two parts something that is no address.
TEST(Redaction, NoLineOfACgroupATimeADeviceOrANameOfCppIsAnAddress) {
  const std::string container(64, 'd');
  for (const std::string& text : {std::string("0::/\n"),
                                  std::string("0::/init.scope\n"),
                                  "0::/system.slice/docker-" + container + ".scope\n",
                                  "12:pids:/docker/" + container + "\n",
                                  std::string("1:name=systemd:/\n0::/\n"),
                                  std::string("13:cpu,cpuacct:/\n9:memory::/\n"),
                                  std::string("12:34:56"),
                                  std::string("1:2:3"),
                                  std::string("at 12:34:56:789"),
                                  std::string("0000:01:00.0"),
                                  std::string("0000:00"),
                                  std::string("PCI:000f:01:00"),
                                  std::string("VLLM::Worker_TP"),
                                  std::string("VLLM::Worker_TP0"),
                                  std::string("VLLM::EngineCore"),
                                  std::string("ab::cd"),
                                  std::string("c10::add"),
                                  std::string("a::b::c"),
                                  std::string("dead::beef"),
                                  std::string("decade::facade"),
                                  std::string("abc::"),
                                  std::string("::abc"),
                                  std::string("::add"),
                                  std::string("x ::"),
                                  std::string(":: y"),
                                  std::string("1::"),
                                  std::string("[::]:8000"),
                                  std::string("[::1]:8000"),
                                  std::string("a[1::2]"),
                                  std::string("0:0:0:0:0:0:0:1"),
                                  std::string("fe80::1::2"),
                                  std::string(":::")}) {
    Redactor redact = redactor();
    EXPECT_EQ(redact.text(text), text);
    EXPECT_EQ(redact.counts().at("IPv6 addresses"), 0) << text;
  }
}

RC_GTEST_PROP(Redaction, NoLineOfACgroupIsAnAddress, (std::uint8_t hierarchy)) {
  const std::string path =
      *rc::gen::element<std::string>("", "init.scope", "a", "fe", "docker/abc", "system.slice/x.service");
  const std::string controllers = *rc::gen::element<std::string>("", "memory", "cpu,cpuacct", "name=systemd");
  const std::string line = std::to_string(hierarchy) + ":" + controllers + ":/" + path + "\n";
  Redactor redact = redactor();
  RC_ASSERT(redact.text(line) == line);
}

/// Whatever inet_ntop writes for an address of a block in use.
RC_GTEST_PROP(Redaction, EveryIpv6AddressInUseGoes, ()) {
  const std::string block = *rc::gen::element<std::string>("20", "2a", "26", "3f", "fc", "fd", "fe80", "fec0", "ff02");
  in6_addr address{};
  for (auto& byte : address.s6_addr)
    byte = *rc::gen::weightedElement<int>({{1, 0}, {1, 1}}) == 0 ? 0 : *rc::gen::arbitrary<std::uint8_t>();
  for (std::size_t i = 0; i < block.size() / 2; ++i)
    address.s6_addr[i] = static_cast<std::uint8_t>(std::stoi(block.substr(2 * i, 2), nullptr, 16));
  std::array<char, INET6_ADDRSTRLEN> text{};
  RC_ASSERT(::inet_ntop(AF_INET6, &address, text.data(), text.size()) != nullptr);
  Redactor redact = redactor();
  const std::string redacted = redact.text("to [" + std::string(text.data()) + "]:8000");
  const bool local = std::string(text.data()).starts_with("fe80");
  const bool placeholder = redacted == "to [" + std::string(local ? "fe80" : "2001:db8") + "::1]:8000";
  RC_ASSERT(placeholder || redacted == "to [" + std::string(text.data()) + "]:8000");
  // The only ones that stay are those that look like a placeholder.
  if (!placeholder) RC_ASSERT(std::string(text.data()).size() <= 10 && local);
}

TEST(Redaction, AnIpv4AddressInsideAnIpv6OneGoes) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.text("::ffff:10.1.2.3"), "::ffff:192.0.2.1");
  EXPECT_EQ(redact.text("::ffff:0a01:203 64:ff9b::a01:203"), "2001:db8::1 2001:db8::2");
}

TEST(Redaction, NoPlantedSecretSurvivesInACommandLine) {
  const std::string secret = "S3cretV4lueThatMustGo";
  const std::vector<std::vector<std::string>> command_lines{
      {"vllm", "serve", "m", "--api-key", secret},
      {"vllm", "serve", "m", "--api-key=" + secret},
      {"app", "--hf-token", secret},
      {"app", "--hf_token=" + secret},
      {"app", "--password", secret, "--port", "8000"},
      {"env", "WANDB_API_KEY=" + secret, "python3", "train.py"},
      {"bash", "-c", "export HF_TOKEN=" + secret + " && python3 train.py --port 8000"},
      {"bash", "-c", "curl -H 'Authorization: Bearer " + secret + "' http://localhost:8000"},
      {"sh", "-c", "app --api-key " + secret + " --port 1"},
      {"python3", "train.py", "model.auth_token=" + secret},
      {"python3", "train.py", "hf_" + secret},
      {"python3", "train.py", "sk-proj-" + secret},
      {"python3", "train.py", "nvapi-" + secret},
      {"git", "clone", "https://alice:" + secret + "@git.example.com/x"},
      {"git", "clone", "https://" + secret + "@git.example.com/x"},
      {"curl", "http://localhost/?token=" + secret + "&x=1"},
      {"psql", "postgresql://u:" + secret + "@db/x"},
      {"app", "--client-secret=" + secret},
      {"app", "--aws-secret-access-key", secret},
      {"vllm", "serve", "m", "--hf-overrides", "{\"token\":\"" + secret + "\"}"},
      {"vllm", "serve", "m", "--extra", "{\"auth\": {\"password\": \"" + secret + "\"}, \"a\": 1}"},
      {"python3", "train.py", "{'hf_token':'" + secret + "'}"},
      {"curl", "-H", "X-Api-Key: " + secret},
      {"curl", "-H", "Authorization: Basic " + secret},
      {"curl", "https://blob.example.com/x?sv=1&sig=" + secret + "&se=2"},
      {"curl", "https://bucket.example.com/x?X-Amz-Signature=" + secret},
      {"app", "password:" + secret},
      {"curl", "-u", "alice:" + secret, "https://example.com/"},
      {"curl", "-ualice:" + secret, "https://example.com/"},
      {"curl", "--user", "alice:" + secret, "https://example.com/"},
      {"curl", "-x", "http://proxy:3128", "--proxy-user", "alice:" + secret},
      {"docker", "login", "-u", "alice", "-p", secret, "registry.example.com"},
      {"sshpass", "-p", secret, "ssh", "box"},
      {"mysql", "-p" + secret},
      {"bash", "-c", "curl -s -u alice:" + secret + " https://example.com/ | tar x"},
      {"bash", "-c", "sshpass -p " + secret + " ssh box"},
  };
  for (const auto& line : command_lines) {
    Redactor redact = redactor();
    const std::string redacted = redact.command_line(words(line));
    EXPECT_THAT(redacted, Not(HasSubstr(secret))) << join(line, " ");
    EXPECT_THAT(redacted, HasSubstr("secret-1")) << join(line, " ");
    EXPECT_GE(redact.counts().at("secrets"), 1);
    EXPECT_EQ(std::count(redacted.begin(), redacted.end(), '\0'), static_cast<std::ptrdiff_t>(line.size()));
  }
}

TEST(Redaction, ASignatureOfPathsIsNoSecret) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.text("key:/system.slice/x"), "key:/system.slice/x");
  EXPECT_EQ(redact.text("auth::module"), "auth::module");
  EXPECT_EQ(redact.text("max_tokens: 4096"), "max_tokens: 4096");
}

TEST(Redaction, WhatReadersNeedOfACommandLineStays) {
  Redactor redact = redactor();
  const std::string line =
      words({"/usr/bin/python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "Qwen/Qwen3-32B",
             "--gpu-memory-utilization", "0.4", "--tensor-parallel-size=2", "--max-num-batched-tokens", "8192",
             "--kv-cache-dtype", "fp8", "--port", "8000", "--host", "0.0.0.0", "--token-limit", "4096"});
  EXPECT_EQ(redact.command_line(line), line);
}

TEST(Redaction, PortsIdsAndPathsBehindTheSameShortOptionsStay) {
  Redactor redact = redactor();
  const std::string line =
      words({"docker", "run",      "-u",          "1000:1000",  "-p",      "8000:8000", "-p",   "127.0.0.1:80:80/tcp",
             "mkdir",  "-p",       "/models/new", "-u",         "trainer", "-p",        "8080", "python3",
             "-u",     "train.py", "-python",     "-p8000:8000"});
  EXPECT_EQ(redact.command_line(line), line);
  EXPECT_EQ(redact.counts().at("secrets"), 0);
}

TEST(Redaction, HostsThatAnOptionNames) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.command_line(words({"torchrun", "--master_addr", "gpu7", "--master-addr=gpu8", "--nnodes", "2",
                                       "--rdzv_endpoint", "gpu7:29500", "train.py"})),
            words({"torchrun", "--master_addr", "host1", "--master-addr=host2", "--nnodes", "2", "--rdzv_endpoint",
                   "host1:29500", "train.py"}));
}

TEST(Redaction, OfAnEnvironmentOnlyWhatReadersUseKeepsItsValue) {
  Redactor redact = redactor();
  EXPECT_EQ(
      redact.environment(words({"CUDA_VISIBLE_DEVICES=0", "NCCL_SOCKET_IFNAME=enp1s0f1np1", "HF_TOKEN=abcdefgh",
                                "VLLM_API_KEY=abcdefgh", "HF_HOME=/home/alice/hf", "EDITOR=vim", "MY_DIARY=dear diary",
                                "EMPTY=", "MASTER_ADDR=gpu7", "MASTER_PORT=29500", "CUDA_VERSION=13.0.2.6",
                                "LD_LIBRARY_PATH=/home/alice/lib:/usr/lib"})),
      words({"CUDA_VISIBLE_DEVICES=0", "NCCL_SOCKET_IFNAME=enp1s0f1np1", "HF_TOKEN=secret-1", "VLLM_API_KEY=secret-1",
             "HF_HOME=/home/user1/hf", "EDITOR=(left out)", "MY_DIARY=(left out)", "EMPTY=", "MASTER_ADDR=host1",
             "MASTER_PORT=29500", "CUDA_VERSION=13.0.2.6", "LD_LIBRARY_PATH=/home/user1/lib:/usr/lib"}));
}

TEST(Redaction, SerialNumbersInReleaseFiles) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.assignments("DGX_SERIAL_NUMBER=\"1983924X\"\nDGX_OTA_VERSION=\"7.5.0\"\n"),
            "DGX_SERIAL_NUMBER=\"serial-1\"\nDGX_OTA_VERSION=\"7.5.0\"\n");
}

TEST(Redaction, AHostNameThatIsAlsoAWordOfTheKernelDoesNotChangePaths) {
  Redactor redact({{"net"}, {"class"}});
  EXPECT_EQ(redact.path("sys/class/net/enx48b02daabbcc"), "sys/class/net/enx020000000001");
  EXPECT_EQ(redact.text("on class"), "on host1");
}

TEST(Redaction, PathsLoseHomesAndAddressesAndKeepTheVersionsOfPackages) {
  Redactor redact({{}, {}});
  EXPECT_EQ(redact.path("home/alice/env/lib/x.py"), "home/user1/env/lib/x.py");
  EXPECT_EQ(redact.path("/home/alice/env"), "/home/user1/env");
  EXPECT_EQ(redact.path("home/alice/nvidia_cublas-13.1.0.3.dist-info/METADATA"),
            "home/user1/nvidia_cublas-13.1.0.3.dist-info/METADATA");
  EXPECT_EQ(redact.path("/usr/lib/libcublas.so.13.1.0.3"), "/usr/lib/libcublas.so.13.1.0.3");
  EXPECT_EQ(redact.path("run/10.0.0.7/x"), "run/192.0.2.1/x");
  EXPECT_EQ(redact.path(""), "");
  EXPECT_EQ(redact.path("/"), "/");
}

TEST(Redaction, HexadecimalAddressesOfProc) {
  Redactor redact = redactor();
  EXPECT_EQ(redact.route_address("0100A8C0"), "010200C0") << "192.168.0.1 becomes 192.0.2.1";
  EXPECT_EQ(redact.route_address("00000000"), "00000000");
  EXPECT_EQ(redact.text("192.168.0.1"), "192.0.2.1") << "the same address elsewhere";
  EXPECT_EQ(redact.ipv6_address("00000000000000000000000000000001"), "00000000000000000000000000000001");
  EXPECT_EQ(redact.ipv6_address("fe8000000000000048b02dfffeaabbcc"), "fe800000000000000000000000000001");
  EXPECT_EQ(redact.ipv6_address("2a0104f8000100020000000000000003"), "20010db8000000000000000000000002");
}

TEST(Redaction, NamesThatMeanSomethingElseAreReplacedInHomesOnly) {
  const Root root(parse_archive_root("sparkops-machine 1\nfile 0644 etc/passwd\n|root:x:0:0::/root:/bin/sh\n"
                                     "|nvidia:x:1000:1000::/home/nvidia:/bin/sh\n|zoe:x:1001:1001::/home/zoe:/bin/sh\n"
                                     "|daemon:x:2:2::/:/bin/sh\n|broken\n"
                                     "file 0444 proc/sys/kernel/hostname\n|lab7.example.net\ndirectory 0755 home/yuri\n"
                                     "end\n",
                                     "names")
                      .value());
  const PrivateNames names = read_private_names(root);
  EXPECT_THAT(names.users, testing::UnorderedElementsAre("zoe", "yuri"));
  EXPECT_THAT(names.hosts, testing::ElementsAre("lab7.example.net", "lab7"));
  Redactor redact(names);
  EXPECT_EQ(redact.text("nvidia-smi of zoe in /home/nvidia"), "nvidia-smi of user1 in /home/user2");
}

rc::Gen<std::string> interesting_text(const std::string& separator) {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "alice", "spark-1a2b", "10.1.2.3", "fe80::1:2", "48:b0:2d:aa:bb:cc", " ", "/home/", "/", ":",
                          "=", "token", "@", "https://", "a.b", "hf_abcdefghijklmnop", ".local", "\n", "--api-key",
                          "6b2a3c4d-1111-2222-3333-444455556666", "x", "é", "\xff", std::string(1, '\0'))),
                      [separator](const std::vector<std::string>& parts) { return join(parts, separator); });
}

RC_GTEST_PROP(Redaction, RedactingTwiceChangesNothing, ()) {
  const std::string text = *interesting_text(" ");
  Redactor first = redactor();
  const std::string once = first.text(text);
  Redactor second({{}, {}});
  RC_ASSERT(second.text(once) == once);
}

TEST(Redaction, ANameGluedToSomethingElseGoesToo) {
  Redactor redact = redactor();
  for (const std::string text : {"alice--api-key=abc", "alice://x", "alice@example.invalid", "alice-token=1"})
    EXPECT_THAT(redact.text(text), Not(HasSubstr("alice"))) << text;
  EXPECT_THAT(redact.command_line(words({"--alice-key=abcdefgh", "alice.token=abcdefgh"})), Not(HasSubstr("alice")));
}

RC_GTEST_PROP(Redaction, NoNameSurvivesAsAWord, ()) {
  Redactor redact = redactor();
  const std::string redacted = " " + redact.text(*interesting_text("")) + " ";
  for (const std::string name : {"alice", "spark-1a2b"})
    for (std::size_t at = redacted.find(name); at != std::string::npos; at = redacted.find(name, at + 1)) {
      const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
      RC_ASSERT(is_word(redacted[at - 1]) || is_word(redacted[at + name.size()]));
    }
}

TEST(Redaction, TakesLinearTime) {
  // Each of these would be slow for a scanner that starts again at every word.
  for (const std::string part : {"a.", "a@", "1.", ":", "a-", "http://", "-x=", "a b "}) {
    std::string text;
    while (text.size() < (1U << 17)) text += part;
    Redactor redact = redactor();
    EXPECT_FALSE(redact.text(text).empty());
    EXPECT_FALSE(redact.command_line(text).empty());
  }
}

}  // namespace
}  // namespace sparkops::store
