#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_builder.h"
#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

facts::Launch launch(facts::LaunchRole role, Known<std::string> quantization) {
  facts::Launch out;
  out.name = "work";
  out.role = role;
  out.quantization = std::move(quantization);
  out.image = unknown("no container");
  return out;
}

facts::FatBinary code_for(int arch, facts::ArchVariant variant) {
  facts::FatBinary code;
  code.groups = {{".nv_fatbin",
                  {facts::CodeKind::cubin, arch, variant},
                  facts::CodeCompression::none,
                  0,
                  0,
                  3,
                  0,
                  90'000,
                  90'000}};
  code.objects = 3;
  return code;
}

Known<facts::NativeCode> installed(const std::string& distribution, facts::FatBinary code) {
  facts::NativeLibrary library;
  library.distribution = distribution;
  library.path = "/venv/" + distribution + "/_C.so";
  library.code = as_read(std::move(code));
  facts::NativeCode native;
  native.libraries.push_back(std::move(library));
  return as_read(std::move(native));
}

class G7 : public ::testing::Test {
 protected:
  Finding check(JudgedPlatform judged = JudgedPlatform::this_machine) {
    PreflightFacts facts = testing::facts_of(machine_);
    facts.judged = judged;
    facts.workload = has_workload_ ? &workload_ : nullptr;
    facts.native_code = native_ ? &*native_ : nullptr;
    return check_g07_nvfp4(facts);
  }

  facts::Machine machine_ = testing::healthy_spark();
  facts::Workload workload_;
  bool has_workload_ = true;
  std::optional<Known<facts::NativeCode>> native_;
};

TEST_F(G7, WithoutFp4ItIsNotApplicable) {
  has_workload_ = false;
  EXPECT_EQ(check().status, Status::info);
  has_workload_ = true;
  EXPECT_EQ(check().status, Status::info);
  for (const char* const format : {"nf4", "fp8", "awq", "q4_k_m"}) {
    workload_.launches = {launch(facts::LaunchRole::server, as_read(std::string(format)))};
    EXPECT_EQ(check().status, Status::info) << format;
  }
  workload_.launches = {launch(facts::LaunchRole::trainer, as_read(std::string("fp4")))};
  workload_.launches[0].settings = {{"bnb_4bit_quant_type", "fp4", "x.yaml:1"}};
  EXPECT_EQ(check().status, Status::info);
}

TEST_F(G7, TrainingInFp4Fails) {
  workload_.launches = {launch(facts::LaunchRole::trainer, as_read(std::string("nvfp4")))};
  const Finding finding = check(JudgedPlatform::gb10);
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, AllOf(HasSubstr("nvfp4"), HasSubstr("not supported on SM121")));
}

TEST_F(G7, WeightsWhoseNameSaysFp4UnderATrainerAreNoFp4Training) {
  workload_.launches = {launch(facts::LaunchRole::trainer, as_derived(std::string("nvfp4")))};
  EXPECT_EQ(check(JudgedPlatform::gb10).status, Status::skip);
}

TEST_F(G7, ServingWithoutALookAtKernelsIsNeverAPass) {
  workload_.launches = {launch(facts::LaunchRole::server, as_derived(std::string("mxfp4")))};
  EXPECT_EQ(check(JudgedPlatform::gb10).status, Status::skip);
  EXPECT_EQ(check().status, Status::skip);
  native_ = Known<facts::NativeCode>(unknown("no Python here"));
  EXPECT_THAT(check().headline, HasSubstr("no Python here"));
  native_ = installed("numpy", code_for(121, facts::ArchVariant::specific));
  EXPECT_EQ(check().status, Status::skip);
  native_ = installed("vllm", code_for(121, facts::ArchVariant::specific));
  workload_.launches[0].image = as_read(std::string("nvcr.io/nvidia/vllm:26.02-py3"));
  EXPECT_EQ(check().status, Status::skip);
}

TEST_F(G7, KernelsDecide) {
  using enum facts::ArchVariant;
  workload_.launches = {launch(facts::LaunchRole::server, as_read(std::string("nvfp4")))};
  const std::vector<std::tuple<int, facts::ArchVariant, Status>> kernels{
      {121, specific, Status::pass}, {120, family, Status::pass}, {121, family, Status::pass},
      {121, plain, Status::warn},    {120, plain, Status::warn},  {120, specific, Status::warn},
      {100, specific, Status::warn}, {90, specific, Status::warn}};
  for (const auto& [arch, variant, status] : kernels) {
    native_ = installed("vllm", code_for(arch, variant));
    const Finding finding = check();
    EXPECT_EQ(finding.status, status) << arch << " " << finding.headline;
    EXPECT_THAT(finding.headline, HasSubstr("vllm"));
  }
}

}  // namespace
}  // namespace sparkops::verdicts
