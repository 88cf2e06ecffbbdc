#include "verdicts/software/setup_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../software_builder.h"

namespace sparkops::verdicts {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::installed;
using ::testing::Not;
using testing::package;
using testing::tables;

constexpr Timestamp k_now{1'796'000'000'000};  // 2026-11-30

SetupRecipe recipe_for(const std::string& word, const facts::Software* software = nullptr) {
  const knowledge::Recipe* const recipe = find_recipe(tables(), word);
  EXPECT_NE(recipe, nullptr) << word;
  return recipe == nullptr ? SetupRecipe{} : make_setup_recipe(*recipe, tables(), software, k_now);
}

TEST(SetupRecipe, IsFoundByItsWords) {
  EXPECT_EQ(recipe_for("").id, "pytorch");
  EXPECT_EQ(recipe_for("Unsloth").id, "unsloth");
  EXPECT_EQ(recipe_for("lora").id, "trl");
  EXPECT_EQ(find_recipe(tables(), "windows"), nullptr);
}

TEST(SetupRecipe, HasAllItsVersionsFilledIn) {
  for (const knowledge::Recipe& known : tables().recipes()) {
    const SetupRecipe recipe = make_setup_recipe(known, tables(), nullptr, k_now);
    EXPECT_EQ(recipe.packages.size(), known.packages.size())
        << known.id << " names a package that the stack table lacks";
    EXPECT_THAT(recipe.pip, Each(Not(HasSubstr("{")))) << known.id;
    EXPECT_THAT(recipe.in_container, Each(Not(HasSubstr("{")))) << known.id;
    EXPECT_THAT(recipe.image, Not(HasSubstr("{"))) << known.id;
  }
}

TEST(SetupRecipe, KeepsTheOrderAndTheFlags) {
  const SetupRecipe recipe = recipe_for("unsloth");
  EXPECT_THAT(recipe.container.back(), HasSubstr("--runtime=nvidia --gpus all --ipc=host --ulimit memlock=-1"));
  EXPECT_THAT(recipe.container.back(), HasSubstr("RepoDigests"));
  ASSERT_GE(recipe.pip.size(), 5U);
  EXPECT_EQ(recipe.pip[2],
            "pip install transformers==5.13.1 peft==0.19.1 hf_transfer==0.1.9 datasets==4.3.0 trl==1.8.0");
  EXPECT_EQ(recipe.pip[3], "pip install --no-deps unsloth==2026.7.2 unsloth_zoo==2026.7.2 bitsandbytes==0.49.2");
  EXPECT_THAT(recipe.pip[4], HasSubstr("torchao==0.17.0"));
}

TEST(SetupRecipe, IsComparedWithTheEnvironmentAtHand) {
  const facts::Software good =
      installed({package("vllm", "0.27.1"), package("torch", "2.11.0+cu130"), package("triton", "3.6.0")});
  EXPECT_TRUE(*matches_recipe(recipe_for("vllm", &good), good)) << "newer counts";
  const facts::Software old = installed({package("vllm", "0.13.0"), package("torch", "2.11.0+cu130")});
  const SetupRecipe recipe = recipe_for("vllm", &old);
  EXPECT_FALSE(*matches_recipe(recipe, old));
  EXPECT_EQ(recipe.packages[0].state, PackageState::breaks_condition);
  EXPECT_EQ(recipe.packages[2].state, PackageState::missing);
}

TEST(SetupRecipe, CannotCompareWhatIsUnknown) {
  facts::Software software;
  software.environments = unknown("permission denied");
  EXPECT_FALSE(matches_recipe(recipe_for("vllm", &software), software).known());
  software.environments = as_read(std::vector<facts::PythonEnvironment>{});
  EXPECT_FALSE(matches_recipe(recipe_for("vllm", &software), software).known());
}

TEST(SetupRecipe, SaysWhenItIsOld) {
  const knowledge::Recipe* const recipe = find_recipe(tables(), "unsloth");
  EXPECT_FALSE(make_setup_recipe(*recipe, tables(), nullptr, Timestamp{1'790'000'000'000}).is_old);
  EXPECT_TRUE(make_setup_recipe(*recipe, tables(), nullptr, Timestamp{1'890'000'000'000}).is_old);
}

}  // namespace
}  // namespace sparkops::verdicts
