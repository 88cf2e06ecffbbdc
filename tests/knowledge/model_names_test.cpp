#include "knowledge/model_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "knowledge/embedded.h"

namespace sparkops::knowledge {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

const Tables& tables() {
  static const Tables compiled_in(std::vector<std::string>{});
  return compiled_in;
}

TEST(Models, AreWellFormedAndMany) {
  EXPECT_THAT(tables().models(), SizeIs(testing::Ge(45U)));
  EXPECT_THAT(tables().problems(), IsEmpty());
  for (const ModelEntry& model : tables().models())
    EXPECT_TRUE(model.verified == "no" || model.parameters) << model.name;
}

TEST(ModelKey, DropsOwnerTuningDatesAndFormats) {
  EXPECT_EQ(model_key("unsloth/Qwen3-14B-Instruct-2507-bnb-4bit"), "qwen3-14b");
  EXPECT_EQ(model_key("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4"), "nemotron-3-nano-30b-a3b");
  EXPECT_EQ(model_key("meta-llama/Meta-Llama-3.1-8B-Instruct"), "llama-3.1-8b");
  EXPECT_EQ(model_key("google/gemma-4-26B-A4B-it-qat-q4_0-unquantized"), "gemma-4-26b-a4b");
  EXPECT_EQ(model_key("gpt-oss-120b"), "gpt-oss-120b");
  EXPECT_EQ(model_key(""), "");
  EXPECT_EQ(model_key("-it"), "-it");
}

TEST(FindModel, GivesTheSameAsAllEntriesTogether) {
  for (const ModelEntry& model : tables().models()) {
    std::vector<std::string> names = model.aliases;
    names.push_back(model.name);
    names.push_back(model.name + "-Instruct");
    for (const std::string& name : names) {
      const auto found = tables().find_model(name);
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(found->name, model.name) << name;
      EXPECT_EQ(found->config, model.config) << name;
      EXPECT_EQ(pick_model(tables().models(), name)->name, model.name) << name;
    }
  }
  EXPECT_FALSE(tables().find_model("no-such-model"));
  EXPECT_FALSE(tables().find_model(""));
}

TEST(FindModel, PrefersAnOverride) {
  const std::string directory = testing::TempDir() + "sparkops-models-test-" + std::to_string(::getpid());
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/models.yaml") << "- name: Qwen3-8B\n  config: {hidden_size: 1}\n  verified: \"no\"\n"
                                               "  sources: [{title: ours}]\n  last_verified: 2026-11-01\n"
                                               "- name: our-model\n  config: {hidden_size: 2}\n  verified: \"no\"\n"
                                               "  sources: [{title: ours}]\n  last_verified: 2026-11-01\n";
  const Tables own({directory});
  EXPECT_EQ(own.find_model("Qwen/Qwen3-8B")->config.front().second, "1");
  EXPECT_EQ(own.find_model("our-model")->config.front().second, "2");
  EXPECT_TRUE(own.find_model("Llama-3.1-8B"));
  EXPECT_THAT(own.problems(), IsEmpty());
  std::filesystem::remove_all(directory);
}

TEST(NearestModels, AreThoseSpelledAlike) {
  EXPECT_THAT(nearest_models(tables().models(), "Qwen3-88B", 3), Contains("Qwen3-8B"));
  EXPECT_THAT(nearest_models(tables().models(), "zzzzzzzzzzzz", 3), IsEmpty());
}

}  // namespace
}  // namespace sparkops::knowledge
