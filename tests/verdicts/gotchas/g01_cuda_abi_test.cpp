#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../software_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::declared;
using ::testing::HasSubstr;
using testing::healthy_spark;
using testing::installed;
using testing::package;

Finding judge(const facts::Software& software, const facts::Machine& machine = healthy_spark()) {
  PreflightFacts facts = testing::facts_of(machine);
  facts.software = &software;
  if (software.declared) facts.judged = JudgedPlatform::gb10;
  static const Known<facts::NativeCode> nothing_wrong = as_read(facts::NativeCode{});
  facts.native_code = &nothing_wrong;
  return check_g01_cuda_abi(facts);
}

TEST(G01List, IsJudgedByTagsAndByWhatIsPublished) {
  struct Case {
    const char* list;
    Status status;
    const char* words;
  };
  for (const Case& c : std::vector<Case>{
           {"torch==2.11.0+cu130\ntorchvision==0.26.0+cu130\n", Status::pass, "CUDA 13"},
           {"torch==2.11.0\n", Status::pass, "CUDA 13"},
           {"torch==2.9.1\n", Status::fail, "without CUDA"},
           {"torch==2.9.1\nnvidia-cuda-runtime==13.0.96\n", Status::pass, "CUDA 13"},
           {"torch==2.9.1\nnvidia-cuda-runtime-cu12==12.8.90\n", Status::warn, "CUDA 12"},
           {"--extra-index-url https://download.pytorch.org/whl/cu130\ntorch==2.10.0\n", Status::pass, "CUDA 13"},
           {"torch==2.9.1+cpu\nvllm==0.13.0\n", Status::fail, "under vllm 0.13.0"},
           {"torch==2.6.0+cu126\n", Status::fail, "no code for this GPU"},
           {"torch==2.9.0+cu128\nnvidia-cuda-runtime-cu12==12.8.90\n", Status::warn, "CUDA 12.8"},
           {"torch==2.10.0a0+b558c986e8.nv25.11\n", Status::pass, "NVIDIA's own build"},
           {"torch==2.11.0+cu130\ntorchvision==0.26.0+cpu\n", Status::warn, "built without CUDA"},
           {"torch==2.11.0+cu130\ntorchvision==0.26.0+cu128\n", Status::fail, "refuses to be imported"},
           {"torch==2.9.0+cu130\nvllm==0.13.0\n", Status::fail, "libcudart.so.12"},
           {"torch==2.9.0+cu130\nvllm==0.13.0\nnvidia-cuda-runtime-cu12==12.8.90\n", Status::warn, "two CUDA runtimes"},
           {"torch==2.9.0+cu130\nvllm==0.13.0+cu130\n", Status::pass, "CUDA 13"},
           {"torch==2.11.0+cu130\nflash_attn==2.8.3+cu12torch2.9cxx11abiTRUE\n", Status::fail, "libcudart.so.12"},
           {"# packages in environment at /c:\npytorch 2.9.1 cuda130_generic_py312h_0 conda-forge\n", Status::pass,
            "CUDA 13"},
           {"# packages in environment at /c:\npytorch 2.9.1 cpu_generic_py312h_0 conda-forge\n", Status::fail,
            "without CUDA"},
           {"numpy==2.2.6\n", Status::skip, "not in the list"}}) {
    const Finding finding = judge(declared(c.list));
    EXPECT_EQ(finding.status, c.status) << c.list << finding.headline;
    EXPECT_THAT(finding.headline, HasSubstr(c.words)) << c.list;
    EXPECT_TRUE(c.status != Status::fail || !finding.fixes.empty()) << c.list;
  }
}

TEST(G01List, SaysThatItCannotTell) {
  const Finding finding = judge(declared("torch @ https://example.com/torch.whl\n"));
  EXPECT_EQ(finding.status, Status::skip) << finding.headline;
}

TEST(G01Installed, ATorchWithoutCudaFailsAndNamesTheWayBack) {
  const Finding finding = judge(installed({package("torch", "2.10.0"), package("transformers", "5.13.1")}, ""));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("torch 2.10.0 is built without CUDA"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_EQ(finding.fixes[0].run,
            "/env/bin/python3 -m pip install --force-reinstall torch==2.10.0 --index-url "
            "https://download.pytorch.org/whl/cu130");
}

TEST(G01Installed, WithoutTorchIsNotApplicableUnlessTheWorkIsInAContainer) {
  const facts::Software software = installed({package("numpy", "2.2.6")});
  EXPECT_EQ(judge(software).status, Status::info);
  facts::Machine machine = healthy_spark();
  change(machine.processes, [](facts::ProcessTable& table) {
    facts::Process process;
    process.pid = 7;
    process.container = as_read(std::string("4f1d4f1d4f1d4f1d"));
    table.processes.push_back(process);
  });
  const Finding finding = judge(software, machine);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, HasSubstr("4f1d4f1d4f1d"));
}

TEST(G01Installed, ADriverOlderThanTheRuntimeFails) {
  facts::Machine machine = healthy_spark();
  change(machine.gpus, [](facts::GpuInventory& gpus) { gpus.cuda_version = as_read(12080); });
  const Finding finding = judge(installed({package("torch", "2.11.0+cu130")}), machine);
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("the driver supports 12.8"));
}

TEST(G01Installed, VisibleDevicesSetToNothingWarnAndTheHypothesesAreTold) {
  facts::Software software = installed({package("torch", "2.11.0+cu130")});
  for (const char* const hides : {"", "-1", "1", "NoDevFiles"}) {
    software.variables = as_read(facts::SoftwareVariables{{{"CUDA_VISIBLE_DEVICES", hides}}, "this shell"});
    const Finding finding = judge(software);
    EXPECT_EQ(finding.status, Status::warn) << hides << ": " << finding.headline;
    int told = 0;
    for (const Evidence& evidence : finding.evidence)
      told += evidence.reading.find("no GPU, hypothesis " + std::to_string(told + 1)) != std::string::npos ? 1 : 0;
    EXPECT_EQ(told, 5) << "in their order";
  }
  software.variables = as_read(facts::SoftwareVariables{{{"CUDA_VISIBLE_DEVICES", "0"}}, "this shell"});
  EXPECT_EQ(judge(software).status, Status::pass);
}

TEST(G01, UnknownIsASkip) {
  facts::Software software;
  software.environments = unknown("permission denied");
  EXPECT_EQ(judge(software).status, Status::skip);
  EXPECT_EQ(check_g01_cuda_abi(testing::facts_of(healthy_spark())).status, Status::skip);
  software.environments = as_read(std::vector<facts::PythonEnvironment>{});
  EXPECT_EQ(judge(software).status, Status::info);
}

}  // namespace
}  // namespace sparkops::verdicts
