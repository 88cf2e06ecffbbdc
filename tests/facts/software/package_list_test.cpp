#include "facts/software/package_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../machine/tree.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// "name version" of every package, "?" for a version that is not known.
std::vector<std::string> told(const PackageList& list) {
  std::vector<std::string> texts;
  for (const Distribution& distribution : list.distributions)
    texts.push_back(distribution.key + " " + distribution.version.value_or("?"));
  return texts;
}

PackageList parsed(std::string_view text, const std::string& name = "list.txt") {
  auto list = parse_package_list(text, name);
  EXPECT_TRUE(list.has_value()) << (list ? "" : list.error().message);
  return list ? std::move(*list) : PackageList{};
}

TEST(PackageListTest, ReadsPipFreeze) {
  const PackageList list = parsed(
      "# comment\nnumpy==2.2.6\nUnsloth_Zoo==2026.7.2  # via unsloth\ntorch @ file:///wheels/torch.whl\n"
      "-e git+https://example.com/x.git@abc#egg=my_tool\nuvloop==0.22 ; sys_platform == 'win32'\n"
      "six==1.17.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\nranged>=1,<2\nplain\n");
  EXPECT_THAT(told(list), ElementsAre("numpy 2.2.6", "unsloth-zoo 2026.7.2", "torch ?", "my-tool ?", "six 1.17.0",
                                      "ranged ?", "plain ?"));
  EXPECT_THAT(list.not_understood, IsEmpty());
  EXPECT_EQ(list.distributions[0].metadata, "list.txt:2");
  EXPECT_THAT(list.distributions[5].version.reason(), HasSubstr(">=1,<2"));
}

TEST(PackageListTest, ReadsPipListInBothForms) {
  const PackageList columns = parsed(
      "Package            Version           Editable project location\n------------------ ----------------- ----\n"
      "PyYAML             6.0.2\npycocotools        2.0+nv0.8.1\nmine               0.1               /home/u/mine\n");
  EXPECT_EQ(columns.format, "pip list");
  EXPECT_THAT(told(columns), ElementsAre("pyyaml 6.0.2", "pycocotools 2.0+nv0.8.1", "mine 0.1"));
  const PackageList json = parsed(R"([{"name": "torch", "version": "2.11.0"}, {"version": "1"}])", "list.json");
  EXPECT_THAT(told(json), ElementsAre("torch 2.11.0"));
  EXPECT_THAT(json.not_understood, SizeIs(1));
}

TEST(PackageListTest, ReadsPipInspectWithRequirements) {
  const PackageList list = parsed(
      R"({"version": "1", "installed": [{"metadata": {"name": "peft", "version": "0.19.1", "requires_dist": ["torch>=1.13"]}}],
          "environment": {"python_full_version": "3.12.3"}})");
  ASSERT_THAT(list.distributions, SizeIs(1));
  EXPECT_THAT(list.distributions[0].requirements, SizeIs(1));
  EXPECT_EQ(*list.python_version, "3.12.3");
}

TEST(PackageListTest, ReadsCondaLists) {
  const PackageList list = parsed(
      "# packages in environment at /opt/conda:\n#\n# Name  Version  Build  Channel\nnumpy  2.2.6  py312_0  "
      "conda-forge\n"
      "pytorch  2.9.1  cuda129_generic_py312h1  conda-forge\nrich  14.0.0  pypi_0  pypi\n");
  EXPECT_EQ(list.format, "conda list");
  EXPECT_THAT(told(list), ElementsAre("numpy 2.2.6", "torch 2.9.1", "rich 14.0.0"));
  EXPECT_EQ(list.distributions[1].conda_build, "cuda129_generic_py312h1");
  const PackageList exported = parsed("# platform: linux-aarch64\nnumpy=2.2.6=py312_0\n");
  EXPECT_THAT(told(exported), ElementsAre("numpy 2.2.6"));
  const PackageList json = parsed(R"([{"name": "pytorch", "version": "2.9.1", "build_string": "cpu_generic_py312"}])");
  EXPECT_THAT(told(json), ElementsAre("torch 2.9.1"));
}

TEST(PackageListTest, ReadsCollectEnv) {
  const PackageList list = parsed(
      "Collecting environment information...\nPyTorch version: 2.11.0+cu130\nCUDA used to build PyTorch: 13.0\n\n"
      "Python version: 3.12.13 (main) [GCC] (64-bit runtime)\nIs CUDA available: False\nCUDA runtime version: 13.0.88\n"
      "Nvidia driver version: Could not collect\nArchitecture:                aarch64\n\n"
      "[pip3] numpy==2.2.6\n[conda] Could not collect\n");
  EXPECT_EQ(list.format, "collect_env");
  EXPECT_THAT(told(list), ElementsAre("numpy 2.2.6", "torch 2.11.0+cu130"));
  EXPECT_EQ(*list.machine.torch_cuda, "13.0");
  EXPECT_EQ(*list.machine.architecture, "aarch64");
  EXPECT_EQ(*list.machine.cuda_available, "False");
  EXPECT_FALSE(list.machine.driver.known());
  EXPECT_EQ(*list.python_version, "3.12.13");
}

