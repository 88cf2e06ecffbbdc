#include "facts/software/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "../machine/tree.h"
#include "facts/software/software.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::Tree;

SoftwareVariables variables(EnvironmentVariables values) {
  return {std::move(values), "a test"};
}

void make_executable(const Tree& tree, const std::string& path) {
  tree.write(path,
             "\x7f"
             "ELF");
  std::filesystem::permissions(tree.path(path), std::filesystem::perms(0755));
}

void add_package(const Tree& tree, const std::string& site, const std::string& name, const std::string& version) {
  tree.write(site + "/" + name + "-" + version + ".dist-info/METADATA",
             "Name: " + name + "\nVersion: " + version + "\n");
}

void add_torch(const Tree& tree, const std::string& site, const std::string& version, const std::string& cuda) {
  add_package(tree, site, "torch", version);
  tree.write(site + "/torch/version.py",
             "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda']\n__version__ = '" + version +
                 "'\ndebug = False\ncuda: Optional[str] = " + cuda +
                 "\ngit_version = 'abc'\nhip: Optional[str] = None\n");
}

/// Ubuntu's own Python 3.12 under /usr.
void add_system_python(const Tree& tree) {
  make_executable(tree, "usr/bin/python3.12");
  tree.link("usr/bin/python3", "python3.12");
  tree.write("usr/lib/python3.12/EXTERNALLY-MANAGED", "[externally-managed]\n");
  add_package(tree, "usr/lib/python3/dist-packages", "six", "1.16.0");
}

void add_virtual_environment(const Tree& tree, const std::string& more = "") {
  tree.write("home/u/env/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n" + more);
  tree.link("home/u/env/bin/python3", "/usr/bin/python3");
  add_torch(tree, "home/u/env/lib/python3.12/site-packages", "2.11.0+cu130", "'13.0'");
}

TEST(Environment, IsTheSystemsPythonOnPath) {
  const Tree tree;
  add_system_python(tree);
  add_package(tree, "home/u/.local/lib/python3.12/site-packages", "six", "1.17.0");
  const auto found =
      read_environment(tree.root(), {}, variables({{"PATH", "relative:/bin:/usr/bin"}, {"HOME", "/home/u"}}));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->kind, EnvironmentKind::system);
  EXPECT_EQ(found->found_by, "python3 on PATH");
  EXPECT_EQ(*found->python_version, "3.12");
  EXPECT_EQ(*found->abi_tag, "cp312");
  EXPECT_TRUE(*found->externally_managed);
  EXPECT_THAT(found->distributions, SizeIs(2));
  EXPECT_EQ(*found->find("six")->version, "1.17.0") << "the user's own comes first";
}

TEST(Environment, OfAVirtualOneIsItsOwn) {
  const Tree tree;
  add_system_python(tree);
  add_virtual_environment(tree);
  add_torch(tree, "usr/local/lib/python3.12/dist-packages", "2.9.0+cpu", "None");
  const auto found =
      read_environment(tree.root(), {}, variables({{"VIRTUAL_ENV", "/home/u/env"}, {"HOME", "/home/u"}}));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->kind, EnvironmentKind::virtual_environment);
  EXPECT_EQ(found->found_by, "$VIRTUAL_ENV");
  EXPECT_EQ(*found->python_version, "3.12.3");
  EXPECT_FALSE(*found->externally_managed);
  EXPECT_EQ(found->find("six"), nullptr);
  ASSERT_THAT(found->torch, SizeIs(1));
  EXPECT_EQ(*found->torch[0].cuda, "13.0");
  ASSERT_THAT(found->torch_elsewhere, SizeIs(1));
  EXPECT_EQ(*found->torch_elsewhere[0].cuda, "") << "a build without CUDA";
}

TEST(Environment, MayLookThroughToTheSystem) {
  const Tree tree;
  add_system_python(tree);
  add_virtual_environment(tree, "include-system-site-packages = true\n");
  add_torch(tree, "usr/local/lib/python3.12/dist-packages", "2.9.0+cpu", "None");
  const auto found = read_environment(tree.root(), {.python = "", .directory = "/home/u/env"}, {});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->found_by, "--env");
  EXPECT_NE(found->find("six"), nullptr);
  ASSERT_THAT(found->torch, SizeIs(2)) << "two copies on the path";
  EXPECT_EQ(*found->torch[0].version, "2.11.0+cu130");
}

TEST(Environment, OfAnotherPythonThanTheImagesTorchSeesNone) {
  const Tree tree;
  add_system_python(tree);
  add_torch(tree, "usr/local/lib/python3.12/dist-packages", "2.10.0a0+b558c986e8.nv25.11", "'13.0'");
  make_executable(tree, "opt/py/bin/python3.11");
  tree.link("opt/py/bin/python3", "python3.11");
  tree.directory("opt/py/lib/python3.11/site-packages");
  tree.write("srv/env/pyvenv.cfg",
             "home = /opt/py/bin\nversion_info = 3.11.9.final.0\ninclude-system-site-packages = true\n");
  tree.link("srv/env/bin/python3", "/opt/py/bin/python3");
  tree.directory("srv/env/lib/python3.11/site-packages");
  const auto found = read_environment(tree.root(), {.python = "/srv/env/bin/python3", .directory = ""}, {});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(*found->python_version, "3.11.9");
  EXPECT_THAT(found->torch, SizeIs(0));
  ASSERT_THAT(found->torch_elsewhere, SizeIs(1));
  EXPECT_THAT(found->torch_elsewhere[0].directory, HasSubstr("python3.12"));
}

