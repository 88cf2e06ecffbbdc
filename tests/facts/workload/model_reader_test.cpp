#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../emulation.h"
#include "facts/workload/config_readers.h"
#include "facts/workload/model.h"
#include "facts/workload/model_files.h"
#include "facts/workload/model_quantization.h"
#include "workload/gguf_writer.h"

namespace sparkops::facts {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char* const k_config = R"({"model_type":"qwen3","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,
  "num_key_value_heads":2,"head_dim":16,"intermediate_size":128,"vocab_size":1000,"tie_word_embeddings":true,
  "torch_dtype":"bfloat16"})";

class ModelDirectory : public testing::Test {
 protected:
  ModelDirectory() { fs::create_directories(directory()); }
  ~ModelDirectory() override { fs::remove_all(directory()); }

  static std::string directory() { return testing::TempDir() + "sparkops-model-test-" + std::to_string(::getpid()); }
  static void write(const std::string& name, const std::string& content) {
    const fs::path path = fs::path(directory()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  /// A safetensors file whose data are a hole of `data_size` bytes.
  static void write_weights(const std::string& name, const std::string& header, std::uint64_t data_size,
                            std::uint64_t stated_length = 0) {
    const std::uint64_t length = stated_length > 0 ? stated_length : header.size();
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
    write(name, bytes + header);
    fs::resize_file(fs::path(directory()) / name, 8 + header.size() + data_size);
  }
  static Root root() { return *Root::open(directory()); }
  static Result<Model> read(const std::string& path = "") { return read_model(root(), path); }
};

TEST_F(ModelDirectory, GivesArchitectureTypeAndExactBytes) {
  write("config.json", k_config);
  write_weights("model-00001-of-00002.safetensors",
                R"({"model.embed_tokens.weight":{"dtype":"BF16","shape":[1000,64],"data_offsets":[0,128000]}})",
                128'000);
  write_weights("model-00002-of-00002.safetensors",
                R"({"model.norm.weight":{"dtype":"F32","shape":[64],"data_offsets":[0,256]}})", 256);
  const auto model = read();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->architecture->family, "qwen3");
  EXPECT_EQ(*model->dtype, "bfloat16");
  EXPECT_EQ(model->tensors->files, 2);
  EXPECT_EQ(model->tensors->bytes.value, 128'256);
  EXPECT_EQ(model->tensors->by_dtype.at("F32").bytes.value, 256);
  EXPECT_EQ(*model->parameters, 64'064);
  EXPECT_THAT(model->doubts, IsEmpty());
  EXPECT_FALSE(model->quantization);
}

TEST_F(ModelDirectory, IsFoundThroughAnyOfItsFiles) {
  write("config.json", k_config);
  write_weights("model.safetensors", R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})", 8);
  for (const char* const file : {"config.json", "model.safetensors", "./", ""}) {
    const auto model = read(file);
    ASSERT_TRUE(model) << file << ": " << model.error().message;
    EXPECT_EQ(model->tensors->bytes.value, 8) << file;
    EXPECT_TRUE(model->architecture) << file;
  }
}

TEST_F(ModelDirectory, WithABrokenConfigKeepsItsWeights) {
  write("config.json", "{\"hidden_size\": -4}");
  write_weights("model.safetensors", R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})", 8);
  const auto model = read();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(model->architecture.reason(), HasSubstr("hidden_size is -4"));
  EXPECT_EQ(model->tensors->bytes.value, 8);
}

TEST_F(ModelDirectory, WithAHostileHeaderKeepsItsArchitecture) {
  write("config.json", k_config);
  write_weights("model.safetensors", "{}", 0, 5'000'000'000);
  const auto model = read();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->architecture);
  EXPECT_THAT(model->tensors.reason(), HasSubstr("5000000000"));
  EXPECT_THAT(model->doubts, Contains(HasSubstr("could not be read")));
  EXPECT_THAT(read("model.safetensors").error().message, HasSubstr("5000000000"));
}

TEST_F(ModelDirectory, OfAnAdapterTellsItsBaseModel) {
  write("adapter_config.json",
        R"({"peft_type":"LORA","base_model_name_or_path":"Qwen/Qwen3-8B","r":16,"lora_alpha":32,"lora_dropout":0.1,
            "target_modules":["q_proj","v_proj"],"modules_to_save":null,"use_dora":false})");
  write_weights("adapter_model.safetensors", R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})", 8);
  const auto model = read();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(*model->adapter->base_model, "Qwen/Qwen3-8B");
  EXPECT_EQ(*model->adapter->rank, 16);
  EXPECT_THAT(*model->adapter->targets, ElementsAre("q_proj", "v_proj"));
  EXPECT_FALSE(model->adapter->modules_to_save);
  EXPECT_THAT(model->tensors.reason(), HasSubstr("only an adapter"));
}

