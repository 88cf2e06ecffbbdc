#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"
#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;

constexpr double k_one = 1024.0 * 1024 * 1024;

/// A footprint with one phase of so many GiB.
Footprint footprint_of(double low, double value, double high) {
  Footprint footprint;
  footprint.system = {low * k_one, value * k_one, high * k_one};
  footprint.phases.push_back({.kind = PhaseKind::steady,
                              .moment = "optimizer step",
                              .terms = {},
                              .allocated = footprint.system,
                              .reserved = footprint.system,
                              .system = footprint.system});
  return footprint;
}

Finding check(const facts::Machine& machine, const Footprint& footprint) {
  const facts::Workload workload;
  PreflightFacts facts = facts_of(machine);
  facts.workload = &workload;
  facts.footprint = &footprint;
  facts.work_arguments = "--workload run.yaml";
  return check_g03_unified_memory(facts);
}

TEST(G03Workload, ThePlanDecides) {
  // Headroom 105 GiB now, 110 GiB after a flush.
  const facts::Machine machine = healthy_spark();
  EXPECT_EQ(check(machine, footprint_of(60, 70, 80)).status, Status::pass);
  EXPECT_EQ(check(machine, footprint_of(100, 107, 109)).status, Status::warn);
  EXPECT_EQ(check(machine, footprint_of(90, 100, 120)).status, Status::warn);
  const Finding failed = check(machine, footprint_of(120, 130, 140));
  EXPECT_EQ(failed.status, Status::fail);
  EXPECT_THAT(failed.headline, HasSubstr("does not fit: needs at least 120.0 GiB"));
  ASSERT_FALSE(failed.fixes.empty());
  EXPECT_EQ(failed.fixes.front().run, "sparkops plan --fit --workload run.yaml");
}

TEST(G03Workload, APeakNobodyKnowsIsNoPass) {
  const facts::Machine machine = healthy_spark();
  const facts::Workload workload;
  PreflightFacts facts = facts_of(machine);
  facts.workload = &workload;
  facts.footprint_unknown = "no model was named";
  const Finding finding = check_g03_unified_memory(facts);
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.evidence,
              ::testing::Contains(::testing::Field(&Evidence::reading, HasSubstr("no model was named"))));
  facts.judged = JudgedPlatform::gb10;
  EXPECT_EQ(check_g03_unified_memory(facts).status, Status::skip);
}

TEST(G03Workload, ForAGb10ThatIsNotHereAnIdleOneIsTaken) {
  facts::Machine machine = healthy_spark();
  machine.memory = unknown("another machine");
  const facts::Workload workload;
  const Footprint footprint = footprint_of(60, 70, 80);
  PreflightFacts facts = facts_of(machine);
  facts.judged = JudgedPlatform::gb10;
  facts.workload = &workload;
  facts.footprint = &footprint;
  EXPECT_EQ(check_g03_unified_memory(facts).status, Status::pass);
}

}  // namespace
}  // namespace sparkops::verdicts