TEST(PackageListTest, ReadsLinesOfNamesAndVersionsAndSaysWhatItDoesNot) {
  const PackageList list = parsed(
      "machine aarch64\ntorch 2.12.0a0+5aff.nv26.05 13.2\ncuda NVIDIA GB10 (12, 1)\ntorch 2.12.0a0+5aff.nv26.5.506\n");
  EXPECT_THAT(told(list), ElementsAre("torch 2.12.0a0+5aff.nv26.05")) << "the same installation, printed twice";
  EXPECT_EQ(*list.machine.architecture, "aarch64");
  EXPECT_THAT(list.not_understood, ElementsAre(HasSubstr("list.txt:3: 'cuda NVIDIA GB10")));
}

TEST(PackageListTest, KeepsTwoVersionsOfOnePackageApart) {
  EXPECT_THAT(parsed("torch==2.9.1\ntorch==2.11.0\n").distributions, SizeIs(2));
}

TEST(PackageListTest, ReadsLocksForThisPlatform) {
  const PackageList uv = parsed(
      "version = 1\n[[package]]\nname = \"mine\"\nversion = \"0.1\"\nsource = { virtual = \".\" }\n"
      "[[package]]\nname = \"torch\"\nversion = \"2.11.0+cu130\"\nsource = { registry = "
      "\"https://download.pytorch.org/whl/cu130\" }\n"
      "resolution-markers = [\"platform_machine == 'aarch64'\"]\n"
      "[[package]]\nname = \"torch\"\nversion = \"2.11.0\"\nresolution-markers = [\"sys_platform == 'darwin'\"]\n",
      "uv.lock");
  EXPECT_THAT(told(uv), ElementsAre("torch 2.11.0+cu130"));
  EXPECT_THAT(uv.distributions[0].index, HasSubstr("cu130"));
  const PackageList pylock =
      parsed("lock-version = \"1.0\"\n[[packages]]\nname = \"rich\"\nversion = \"14.0\"\n", "pylock.toml");
  EXPECT_THAT(told(pylock), ElementsAre("rich 14.0"));
  const PackageList project =
      parsed("[project]\nname = \"x\"\ndependencies = [\"torch==2.9.1\", \"trl>=1\"]\n", "pyproject.toml");
  EXPECT_THAT(told(project), ElementsAre("torch 2.9.1", "trl ?"));
}

TEST(PackageListTest, KnowsWhereARequirementsFileTakesTorchFrom) {
  const PackageList list =
      parsed("--extra-index-url https://download.pytorch.org/whl/cu130\ntorch==2.10.0\nnumpy==2.2\n-r more.txt\n");
  EXPECT_THAT(list.distributions[0].index, HasSubstr("whl/cu130"));
  EXPECT_EQ(list.distributions[1].index, "");
  EXPECT_THAT(list.not_understood, ElementsAre(HasSubstr("more.txt")));
}

TEST(PackageListTest, RefusesWhatNamesNoPackage) {
  for (const std::string& text : std::vector<std::string>{"", "\n\n", "the quick brown fox: jumps!\n", "{}", "[1, 2]",
                                                          std::string("torch==1\0", 9), "[>^\n[[package*",
                                                          "[[package]]\n=", std::string(5000, '[')})
    EXPECT_FALSE(parse_package_list(text, "x").has_value()) << text.substr(0, 30);
}

TEST(PackageListTest, IsBounded) {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += "p" + std::to_string(i) + "==1\n";
  EXPECT_THAT(parsed(text).distributions, SizeIs(5000));
}

TEST(PackageListTest, OfAFileIsDeclaredSoftware) {
  const testing::Tree tree;
  tree.write("freeze.txt", "torch==2.11.0\n");
  const auto software = read_package_list(tree.path("freeze.txt"));
  ASSERT_TRUE(software.has_value());
  EXPECT_TRUE(software->declared);
  EXPECT_EQ(software->environment()->kind, EnvironmentKind::declared);
  EXPECT_EQ(read_package_list(tree.path("missing.txt")).error().kind, ErrorKind::usage);
  EXPECT_EQ(read_package_list(tree.path("")).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace sparkops::facts
