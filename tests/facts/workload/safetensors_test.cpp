#include "facts/workload/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "facts/workload/model_files.h"

namespace sparkops::facts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string first_bytes(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  return bytes;
}

struct Seen {
  std::string name, dtype;
  std::int64_t elements, bytes;
};

Result<std::vector<Seen>> scan(const std::string& header, std::uint64_t data_size) {
  std::vector<Seen> seen;
  const auto scanned = scan_safetensors_header(header, data_size, [&seen](const StoredTensor& tensor) {
    seen.push_back({std::string(tensor.name), std::string(tensor.dtype), tensor.elements, tensor.bytes});
  });
  if (!scanned) return tl::unexpected(scanned.error());
  return seen;
}

std::string problem(const std::string& header, std::uint64_t data_size = 1000) {
  const auto seen = scan(header, data_size);
  EXPECT_FALSE(seen) << header;
  return seen ? "" : seen.error().message;
}

TEST(SafetensorsHeader, HasALengthThatTheFileCanHold) {
  EXPECT_EQ(*safetensors_header_length(first_bytes(100), 1000), 100U);
  constexpr std::uint64_t k_five_gigabytes = 5'000'000'000;
  const auto huge = safetensors_header_length(first_bytes(k_five_gigabytes), k_five_gigabytes * 2);
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().message, HasSubstr("5000000000"));
  EXPECT_THAT(safetensors_header_length(first_bytes(2000), 1000).error().message, HasSubstr("download complete"));
  EXPECT_FALSE(safetensors_header_length("short", 5));
  EXPECT_FALSE(safetensors_header_length(first_bytes(~std::uint64_t{0}), 1000));
}

TEST(SafetensorsHeader, IsReadInAnyOrderOfFields) {
  const auto seen = scan(R"( {"__metadata__":{"format":"pt","q":"a \" b"},
    "a.weight":{"dtype":"BF16","shape":[3,4],"data_offsets":[0,24]},
    "b\"c":{"data_offsets":[24,32],"shape":[],"dtype":"F64"},
    "n4":{"shape":[8],"dtype":"F4","data_offsets":[32,36]} }   )",
                         36);
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_THAT(*seen, SizeIs(3));
  EXPECT_EQ(seen->at(0).elements, 12);
  EXPECT_EQ(seen->at(1).name, "b\\\"c");
  EXPECT_EQ(seen->at(1).elements, 1);
  EXPECT_EQ(seen->at(2).bytes, 4);
  EXPECT_TRUE(scan("{}", 0));
}

TEST(SafetensorsHeader, OfATypeOfTheFutureKeepsItsBytes) {
  const auto seen = scan(R"({"a":{"dtype":"F5_NEW","shape":[8],"data_offsets":[0,5]}})", 5);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->at(0).bytes, 5);
  EXPECT_THAT(problem(R"({"a":{"dtype":"F5_NEW","shape":[800000],"data_offsets":[0,5]}})"), HasSubstr("shape"));
}

TEST(SafetensorsHeader, IsRefusedWhereItContradictsItself) {
  const auto tensor = [](const std::string& rest) { return R"({"a":{"dtype":"BF16",)" + rest + "}}"; };
  EXPECT_THAT(problem(tensor(R"("shape":[2],"data_offsets":[0,5])")), HasSubstr("do not fit"));
  EXPECT_THAT(problem(tensor(R"("shape":[2],"data_offsets":[4,0])")), HasSubstr("ends before it begins"));
  EXPECT_THAT(problem(tensor(R"("shape":[2],"data_offsets":[0,4])"), 3), HasSubstr("behind the end"));
  EXPECT_THAT(problem(tensor(R"("shape":[-2],"data_offsets":[0,4])")), HasSubstr("no size"));
  EXPECT_THAT(problem(tensor(R"("shape":[4294967296,4294967296],"data_offsets":[0,4])")), HasSubstr("too much"));
  EXPECT_THAT(problem(tensor(R"("shape":[99999999999999999999],"data_offsets":[0,4])")), HasSubstr("no size"));
  EXPECT_THAT(problem(tensor(R"("shape":[2])")), HasSubstr("missing"));
  EXPECT_THAT(problem(tensor(R"("shape":[2],"data_offsets":[0,4],"x":1)")), HasSubstr("none of"));
  EXPECT_THAT(problem(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},
                          "b":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})",
                      10),
              HasSubstr("overlap"));
  EXPECT_THAT(problem("[]"), HasSubstr("must start with {"));
  EXPECT_THAT(problem(""), HasSubstr("must start with {"));
  EXPECT_THAT(problem(R"({"a")"), HasSubstr("a name must come here"));
  EXPECT_THAT(problem(R"({"a":{}})"), HasSubstr("a key"));
  EXPECT_THAT(problem("{} trailing"), HasSubstr("follows"));
  EXPECT_THAT(problem(std::string("{\"a\0b", 5)), HasSubstr("name"));
  EXPECT_THAT(problem(R"({"a\)"), HasSubstr("name"));
  EXPECT_THAT(problem(R"({"a":{"dtype":"U8","shape":[)" + std::string(5000, '1') + "]}}"), HasSubstr("no size"));
}