TEST(Environment, OfCondaTellsItsPackages) {
  const Tree tree;
  make_executable(tree, "opt/conda/bin/python3.12");
  tree.link("opt/conda/bin/python3", "python3.12");
  tree.directory("opt/conda/lib/python3.12/site-packages");
  tree.write("opt/conda/conda-meta/python-3.12.7-h5148396_0.json", "{}");
  tree.write("opt/conda/conda-meta/cuda-cudart-12.6.77-0.json", "{}");
  const auto found = read_environment(tree.root(), {}, variables({{"CONDA_PREFIX", "/opt/conda"}}));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->kind, EnvironmentKind::conda);
  EXPECT_EQ(*found->python_version, "3.12.7");
  ASSERT_THAT(found->conda_packages, SizeIs(2));
  EXPECT_EQ(found->conda_packages[0].name, "cuda-cudart");
  EXPECT_EQ(found->conda_packages[0].version, "12.6.77");
}

TEST(Environment, FollowsPyenvsShims) {
  const Tree tree;
  tree.write("root/.pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv\n");
  std::filesystem::permissions(tree.path("root/.pyenv/shims/python3"), std::filesystem::perms(0755));
  tree.write("root/.pyenv/version", "3.11.7\n");
  make_executable(tree, "root/.pyenv/versions/3.11.7/bin/python3.11");
  tree.link("root/.pyenv/versions/3.11.7/bin/python3", "python3.11");
  add_package(tree, "root/.pyenv/versions/3.11.7/lib/python3.11/site-packages", "pip", "24.0");
  const auto path = variables({{"PATH", "/root/.pyenv/shims"}});
  const auto found = read_environment(tree.root(), {}, path);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(*found->python_version, "3.11.7");
  EXPECT_NE(found->find("pip"), nullptr);
  tree.write("root/.pyenv/version", "../../../etc\n");
  EXPECT_EQ(read_environment(tree.root(), {}, path).error().kind, ErrorKind::unsupported);
}

TEST(Environment, HonoursPythonpathAndPathFiles) {
  const Tree tree;
  add_system_python(tree);
  add_package(tree, "extra/first", "six", "9.9");
  add_package(tree, "src/mine", "mine", "0.1");
  tree.write("usr/local/lib/python3.12/dist-packages/mine.pth",
             "# note\nimport os; os.system('x')\n/src/mine\n../nowhere\n");
  const auto found = read_environment(tree.root(), {}, variables({{"PYTHONPATH", "/extra/first:relative"}}));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(*found->find("six")->version, "9.9");
  EXPECT_NE(found->find("mine"), nullptr);
}

TEST(Environment, ThatWasAskedForAndIsNotThereIsAUsageError) {
  const Tree tree;
  add_system_python(tree);
  EXPECT_EQ(read_environment(tree.root(), {.python = "/no/python3", .directory = ""}, {}).error().kind,
            ErrorKind::usage);
  EXPECT_EQ(read_environment(tree.root(), {.python = "/usr/bin", .directory = ""}, {}).error().kind, ErrorKind::usage);
  EXPECT_EQ(read_environment(tree.root(), {.python = "", .directory = "/usr/lib"}, {}).error().kind, ErrorKind::usage);
}

TEST(Environment, CyclesAndLoopsEnd) {
  const Tree tree;
  tree.link("env/bin/python3", "python");
  tree.link("env/bin/python", "python3");
  tree.write("env/pyvenv.cfg", std::string("home = /usr/bin\0\n", 17) + std::string(100000, '='));
  const auto found = read_environment(tree.root(), {.python = "", .directory = "/env"}, {});
  EXPECT_FALSE(found.has_value());
}

TEST(Software, WithoutAnyPythonHasNoEnvironment) {
  const Tree tree;
  tree.write("proc/self/environ", std::string("PATH=/usr/bin\0CUDA_VISIBLE_DEVICES=\0HF_TOKEN=secret\0", 52));
  const auto software = read_software(tree.root(), {});
  ASSERT_TRUE(software.has_value());
  ASSERT_TRUE(software->environments.known());
  EXPECT_EQ(software->environment(), nullptr);
  ASSERT_TRUE(software->variables.known());
  ASSERT_NE(software->variables->find("CUDA_VISIBLE_DEVICES"), nullptr);
  EXPECT_EQ(*software->variables->find("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(software->variables->find("HF_TOKEN"), nullptr);
}

TEST(TorchVersion, IsReadWithoutRunningIt) {
  const TorchBuild plain = parse_torch_version("__version__ = '2.9.1+cpu'\ncuda = None\n", "/t");
  EXPECT_EQ(*plain.version, "2.9.1+cpu");
  EXPECT_EQ(*plain.cuda, "");
  const TorchBuild silent = parse_torch_version("cuda = get_cuda()\n", "/t");
  EXPECT_FALSE(silent.cuda.known());
  EXPECT_FALSE(silent.version.known());
}

}  // namespace
}  // namespace sparkops::facts
