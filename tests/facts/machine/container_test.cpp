#include "facts/machine/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Tree;

/// NUL between the entries, as in proc/PID/environ.
std::string environment(std::initializer_list<std::string> entries) {
  std::string block;
  for (const std::string& entry : entries) block += entry + '\0';
  return block;
}

TEST(Container, OfNvidiasCatalogueNamesItsImage) {
  // Variables: those NGC images set (NVIDIA deep learning framework containers); values of our own.
  const Tree tree;
  tree.write(".dockerenv", "");
  tree.write("proc/1/environ",
             environment({"PATH=/usr/bin", "NVIDIA_PRODUCT_NAME=PyTorch", "CUDA_VERSION=13.0.1.012",
                          "NVIDIA_PYTORCH_VERSION=25.09", "NVIDIA_REQUIRE_VERSION=9", "NVIDIA_BUILD_ID=123456"}));
  const Container container = read_container(tree.root());
  EXPECT_TRUE(*container.inside);
  EXPECT_EQ(*container.runtime, "docker");
  EXPECT_EQ(*container.ngc_product, "PyTorch");
  EXPECT_EQ(*container.ngc_version, "25.09");
  EXPECT_EQ(*container.cuda_version, "13.0.1.012");
  EXPECT_EQ(*container.image, "NVIDIA PyTorch 25.09 (build 123456)");
}

TEST(Container, IsToldByEachSignAlone) {
  const std::vector<std::tuple<const char*, std::string, const char*>> signs{
      {".dockerenv", "", "docker"},
      {"run/.containerenv", "engine=\"podman-5.0\"\nimage=\"quay.io/a/b:1\"\n", "podman"},
      {"proc/1/cgroup", "0::/system.slice/docker-0123.scope\n", "docker"},
      {"proc/1/cgroup", "0::/kubepods.slice/cri-containerd-01.scope\n", "kubepods"},
      {"proc/1/cgroup", "0::/machine.slice/libpod-01.scope\n", "podman"},
      {"proc/mounts", "overlay / overlay rw,lowerdir=/var/lib/docker/overlay2/l/A,upperdir=/u 0 0\n", "docker"},
      {"proc/1/environ", environment({"container=lxc"}), "lxc"},
  };
  for (const auto& [path, content, runtime] : signs) {
    const Tree tree;
    tree.write(path, content);
    const Container container = read_container(tree.root());
    ASSERT_TRUE(container.inside.known()) << path;
    EXPECT_EQ(*container.runtime, runtime) << path;
    EXPECT_EQ(container.signs.size(), 1U) << path;
  }
}

TEST(Container, OfPodmanNamesItsImage) {
  const Tree tree;
  tree.write("run/.containerenv", "engine=\"podman-5.0\"\nimage=\"registry.example/train:7\"\n");
  EXPECT_EQ(*read_container(tree.root()).image, "registry.example/train:7");
}

TEST(Container, AMissIsNoProofOfAHost) {
  const Tree tree;
  tree.write("proc/1/cgroup", "0::/init.scope\n");
  tree.write("proc/1/comm", "systemd\n");
  tree.write("proc/1/environ", environment({"HOME=/", "TERM=linux"}));
  tree.link("proc/self/ns/pid", "pid:[4026531836]");
  tree.write("proc/mounts", "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\n");
  const Container container = read_container(tree.root());
  EXPECT_FALSE(container.inside.known());
  EXPECT_THAT(container.inside.reason(), HasSubstr("no container marker found"));
  EXPECT_THAT(container.inside.reason(), HasSubstr("PID 1 is systemd"));
  EXPECT_THAT(container.inside.reason(), HasSubstr("host's PID namespace"));
  EXPECT_THAT(container.signs, IsEmpty());
  EXPECT_FALSE(container.cuda_version.known());
}

TEST(Container, AnOverlayOfLiveMediaIsASignButNoProof) {
  const Tree tree;
  tree.write("proc/mounts", "/cow / overlay rw,lowerdir=/filesystem.squashfs,upperdir=/cow/upper 0 0\n");
  const Container container = read_container(tree.root());
  EXPECT_FALSE(container.inside.known());
  EXPECT_THAT(container.signs, Contains(HasSubstr("live media")));
}

TEST(Container, AUsersCudaVersionOnAHostIsNotAnImages) {
  const Tree tree;
  tree.write("proc/self/environ", environment({"CUDA_VERSION=12.4"}));
  EXPECT_FALSE(read_container(tree.root()).cuda_version.known());
}

TEST(Container, HostileFilesProveNothing) {
  const Tree tree;
  tree.write("proc/1/cgroup", std::string("\0\0\xff:::\n\0", 8));
  tree.fifo("proc/1/environ");
  tree.link("run/.containerenv", ".containerenv");
  tree.link(".dockerenv", "/../../../../etc/no-such-file");
  tree.sparse("proc/mounts", std::int64_t{1} << 30);
  const Container container = read_container(tree.root());
  EXPECT_FALSE(container.inside.known());
  EXPECT_THAT(container.signs, IsEmpty());
}

TEST(LiveContainer, IsEitherProvenOrUnknownWithAReason) {
  const Container container = read_container(Root::live());
  if (container.inside) {
    EXPECT_FALSE(container.signs.empty());
  } else {
    EXPECT_THAT(container.inside.reason(), HasSubstr("no container marker found"));
  }
}

TEST(Container, AGarbageCgroupFileIsNoSign) {
  const Tree tree;
  tree.write("proc/1/cgroup", std::string("a\0b\0\0\0/docker/\0", 15));
  const Container container = read_container(tree.root());
  EXPECT_FALSE(container.inside.known());
  EXPECT_THAT(container.inside.reason(), ::testing::HasSubstr("not what a kernel writes"));
}

}  // namespace
}  // namespace sparkops::facts
