#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sparkops::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

ProgramResult plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  arguments.insert(arguments.end(), {"--platform", "gb10"});
  return run_sparkops(arguments);
}

Json plan_json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return Json::parse(plan(std::move(arguments)).out, nullptr, false);
}

// The reference checks of the memory model.

TEST(Plan, SeventyBillionQloraPeaksInTheLoadFromABf16Checkpoint) {
  const Json json = plan_json({"Llama-3.3-70B", "--method", "qlora"});
  EXPECT_EQ(json["peak_phase"], "load");
  EXPECT_GE(json["estimate"]["load_bytes"]["value"].get<double>(), 35e9);
  // Adapters of rank 16 on every matrix are counted in `load`; the weights alone stay below 40 GB.
  EXPECT_LE(json["terms"][0]["bytes"]["value"].get<double>(), 40e9);
  EXPECT_EQ(plan({"Llama-3.3-70B", "--method", "qlora", "--loader", "pread"}).exit_code, 0);
}

TEST(Plan, NineBillionFullFineTuneWithEightBitAdamFits) {
  const ProgramResult result =
      plan({"Qwen3.5-9B", "--method", "full", "--optimizer", "adamw-8bit", "--packing", "2048"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("verdict   fits"));
}

TEST(Plan, TwentySevenBillionLoraFitsAt1024AndMoreIsNotCalledSafe) {
  const ProgramResult at_ceiling = plan({"Qwen3.5-27B", "--method", "lora", "--packing", "1024", "--fit"});
  EXPECT_EQ(at_ceiling.exit_code, 0) << at_ceiling.out;
  EXPECT_THAT(at_ceiling.out, HasSubstr("verdict   fits"));
  EXPECT_THAT(at_ceiling.out, HasSubstr("observed ceiling 1024"));
  EXPECT_THAT(at_ceiling.out, HasSubstr("is not called safe"));
  EXPECT_THAT(plan({"Qwen3.5-27B", "--method", "lora", "--packing", "2048"}).out, HasSubstr("do not call it safe"));
}

TEST(Plan, SeventyBillionInBf16DoesNotFit) {
  const ProgramResult result = plan({"Llama-3.3-70B", "--method", "lora"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("does-not-fit"));
}

TEST(Plan, UnslothsOffloadSavesNothing) {
  EXPECT_THAT(plan({"Qwen3-8B", "--method", "lora", "--framework", "unsloth"}).out, HasSubstr("it saves 0 B"));
}

TEST(Plan, AParameterCountAloneHasWiderBounds) {
  const auto width = [](const Json& json) {
    const Json& system = json["estimate"]["activations_bytes"];
    return system["high"].get<double>() / system["low"].get<double>();
  };
  const Json named = plan_json({"Qwen3-8B", "--method", "lora"});
  const Json counted = plan_json({"--params", "8.19e9", "--method", "lora"});
  EXPECT_GT(width(counted), 2 * width(named));
  EXPECT_FALSE(counted["doubts"].empty());
}

TEST(Plan, ExplainFillsTheNumbersIn) {
  const std::string text = plan({"Qwen3-8B", "--method", "lora", "--explain"}).out;
  EXPECT_THAT(text, HasSubstr("P · bits / 8"));
  EXPECT_THAT(text, HasSubstr("8.191e9 · 16 / 8"));
  EXPECT_THAT(text, HasSubstr("0 because"));
}

TEST(Plan, CompareShowsFourMethods) {
  const Json json = plan_json({"Qwen3-32B", "--method", "lora", "--compare", "--loader", "pread"});
  ASSERT_EQ(json["compare"].size(), 4U);
  EXPECT_EQ(json["compare"][0]["answer"], "does-not-fit");
  EXPECT_EQ(json["compare"][2]["answer"], "fits");
}

TEST(Plan, BesideGivesTheOtherTenantsOwnOption) {
  const Json json =
      plan_json({"Qwen3-8B", "--method", "lora", "--loader", "pread", "--beside", "vllm serve some/model"});
  EXPECT_THAT(json["beside"]["setting"].get<std::string>(), HasSubstr("--gpu-memory-utilization 0."));
  EXPECT_GT(json["beside"]["start_transient_bytes"].get<double>(), 0);
}

TEST(Plan, GarbageIsAClearErrorAndNeverANumber) {
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"--params", "-3"},
                                                    {"--params", "1e40"},
                                                    {"--params", "lots"},
                                                    {"no-such-model-anywhere"},
                                                    {"/nonexistent/model"},
                                                    {"Qwen3-8B", "--batch", "0"},
                                                    {"Qwen3-8B", "--batch", "1.5"},
                                                    {"Qwen3-8B", "--batch", "nan"},
                                                    {"Qwen3-8B", "--sequence", "-1"},
                                                    {"Qwen3-8B", "--sequence", "9..3"},
                                                    {"Qwen3-8B", "--weights", "int3"},
                                                    {"Qwen3-8B", "--weights", "gguf:Q9"},
                                                    {"Qwen3-8B", "--method", "full", "--weights", "nf4"},
                                                    {"Qwen3-8B", "--method", "lora", "--tp"},
                                                    {"Qwen3-8B", "--fsdp", "--ddp"},
                                                    {"Qwen3-8B", "--server-fraction", "1.5"},
                                                    {"--arch", "L=1e9"},
                                                    {"Qwen3-8B", "--arch", "L=1,h=8,nh=1,i=8,V=8"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const ProgramResult result = plan(arguments);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(arguments) << result.out;
    EXPECT_EQ(result.out, "") << ::testing::PrintToString(arguments);
    EXPECT_THAT(result.err, HasSubstr("sparkops: "));
  }
}

class PlanFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / ("sparkops-plan-" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(directory_ / name) << content;
    return (directory_ / name).string();
  }
  std::filesystem::path directory_;
};