RC_GTEST_PROP(SafetensorsHeader, EndsForEveryCutOfAGoodOne, ()) {
  const std::string good = R"({"__metadata__":{"a":"b"},"w":{"dtype":"BF16","shape":[3,4],"data_offsets":[0,24]}})";
  const auto length = *rc::gen::inRange<std::size_t>(0, good.size());
  RC_ASSERT(!scan(good.substr(0, length), 24));
}

RC_GTEST_PROP(SafetensorsHeader, NeverGivesMoreBytesThanThereAre, (const std::string& text)) {
  const auto seen = scan("{" + text, 100);
  std::int64_t bytes = 0;
  if (seen)
    for (const Seen& tensor : *seen) bytes += tensor.bytes;
  RC_ASSERT(bytes <= 100);
}

TensorTotals totals(const std::vector<StoredTensor>& tensors, const Known<ModelQuantization>& quantization) {
  TensorSum sum(0, quantization);
  for (const StoredTensor& tensor : tensors) sum.add(tensor);
  return sum.finish();
}

TEST(TensorSum, CountsPackedWeightsByTheirFormatAndLeavesScalesOut) {
  const std::vector<StoredTensor> tensors = {{"model.layers.0.mlp.up_proj.weight", "U8", 100, 100, 10, 10},
                                             {"model.layers.0.mlp.up_proj.weight_scale", "F8_E4M3", 12, 12, 3, 4},
                                             {"model.norm.weight", "BF16", 10, 20, 10, 10}};
  ModelQuantization nvfp4;
  nvfp4.format = "nvfp4";
  EXPECT_EQ(*totals(tensors, as_read(ModelQuantization(nvfp4))).parameters, 210);
  const Known<ModelQuantization> none = unknown("none");
  const TensorTotals unpacked = totals(tensors, none);
  EXPECT_FALSE(unpacked.parameters);
  EXPECT_THAT(unpacked.parameters.reason(), HasSubstr("U8"));
  EXPECT_EQ(unpacked.bytes.value, 132);
  EXPECT_EQ(unpacked.by_dtype.at("BF16").elements, 10);
  EXPECT_EQ(unpacked.by_part.at(ModelPart::mlp).tensors, 2);
  EXPECT_EQ(unpacked.largest_tensor_name, "model.layers.0.mlp.up_proj.weight");
}

TEST(TensorSum, UnpacksTheWordsOfGptq) {
  ModelQuantization gptq;
  gptq.format = "int4";
  gptq.weight_bits = as_read(std::int64_t{4});
  const std::vector<StoredTensor> tensors = {{"model.layers.0.self_attn.q_proj.qweight", "I32", 100, 400, 10, 10},
                                             {"model.layers.0.self_attn.q_proj.qzeros", "I32", 10, 40, 10, 1},
                                             {"model.layers.0.self_attn.q_proj.g_idx", "I32", 10, 40, 10, 10},
                                             {"model.layers.0.self_attn.q_proj.scales", "F16", 10, 20, 10, 1}};
  EXPECT_EQ(*totals(tensors, as_read(ModelQuantization(gptq))).parameters, 800);
}

TEST(WeightFiles, AreTheCompleteSetOfTransformers) {
  const auto chosen = choose_safetensors({"consolidated.safetensors", "model-00001-of-00002.safetensors",
                                          "model-00002-of-00002.safetensors", "adapter_model.safetensors"},
                                         {});
  EXPECT_THAT(chosen.files, ElementsAre("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"));
  EXPECT_THAT(chosen.doubts, ElementsAre(HasSubstr("several sets")));
  const auto indexed =
      choose_safetensors({"a-00001-of-00001.safetensors", "model.safetensors"}, {"a-00001-of-00001.safetensors"});
  EXPECT_THAT(indexed.files, ElementsAre("a-00001-of-00001.safetensors"));
  EXPECT_THAT(indexed.doubts, SizeIs(0));
}

TEST(WeightFiles, ThatAreMissingAreTold) {
  const auto chosen = choose_safetensors({"model-00001-of-00003.safetensors"}, {});
  EXPECT_THAT(chosen.doubts, ElementsAre(HasSubstr("2 of 3 weight files are missing")));
  EXPECT_THAT(choose_safetensors({"pytorch_model.bin"}, {}).doubts, ElementsAre(HasSubstr("pickle")));
}

TEST(WeightFiles, AreListedByTheIndexOnceEach) {
  const auto files = parse_safetensors_index(
      R"({"metadata":{"total_size":12},"weight_map":{"a":"m-2.safetensors","b":"m-1.safetensors","c":"m-1.safetensors"}})");
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(*files, ElementsAre("m-1.safetensors", "m-2.safetensors"));
  EXPECT_THAT(parse_safetensors_index(R"({"weight_map":{"a":"../../etc/passwd"}})").error().message,
              HasSubstr("no safetensors file beside it"));
  EXPECT_FALSE(parse_safetensors_index("{}"));
  EXPECT_FALSE(parse_safetensors_index("{\"weight_map\":"));
  EXPECT_FALSE(parse_safetensors_index(std::string(100'000, '[')));
}

}  // namespace
}  // namespace sparkops::facts
