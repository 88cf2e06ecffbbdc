#include "verdicts/memory/sharing_advice.h"

#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

/// Gigabytes of weights, 0 when the name tells no size.
double weights_gb(const std::string& model, const std::string& format = "") {
  const auto weights = weights_of_name(as_read(std::string(model)),
                                       format.empty() ? Known<std::string>() : as_read(std::string(format)));
  return weights ? static_cast<double>(weights->bytes.value) / 1e9 : 0;
}

TEST(WeightsOfName, FollowTheSizeAndTheNumberFormat) {
  EXPECT_DOUBLE_EQ(weights_gb("Qwen/Qwen3-32B"), 64);
  EXPECT_DOUBLE_EQ(weights_gb("Qwen/Qwen3-32B", "fp8"), 32);
  EXPECT_DOUBLE_EQ(weights_gb("nvidia/Qwen3-32B-NVFP4", "nvfp4"), 18);
  EXPECT_DOUBLE_EQ(weights_gb("/models/70b/"), 140);
  EXPECT_DOUBLE_EQ(weights_gb("Qwen3-0.6B"), 1.2);
  EXPECT_DOUBLE_EQ(weights_gb("Mixtral-8x7B-v0.1"), 112);
  EXPECT_DOUBLE_EQ(weights_gb("Qwen3-30B-A3B"), 60);
}

TEST(WeightsOfName, ATextThatNamesNoSizeGivesNone) {
  for (const char* const name : {"", "m", "phi-4", "A3B", "4bit", "model-B", "q4_b", "..B", "x7B", "99999999B"})
    EXPECT_EQ(weights_gb(name), 0) << name;
}

TEST(SharingFixes, APoolThatIsUnknownProposesNoFraction) {
  ContentionInput input;
  input.pool = unknown("meminfo could not be read");
  Tenant tenant;
  tenant.name = "coder (vLLM)";
  tenant.kind = Tenant::Kind::server;
  tenant.default_fraction = 0.92;
  tenant.cap_option = "--gpu-memory-utilization";
  input.tenants = {tenant};
  const std::vector<Fix> fixes = sharing_fixes(input, {0});
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].instruction.find("0."), std::string::npos) << fixes[0].instruction;
}

}  // namespace
}  // namespace sparkops::verdicts