TEST_F(PlanFiles, AnAxolotlConfigurationGivesMethodLengthAndBatch) {
  const std::string file = write("run.yaml",
                                 "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 32\nlora_target_linear: true\n"
                                 "sequence_len: 4096\nsample_packing: true\nmicro_batch_size: 2\n"
                                 "gradient_accumulation_steps: 4\noptimizer: adamw_bnb_8bit\nbf16: true\n"
                                 "gradient_checkpointing: true\ndatasets:\n  - path: x.jsonl\n    type: alpaca\n");
  const Json json = plan_json({"--workload", file});
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["method"], "lora");
  EXPECT_THAT(json["inputs"].dump(), HasSubstr(R"("name":"batch","origin":"read","value":"2")"));
  EXPECT_THAT(json["inputs"].dump(), HasSubstr(R"("name":"sequence","origin":"read","value":"4096")"));
  // A flag wins over the file.
  EXPECT_THAT(plan_json({"--workload", file, "--batch", "7"})["inputs"].dump(),
              HasSubstr(R"("name":"batch","origin":"read","value":"7")"));
}

TEST_F(PlanFiles, TheLongestSampleOfADatasetDecides) {
  const std::string file =
      write("data.jsonl", "{\"text\": \"short\"}\nno json\n{\"text\": \"" + std::string(40000, 'a') + "\"}\n");
  const Json json = plan_json({"Qwen3-8B", "--method", "lora", "--dataset", file});
  ASSERT_EQ(json["dataset"].size(), 2U);
  EXPECT_THAT(json["dataset"][1].get<std::string>(), HasSubstr("1 bad line"));
  EXPECT_GT(json["estimate"]["activations_bytes"]["high"], json["estimate"]["activations_bytes"]["low"]);
}

TEST_F(PlanFiles, AHostileConfigIsAnErrorOrADoubt) {
  const std::string contradictory =
      write("config.json", R"({"model_type":"llama","hidden_size":-5,"num_hidden_layers":1e30,"vocab_size":"x"})");
  const ProgramResult result = plan({contradictory, "--method", "lora"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  write("model.safetensors", std::string("\xff\xff\xff\xff\xff\x00\x00\x00{}", 10));
  EXPECT_EQ(plan({(directory_ / "model.safetensors").string(), "--method", "lora"}).exit_code, 2);
}

TEST_F(PlanFiles, AServersCommandIsPlannedAsInference) {
  const ProgramResult result =
      run_sparkops({"plan", "--json", "--platform", "gb10", "--", "vllm", "serve", "Qwen/Qwen3-32B",
                    "--gpu-memory-utilization", "0.7", "--max-model-len", "8192"});
  const Json json = Json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.err;
  EXPECT_EQ(json["method"], "inference");
  EXPECT_GT(json["estimate"]["kv_cache_bytes"]["value"].get<double>(), 5e9);
}

}  // namespace
}  // namespace sparkops::testing
