#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../software_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::change_environment;
using testing::declared;
using ::testing::HasSubstr;
using testing::healthy_spark;
using testing::installed;
using testing::package;

Finding judge(const facts::Software& software, const facts::Machine& machine = healthy_spark()) {
  PreflightFacts facts = testing::facts_of(machine);
  facts.software = &software;
  if (software.declared) facts.judged = JudgedPlatform::gb10;
  return check_g09_container_first(facts);
}

facts::Machine inside_ngc() {
  facts::Machine machine = healthy_spark();
  change(machine.container, [](facts::Container& container) {
    container.inside = as_read(true);
    container.runtime = as_read(std::string("docker"));
    container.image = as_read(std::string("NVIDIA PyTorch 25.11"));
    container.ngc_product = as_read(std::string("PyTorch"));
  });
  return machine;
}

bool tells(const Finding& finding, const std::string& words) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const Evidence& evidence) { return evidence.reading.find(words) != std::string::npos; });
}

TEST(G09, AMissIsUnknownNeverABareHost) {
  const Finding finding = judge(installed({package("torch", "2.11.0+cu130")}));
  EXPECT_EQ(finding.status, Status::info) << finding.headline;
  EXPECT_THAT(finding.headline, HasSubstr("not known to run in a container"));
}

TEST(G09, InsideAnImageItPassesAndNamesIt) {
  const Finding finding = judge(installed({package("torch", "2.10.0a0+b558c986e8.nv25.11")}), inside_ngc());
  EXPECT_EQ(finding.status, Status::pass) << finding.headline;
  EXPECT_THAT(finding.headline, HasSubstr("NVIDIA PyTorch 25.11 (docker)"));
}

TEST(G09, AnImageWhoseTorchWasReplacedWarns) {
  const Finding finding = judge(installed({package("torch", "2.11.0+cu130")}), inside_ngc());
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("torch 2.11.0+cu130 has replaced the one of the image NVIDIA PyTorch 25.11"));
}

TEST(G09, UnreadableIsASkip) {
  facts::Software software;
  software.environments = unknown("permission denied");
  EXPECT_EQ(judge(software).status, Status::skip);
  EXPECT_EQ(check_g09_container_first(testing::facts_of(healthy_spark())).status, Status::skip);
}

TEST(G09, TorchaoTooOldForPeftFails) {
  const Finding finding = judge(declared("torch==2.11.0\npeft==0.19.1\ntorchao==0.16.0\n"));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("torchao 0.16.0 is too old for peft 0.19.1"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_EQ(finding.fixes[0].run, "pip install --no-deps torchao==0.17.0");
  EXPECT_NE(judge(declared("torch==2.11.0\npeft==0.19.1\ntorchao==0.17.0\n")).status, Status::fail);
}

TEST(G09, TritonWithoutPtxasWarnsUnlessTheVariableIsSet) {
  facts::Software software = installed({package("torch", "2.9.1+cu130"), package("triton", "3.5.1")});
  EXPECT_EQ(judge(software).status, Status::warn);
  EXPECT_THAT(judge(software).headline, HasSubstr("Triton 3.5.1"));
  facts::SoftwareVariables variables{{{"TRITON_PTXAS_PATH", "/usr/local/cuda/bin/ptxas"}}, "a test"};
  software.variables = as_read(variables);
  EXPECT_FALSE(tells(judge(software), "sm_121a"));
  const facts::Software ngc = installed({package("torch", "2.10.0a0+b5.nv25.11"), package("triton", "3.5.1")});
  EXPECT_FALSE(tells(judge(ngc), "sm_121a"));
}

TEST(G09, DriftIsNamedWithDatesAndOneCommand) {
  const Finding finding = judge(installed({package("torch", "2.11.0+cu130"), package("transformers", "4.57.3"),
                                           package("trl", "0.24.0"), package("datasets", "4.3.0")}));
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline,
              HasSubstr("transformers 4.57.3 (known good is 5.13.1), trl 0.24.0 (known good is 1.8.0)"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_EQ(finding.fixes[0].run, "/env/bin/python3 -m pip install --no-deps transformers==5.13.1 trl==1.8.0");
}

TEST(G09, NewerIsToldAndNoWarning) {
  const Finding finding =
      judge(installed({package("torch", "2.14.0+cu132"), package("transformers", "5.20.0")}, "13.2"));
  EXPECT_EQ(finding.status, Status::info) << finding.headline;
  EXPECT_TRUE(tells(finding, "newer than 5.13.1"));
}

TEST(G09, TwoCopiesOfTorchWarn) {
  facts::Software software =
      installed({package("torch", "2.9.0+cpu", {}, "/home/u/.local/lib/python3.12/site-packages"),
                 package("torch", "2.11.0+cu130")});
  change_environment(software, [](facts::PythonEnvironment& environment) {
    environment.sites.insert(environment.sites.begin(),
                             {"/home/u/.local/lib/python3.12/site-packages", facts::SiteDirectory::Kind::user});
  });
  const Finding finding = judge(software);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("two copies of torch: torch 2.9.0+cpu from /home/u/.local"));
  EXPECT_EQ(finding.fixes[0].run, "export PYTHONNOUSERSITE=1");
}

TEST(G09, TwoCudaMajorsWarn) {
  const Finding finding = judge(installed({package("torch", "2.11.0+cu130"), package("nvidia-cublas-cu12", "12.8.4.1"),
                                           package("nvidia-cublas", "13.1.0.3")}));
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("two CUDA majors"));
  EXPECT_EQ(finding.fixes[0].run, "/env/bin/python3 -m pip uninstall -y nvidia-cublas-cu12");
}

