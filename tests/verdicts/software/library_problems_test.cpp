#include "verdicts/software/library_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../software_builder.h"

namespace sparkops::verdicts {
namespace {

using ::testing::HasSubstr;
using testing::healthy_spark;
using testing::installed;
using testing::package;

constexpr const char* k_site = "/env/lib/python3.12/site-packages";

facts::NativeLibrary library(const std::string& distribution, const std::string& path, bool uses_torch) {
  facts::NativeLibrary native;
  native.distribution = distribution;
  native.path = std::string(k_site) + "/" + path;
  native.machine = as_read(std::string("aarch64"));
  native.uses_torch = uses_torch;
  facts::LibraryResolution resolution;
  resolution.path = native.path;
  native.resolution = as_read(resolution);
  native.code = unknown("not asked for");
  return native;
}

facts::NativeCode code_of(std::vector<facts::NativeLibrary> libraries) {
  facts::NativeCode native;
  native.machine = facts::ElfMachine::aarch64;
  native.libraries = std::move(libraries);
  return native;
}

void miss(facts::NativeLibrary& library, const std::string& soname, const std::string& other = "") {
  auto resolution = *library.resolution;
  resolution.needs.push_back({soname, library.path, facts::NeedStatus::not_found, "", "", other, ""});
  library.resolution = as_read(resolution);
}

void leave_undefined(facts::NativeLibrary& library, const std::string& symbol, bool certain = true) {
  auto resolution = *library.resolution;
  resolution.undefined.push_back({symbol, "", "", false});
  resolution.symbols_certain = certain;
  library.resolution = as_read(resolution);
}

facts::FatBinary kernels(int arch, facts::ArchVariant variant) {
  facts::FatBinary code;
  facts::CodeGroup group;
  group.section = ".nv_fatbin";
  group.target = {facts::CodeKind::cubin, arch, variant};
  group.count = 4;
  group.uncompressed_bytes = 1 << 20;
  code.groups = {group};
  code.objects = 4;
  return code;
}

Finding judge_g01(const facts::Software& software, const facts::NativeCode& native) {
  const facts::Machine machine = healthy_spark();
  PreflightFacts facts = testing::facts_of(machine);
  const Known<facts::NativeCode> known = as_read(native);
  facts.software = &software;
  facts.native_code = &known;
  return check_g01_cuda_abi(facts);
}

Finding judge_g02(const facts::Software& software, const facts::NativeCode& native,
                  const facts::Workload* workload = nullptr) {
  const facts::Machine machine = healthy_spark();
  PreflightFacts facts = testing::facts_of(machine);
  const Known<facts::NativeCode> known = as_read(native);
  facts.software = &software;
  facts.native_code = &known;
  facts.workload = workload;
  return check_g02_flash_attention(facts);
}

const facts::Software& with_extension() {
  static const facts::Software software =
      installed({package("torch", "2.11.0+cu130"), package("sgl-kernel", "0.4.2"), package("flash-attn", "2.8.3")});
  return software;
}

TEST(G01Libraries, AllFoundIsAPass) {
  const Finding finding = judge_g01(with_extension(), code_of({library("sgl-kernel", "sgl/ops.so", true)}));
  EXPECT_EQ(finding.status, Status::pass) << finding.headline;
}

TEST(G01Libraries, NotLookedAtIsASkip) {
  const facts::Machine machine = healthy_spark();
  PreflightFacts facts = testing::facts_of(machine);
  const Known<facts::NativeCode> unread = unknown("permission denied");
  facts.software = &with_extension();
  facts.native_code = &unread;
  const Finding finding = check_g01_cuda_abi(facts);
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_THAT(finding.headline, HasSubstr("permission denied"));
}

TEST(G01Libraries, AnExtensionForAnotherTorchIsNamedBySymbol) {
  facts::NativeLibrary extension = library("sgl-kernel", "sgl/ops.abi3.so", true);
  leave_undefined(extension, "_ZN3c104cuda9SetDeviceEa");
  const Finding finding = judge_g01(with_extension(), code_of({extension}));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline,
              HasSubstr("sgl-kernel 0.4.2 does not fit torch 2.11.0+cu130: undefined symbol c10::cuda::SetDevice"));
  EXPECT_THAT(finding.headline, HasSubstr("ops.abi3.so"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_THAT(finding.fixes[0].run, HasSubstr("--no-deps --force-reinstall sgl-kernel"));
}

TEST(G01Libraries, UncertainSymbolsAccuseNobody) {
  facts::NativeLibrary extension = library("sgl-kernel", "sgl/ops.so", true);
  leave_undefined(extension, "_ZN3c104cuda9SetDeviceEa", false);
  EXPECT_EQ(judge_g01(with_extension(), code_of({extension})).status, Status::pass);
}

TEST(G01Libraries, AMissingCudaRuntimeFailsAndNamesTheOtherOne) {
  facts::NativeLibrary extension = library("sgl-kernel", "sgl/ops.so", true);
  miss(extension, "libcudart.so.12", "libcudart.so.13");
  const Finding finding = judge_g01(with_extension(), code_of({extension}));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("needs libcudart.so.12, which is not found (there is libcudart.so.13)"));
}

TEST(G01Libraries, OtherMissingLibrariesAreVariantsOfOnePackage) {
  facts::NativeLibrary extension = library("sgl-kernel", "sgl/ops.so", true);
  miss(extension, "libavutil.so.58");
  EXPECT_EQ(judge_g01(with_extension(), code_of({extension})).status, Status::pass);
  facts::NativeLibrary older = library("bitsandbytes", "bitsandbytes/libbitsandbytes_cuda124.so", false);
  miss(older, "libcudart.so.12");
  EXPECT_EQ(judge_g01(with_extension(), code_of({older})).status, Status::pass);
}

TEST(G01Libraries, ALibraryForX86OnThisMachineFails) {
  facts::NativeLibrary extension = library("sgl-kernel", "sgl/ops.so", false);
  extension.machine = as_read(std::string("x86_64"));
  const Finding finding = judge_g01(with_extension(), code_of({extension}));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("sgl-kernel 0.4.2 is built for x86_64 and this Python is aarch64"));
  facts::NativeLibrary other = library("sgl-kernel", "sgl/ops_arm.so", false);
  EXPECT_EQ(judge_g01(with_extension(), code_of({extension, other})).status, Status::pass) << "one for each processor";
}

TEST(G01Libraries, KernelsFor120aAloneFail) {
  facts::NativeLibrary extension = library("sgl-kernel", "sgl/ops.so", true);
  extension.code = as_read(kernels(120, facts::ArchVariant::specific));
  const Finding finding = judge_g01(with_extension(), code_of({extension}));
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("sm_120a"));
  extension.code = as_read(kernels(120, facts::ArchVariant::plain));
  EXPECT_EQ(judge_g01(with_extension(), code_of({extension})).status, Status::pass);
}

