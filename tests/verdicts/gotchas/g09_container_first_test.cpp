#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine_builder.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;

TEST(G09, AMissIsUnknownNeverABareHost) {
  const facts::Machine machine = healthy_spark();
  const Finding finding = check_g09_container_first(facts_of(machine));
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("not known to run in a container"));
}

TEST(G09, InsideAnImageItPassesAndNamesIt) {
  facts::Machine machine = healthy_spark();
  change(machine.container, [](facts::Container& container) {
    container.inside = as_read(true);
    container.runtime = as_read(std::string("docker"));
    container.image = as_read(std::string("NVIDIA PyTorch 25.11"));
  });
  const Finding finding = check_g09_container_first(facts_of(machine));
  EXPECT_EQ(finding.status, Status::pass);
  EXPECT_THAT(finding.headline, HasSubstr("NVIDIA PyTorch 25.11 (docker)"));
}

TEST(G09, UnreadableIsASkip) {
  facts::Machine machine = healthy_spark();
  machine.container = unknown("did not answer within 3.0 s");
  EXPECT_EQ(check_g09_container_first(facts_of(machine)).status, Status::skip);
}

TEST(G09, AWorkloadJudgedForAGb10IsJudgedByItsImages) {
  const facts::Machine machine = healthy_spark();
  facts::Workload workload;
  facts::Launch launch;
  launch.name = "train";
  launch.image = as_read(std::string("nvcr.io/nvidia/pytorch:25.11-py3"));
  workload.launches.push_back(launch);
  PreflightFacts facts{.machine = machine, .knowledge = testing::tables(), .now = {}};
  facts.judged = JudgedPlatform::gb10;
  facts.workload = &workload;
  EXPECT_THAT(check_g09_container_first(facts).headline, HasSubstr("pytorch:25.11-py3"));
}

}  // namespace
}  // namespace sparkops::verdicts