TEST_F(ModelDirectory, OfACacheIsFollowedToItsSnapshot) {
  write("hub/models--Qwen--Qwen3-8B/refs/main", "abc123\n");
  write("hub/models--Qwen--Qwen3-8B/blobs/0001", k_config);
  fs::create_directories(directory() + "/hub/models--Qwen--Qwen3-8B/snapshots/abc123");
  fs::create_directories(directory() + "/hub/models--Qwen--Qwen3-8B/snapshots/older");
  fs::create_symlink("../../blobs/0001", directory() + "/hub/models--Qwen--Qwen3-8B/snapshots/abc123/config.json");
  const auto model = read("hub/" + hub_folder("Qwen/Qwen3-8B"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->architecture->hidden, 64);
  EXPECT_THAT(model->where, HasSubstr("snapshots/abc123"));
  fs::remove(directory() + "/hub/models--Qwen--Qwen3-8B/refs/main");
  EXPECT_THAT(read("hub/models--Qwen--Qwen3-8B").error().message, HasSubstr("2 snapshots"));
}

TEST_F(ModelDirectory, OfANameIsFoundInTheCacheOfTheHub) {
  SPARKOPS_NEEDS_THIS_KERNEL();
  write("hub/models--Qwen--Qwen3-8B/snapshots/abc123/config.json", k_config);
  ::setenv("HF_HUB_CACHE", (directory() + "/hub").c_str(), 1);
  write("hub/models--Qwen--Qwen3-8B/refs/main", "abc123");
  const auto named = find_model("Qwen/Qwen3-8B");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->name, "Qwen/Qwen3-8B");
  EXPECT_EQ(find_model("Qwen/Qwen3-9999B").error().kind, ErrorKind::not_found);
  EXPECT_EQ(find_model("../hub").error().kind, ErrorKind::not_found);
}

TEST_F(ModelDirectory, OfGgufPartsAddsThemUp) {
  GgufWriter first(3), second(3);
  first.text("general.architecture", "llama").number("llama.block_count", 1).number("llama.embedding_length", 256);
  first.number("llama.attention.head_count", 4)
      .number("llama.feed_forward_length", 512)
      .number("llama.vocab_size", 100);
  first.tensor("token_embd.weight", {256, 100}, 12);
  second.tensor("blk.0.ffn_up.weight", {256, 512}, 14).tensor("output.weight", {256, 100}, 14);
  write("m-Q4_K_M-00001-of-00002.gguf", first.finish());
  write("m-Q4_K_M-00002-of-00002.gguf", second.finish());
  write("mmproj-F16.gguf", GgufWriter(3).finish());
  const auto model = read();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->tensors->files, 2);
  EXPECT_EQ(*model->parameters, 256 * 712);
  EXPECT_EQ(model->tensors->by_dtype.at("Q6_K").bytes.value, 612 * 210);
  EXPECT_EQ(model->tensors->by_part.at(ModelPart::mlp).elements, 256 * 512);
  EXPECT_EQ(model->quantization->method, "gguf");
  EXPECT_FALSE(model->architecture->tied_embeddings);
  const auto part = read("m-Q4_K_M-00002-of-00002.gguf");
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->tensors->files, 2);
  write("other.gguf", GgufWriter(3).finish());
  EXPECT_THAT(read().error().message, HasSubstr("name one of them"));
}