TEST(G01Libraries, ALeftOverRuntimeWarns) {
  facts::NativeCode native = code_of({});
  facts::CudaLibraryFile file;
  file.library = facts::CudaLibrary::cudart;
  file.place = facts::CudaPlace::loader;
  file.path = "/usr/local/cuda-12.8/lib64/libcudart.so.12";
  file.soname = "libcudart.so.12";
  file.major = as_read(12);
  native.cuda.files = {file};
  const Finding finding = judge_g01(with_extension(), native);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("left-over libcudart.so.12"));
}

TEST(G02, AbsentIsSdpaAndAPass) {
  const facts::Software software = installed({package("torch", "2.11.0+cu130")});
  const Finding finding = judge_g02(software, code_of({}));
  EXPECT_EQ(finding.status, Status::pass);
  EXPECT_THAT(finding.headline, HasSubstr("SDPA"));
}

TEST(G02, AbsentAndAskedForFails) {
  const facts::Software software = installed({package("torch", "2.11.0+cu130")});
  facts::Workload workload;
  workload.settings.push_back({"attn_implementation", "flash_attention_2", "sft.yaml:3"});
  EXPECT_EQ(judge_g02(software, code_of({}), &workload).status, Status::fail);
}

TEST(G02, BrokenWarnsAndFailsWhenAskedFor) {
  facts::NativeLibrary extension = library("flash-attn", "flash_attn_2_cuda.cpython-312-aarch64-linux-gnu.so", true);
  leave_undefined(extension,
                  "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  const facts::NativeCode native = code_of({extension});
  const Finding finding = judge_g02(with_extension(), native);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("flash-attn 2.8.3 does not fit"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_EQ(finding.fixes[0].run, "/env/bin/python3 -m pip uninstall -y flash-attn");
  facts::Workload workload;
  workload.settings.push_back({"attn_implementation", "flash_attention_2", "sft.yaml:3"});
  EXPECT_EQ(judge_g02(with_extension(), native, &workload).status, Status::fail);
  EXPECT_EQ(judge_g01(with_extension(), native).status, Status::pass) << "flash-attn is G2's business";
}

TEST(G02, UnslothTakesItUnlessTheWorkSaysOtherwise) {
  const facts::Software software =
      installed({package("torch", "2.11.0+cu130"), package("flash-attn", "2.8.3"), package("unsloth", "2026.7.2")});
  const facts::NativeCode native = code_of({library("flash-attn", "flash_attn_2_cuda.so", true)});
  const Finding finding = judge_g02(software, native);
  EXPECT_EQ(finding.status, Status::warn);
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_THAT(finding.fixes[0].instruction, HasSubstr("HAS_FLASH_ATTENTION = False"));
  facts::Workload workload;
  workload.settings.push_back({"unsloth.models._utils.HAS_FLASH_ATTENTION", "False", "train.py:3"});
  EXPECT_EQ(judge_g02(software, native, &workload).status, Status::pass);
}

TEST(G02, WithoutItsLibrariesItIsASkip) {
  EXPECT_EQ(judge_g02(with_extension(), code_of({})).status, Status::skip);
}

TEST(G02, UnknownIsASkip) {
  facts::Software software;
  software.environments = unknown("permission denied");
  EXPECT_EQ(judge_g02(software, code_of({})).status, Status::skip);
  EXPECT_EQ(check_g02_flash_attention(testing::facts_of(healthy_spark())).status, Status::skip);
  EXPECT_EQ(judge_g02(installed({package("numpy", "2.2.6")}), code_of({})).status, Status::info);
}

}  // namespace
}  // namespace sparkops::verdicts