TEST(G09, UnsatisfiedRequirementsWarnUnlessTheyAreMeant) {
  const Finding finding =
      judge(installed({package("torch", "2.11.0+cu130"),
                       package("accelerate", "1.12.0",
                               {"psutil", "torch>=2.0", "pytest; extra == 'test'", "x; python_version < '3.9'"})}));
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("accelerate wants psutil (not installed)"));
  const Finding meant =
      judge(installed({package("torch", "2.11.0+cu130"), package("unsloth", "2026.7.2", {"xformers>=0.0.27"})}));
  EXPECT_EQ(meant.status, Status::info) << meant.headline;
  EXPECT_TRUE(tells(meant, "unsloth wants xformers"));
}

TEST(G09, NvidiasPreReleaseMeetsWhatTheReleaseWould) {
  const Finding finding =
      judge(installed({package("torch", "2.10.0a0+b558c986e8.nv25.11"), package("peft", "0.19.1", {"torch>=2.10"})}));
  EXPECT_FALSE(tells(finding, "peft wants torch")) << finding.headline;
}

TEST(G09, AnEnvironmentThatDoesNotSeeTheImagesTorchWarns) {
  facts::Software software = installed({package("numpy", "2.2.6")});
  change_environment(software, [](facts::PythonEnvironment& environment) {
    environment.torch_elsewhere.push_back({"/usr/local/lib/python3.12/dist-packages/torch",
                                           as_read(std::string("2.10.0a0+b5.nv25.11")), as_read(std::string("13.0"))});
  });
  const Finding finding = judge(software);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("does not see the torch in /usr/local/lib"));
}

TEST(G09, AWorkloadJudgedForAGb10IsJudgedByItsImages) {
  const facts::Machine machine = healthy_spark();
  facts::Workload workload;
  facts::Launch launch;
  launch.name = "train";
  launch.image = as_read(std::string("nvcr.io/nvidia/pytorch:25.11-py3"));
  workload.launches.push_back(launch);
  PreflightFacts facts = testing::facts_of(machine);
  facts.judged = JudgedPlatform::gb10;
  facts.workload = &workload;
  EXPECT_THAT(check_g09_container_first(facts).headline, HasSubstr("pytorch:25.11-py3"));
}

}  // namespace
}  // namespace sparkops::verdicts
