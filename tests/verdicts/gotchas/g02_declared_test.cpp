#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../software_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::declared;

Finding judge(const facts::Software& software) {
  const knowledge::Tables tables(std::vector<std::string>{});
  const facts::Machine machine;
  PreflightFacts facts{.machine = machine, .knowledge = tables, .now = {}};
  facts.judged = JudgedPlatform::gb10;
  facts.software = &software;
  return check_g02_flash_attention(facts);
}

TEST(G02Declared, AListThatWasReadWholeShowsThatThereIsNone) {
  EXPECT_EQ(judge(declared("torch==2.11.0+cu130\n")).status, Status::pass);
}

TEST(G02Declared, ALineThatCouldNotBeReadMayHaveBeenIt) {
  const Finding finding = judge(declared("torch==2.11.0+cu130\n\x1b[31mflash-attn==1\n"));
  EXPECT_EQ(finding.status, Status::skip);
  EXPECT_NE(finding.headline.find("names no package"), std::string::npos) << finding.headline;
}

}  // namespace
}  // namespace sparkops::verdicts
