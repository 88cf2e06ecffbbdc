#include "verdicts/sm121_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

using facts::ArchVariant;
using facts::CodeKind;
using facts::CodeTarget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Known<int> k_cuda_13_0 = as_read(13000);

RunsOn cubin(int arch, ArchVariant variant = ArchVariant::plain) {
  return runs_on_sm121({CodeKind::cubin, arch, variant}, 0, 0, k_cuda_13_0);
}
RunsOn ptx(int arch, ArchVariant variant = ArchVariant::plain, int major = 9, int minor = 0) {
  return runs_on_sm121({CodeKind::ptx, arch, variant}, major, minor, k_cuda_13_0);
}

TEST(RunsOnSm121, MachineCode) {
  for (const ArchVariant variant :
       {ArchVariant::plain, ArchVariant::specific, ArchVariant::family, ArchVariant::untold})
    EXPECT_EQ(cubin(121, variant), RunsOn::natively);
  EXPECT_EQ(cubin(120), RunsOn::natively);
  EXPECT_EQ(cubin(120, ArchVariant::family), RunsOn::natively);
  EXPECT_EQ(cubin(120, ArchVariant::specific), RunsOn::not_at_all);
  EXPECT_EQ(cubin(120, ArchVariant::untold), RunsOn::untold);
  for (const int arch : {75, 80, 87, 89, 90, 100, 103, 110, 122, 130})
    EXPECT_EQ(cubin(arch), RunsOn::not_at_all) << arch;
  EXPECT_EQ(cubin(100, ArchVariant::family), RunsOn::not_at_all);
}

TEST(RunsOnSm121, Ptx) {
  for (const int arch : {50, 80, 90, 100, 120, 121}) EXPECT_EQ(ptx(arch), RunsOn::by_compiling) << arch;
  EXPECT_EQ(ptx(122), RunsOn::not_at_all);
  EXPECT_EQ(ptx(120, ArchVariant::family), RunsOn::by_compiling);
  EXPECT_EQ(ptx(121, ArchVariant::family), RunsOn::by_compiling);
  EXPECT_EQ(ptx(121, ArchVariant::specific), RunsOn::by_compiling);
  for (const int arch : {90, 100, 120}) EXPECT_EQ(ptx(arch, ArchVariant::specific), RunsOn::not_at_all) << arch;
  EXPECT_EQ(ptx(100, ArchVariant::family), RunsOn::not_at_all);
}

TEST(RunsOnSm121, PtxOfANewerCudaNeedsANewerDriver) {
  EXPECT_EQ(ptx(90, ArchVariant::plain, 9, 1), RunsOn::needs_newer_driver);
  EXPECT_EQ(ptx(90, ArchVariant::plain, 8, 5), RunsOn::by_compiling);
  EXPECT_EQ(runs_on_sm121({CodeKind::ptx, 90, ArchVariant::plain}, 9, 1, unknown("no driver")), RunsOn::by_compiling);
}

TEST(RunsOnSm121, LinkerCodeAndUnknownKinds) {
  EXPECT_EQ(runs_on_sm121({CodeKind::lto_ir, 121, ArchVariant::plain}, 0, 0, k_cuda_13_0), RunsOn::not_at_all);
  EXPECT_EQ(runs_on_sm121({CodeKind::other, 121, ArchVariant::plain}, 0, 0, k_cuda_13_0), RunsOn::untold);
}

TEST(CudaOfPtx, FollowsTheReleaseTable) {
  EXPECT_EQ(cuda_version_text(*cuda_of_ptx(9, 1)), "13.1");
  EXPECT_EQ(cuda_version_text(*cuda_of_ptx(8, 5)), "12.5");
  EXPECT_EQ(cuda_version_text(*cuda_of_ptx(8, 7)), "12.8");
  EXPECT_EQ(cuda_version_text(*cuda_of_ptx(8, 8)), "12.9");
  EXPECT_EQ(cuda_version_text(*cuda_of_ptx(7, 8)), "11.8");
  EXPECT_FALSE(cuda_of_ptx(0, 0));
  EXPECT_FALSE(cuda_of_ptx(12, 0));
}

facts::FatBinary code_with(std::vector<facts::CodeGroup> groups) {
  facts::FatBinary code;
  code.groups = std::move(groups);
  for (const auto& group : code.groups) code.objects += group.count;
  return code;
}
facts::CodeGroup group(CodeTarget target, std::uint64_t stubs = 0, std::string section = ".nv_fatbin") {
  return {std::move(section),
          target,
          facts::CodeCompression::none,
          target.kind == CodeKind::ptx ? 9 : 0,
          0,
          2,
          stubs,
          9000,
          9000};
}

TEST(Sm121Code, NativeWinsAndStubsDoNotCount) {
  const auto code = judge_sm121_code(
      code_with({group({CodeKind::cubin, 121, ArchVariant::plain}, 2),
                 group({CodeKind::cubin, 120, ArchVariant::family}), group({CodeKind::ptx, 90, ArchVariant::plain}),
                 group({CodeKind::cubin, 120, ArchVariant::specific})}),
      k_cuda_13_0);
  EXPECT_EQ(code.best, RunsOn::natively);
  EXPECT_THAT(code.native, ElementsAre("sm_120f"));
  EXPECT_THAT(code.with_fp4_conversion, ElementsAre("sm_120f"));
  EXPECT_THAT(code.others, ElementsAre("sm_120a"));
  EXPECT_EQ(code.sentence, "runs natively (sm_120f)");
}

TEST(Sm121Code, OnlyWhatIsLinkedCounts) {
  const CodeTarget sm90{CodeKind::cubin, 90, ArchVariant::plain};
  const CodeTarget sm121{CodeKind::cubin, 121, ArchVariant::plain};
  EXPECT_EQ(judge_sm121_code(code_with({group(sm90), group(sm121, 0, "__nv_relfatbin")}), k_cuda_13_0).best,
            RunsOn::not_at_all);
  EXPECT_EQ(judge_sm121_code(code_with({group(sm121, 0, "__nv_relfatbin")}), k_cuda_13_0).best, RunsOn::natively);
}

TEST(Sm121Code, SaysWhyNot) {
  EXPECT_THAT(judge_sm121_code(code_with({group({CodeKind::cubin, 120, ArchVariant::specific})}), k_cuda_13_0).sentence,
              HasSubstr("does not run: built for sm_120a"));
  EXPECT_FALSE(judge_sm121_code({}, k_cuda_13_0).has_code);
  auto newer = group({CodeKind::ptx, 120, ArchVariant::plain});
  newer.isa_minor = 1;
  EXPECT_THAT(judge_sm121_code(code_with({newer}), k_cuda_13_0).sentence, HasSubstr("compute_120 (CUDA 13.1)"));
}

TEST(Sm121Code, ALibraryForAnotherProcessorIsOfNoUse) {
  facts::InspectedFile file;
  file.image.emplace();
  file.image->machine = facts::ElfMachine::x86_64;
  file.code = code_with({group({CodeKind::cubin, 121, ArchVariant::plain})});
  const auto code = judge_inspected(file, k_cuda_13_0);
  EXPECT_FALSE(code.loadable);
  EXPECT_THAT(code.sentence, HasSubstr("cannot be loaded: it is for x86_64"));
}

}  // namespace
}  // namespace sparkops::verdicts