TEST_F(ModelDirectory, WithoutAModelSaysWhatWasLookedFor) {
  write("README.md", "nothing");
  EXPECT_EQ(read().error().kind, ErrorKind::not_found);
  EXPECT_THAT(read().error().message, HasSubstr("no config.json"));
  EXPECT_EQ(read("absent").error().kind, ErrorKind::not_found);
  EXPECT_THAT(read("README.md").error().message, HasSubstr("no model file"));
  write("config.json", "{");
  EXPECT_EQ(read().error().kind, ErrorKind::malformed);
}

ModelQuantization quantization(const std::string& json) {
  const auto config = parse_json("{\"quantization_config\":" + json + "}");
  EXPECT_TRUE(config);
  const auto read = read_model_quantization(*config);
  EXPECT_TRUE(read) << read.reason();
  return read ? *read : ModelQuantization{};
}

TEST(ModelQuantization, OfEveryMethodHasItsFormatAndBits) {
  const auto expect = [](const std::string& json, const std::string& format, double bits) {
    const ModelQuantization q = quantization(json);
    EXPECT_EQ(q.format, format) << json;
    ASSERT_TRUE(q.bits) << json;
    EXPECT_NEAR(*q.bits, bits, 1e-3) << json;
  };
  expect(R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4",
             "bnb_4bit_use_double_quant":true})",
         "nf4", 4.127);
  expect(R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4"})", "nf4", 4.5);
  expect(R"({"quant_method":"bitsandbytes","load_in_8bit":true})", "int8", 8);
  expect(R"({"quant_method":"awq","bits":4,"group_size":128,"zero_point":true})", "int4", 4.156);
  expect(R"({"quant_method":"gptq","bits":4,"group_size":64,"desc_act":false})", "int4", 4.3125);
  expect(R"({"quant_method":"fp8","weight_block_size":[128,128]})", "fp8", 8.00195);
  expect(R"({"quant_method":"mxfp4","modules_to_not_convert":["lm_head"]})", "mxfp4", 4.25);
  expect(R"({"quant_method":"modelopt","quant_algo":"NVFP4"})", "nvfp4", 4.5);
  expect(R"({"quant_method":"modelopt","quant_algo":"FP8"})", "fp8", 8);
  expect(R"({"quant_method":"compressed-tensors","format":"nvfp4-pack-quantized"})", "nvfp4", 4.5);
  expect(R"({"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"group_0":{"weights":
             {"num_bits":4,"type":"int","group_size":128}}}})",
         "int4", 4.125);
  expect(R"({"quant_method":"compressed-tensors","format":"float-quantized","config_groups":{"group_0":{"weights":
             {"num_bits":8,"type":"float"}}}})",
         "fp8", 8);
}

TEST(ModelQuantization, KeepsWhatStaysUnquantisedAndNamesWhatItDoesNotKnow) {
  EXPECT_THAT(quantization(R"({"quant_method":"awq","bits":4,"modules_to_not_convert":["visual"]})").not_converted,
              ElementsAre("visual"));
  const ModelQuantization other = quantization(R"({"quant_method":"quantum","bits":3})");
  EXPECT_EQ(other.format, "quantum");
  EXPECT_FALSE(other.bits);
  const auto config = parse_json(R"({"quantization_config":{"quant_method":"gptq","bits":-4}})");
  EXPECT_THAT(read_model_quantization(*config).reason(), HasSubstr("bits is -4"));
}

}  // namespace
}  // namespace sparkops::facts
