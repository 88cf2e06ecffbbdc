#include "facts/workload/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "facts/workload/dataset_sample.h"

namespace sparkops::facts {
namespace {

using testing::HasSubstr;

class DatasetFile : public testing::Test {
 protected:
  ~DatasetFile() override { std::filesystem::remove(path()); }
  static std::string name() { return "sparkops-dataset-" + std::to_string(::getpid()) + ".jsonl"; }
  static std::string path() { return testing::TempDir() + name(); }
  static Result<DatasetSummary> read(const std::string& content) {
    std::ofstream(path(), std::ios::binary) << content;
    return read_dataset(*Root::open(testing::TempDir()), name());
  }
};

TEST_F(DatasetFile, TellsCountPercentilesAndTheLongestSample) {
  std::string content;
  for (int i = 1; i <= 200; ++i)
    content += "{\"text\": \"" + std::string(static_cast<std::size_t>(i) * 4, 'a') + "\"}\n";
  content += "\n  \n";
  const auto summary = read(content);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, 200);
  EXPECT_EQ(summary->bad_lines, 0);
  EXPECT_EQ(summary->form, SampleForm::text);
  EXPECT_EQ(summary->characters->median, 400);
  EXPECT_EQ(summary->characters->p99, 792);
  EXPECT_EQ(summary->characters->longest, 800);
  EXPECT_EQ(summary->longest_line, 200);
  EXPECT_EQ(summary->tokens->longest, 201);
  EXPECT_EQ(summary->tokens.provenance().origin, Origin::derived);
  EXPECT_TRUE(summary->percentiles_exact);
  EXPECT_EQ(summary->size.value, static_cast<std::int64_t>(content.size()));
}

TEST_F(DatasetFile, CountsTokenIdsExactly) {
  const auto summary = read("{\"input_ids\": [1, 2, 3], \"labels\": [1, 2, 3, 4]}\n{\"input_ids\": [7]}");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->tokens->longest, 3);
  EXPECT_EQ(summary->tokens->total, 4);
  EXPECT_EQ(summary->tokens.provenance().origin, Origin::read);
  EXPECT_FALSE(summary->characters);
}

TEST_F(DatasetFile, CountsBadLinesAndGoesOn) {
  const auto summary =
      read("{\"text\": \"abc\"}\n{\"text\": \nnot json\n[1]\n{\"other\": 1}\n\x01\xff\n{\"text\": \"d\"}\n");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, 2);
  EXPECT_EQ(summary->bad_lines, 5);
  EXPECT_THAT(summary->first_bad_line, HasSubstr("line 2"));
}

TEST_F(DatasetFile, ThatIsNoneIsRefused) {
  EXPECT_THAT(read("").error().message, HasSubstr("no samples"));
  EXPECT_THAT(read("[\n{\"text\": 1}\n]").error().message, HasSubstr("no samples"));
  std::string parquet = "PAR1";
  for (int i = 0; i < 1000; ++i) parquet += "\n\x15\x04\x15";
  EXPECT_THAT(read(parquet).error().message, HasSubstr("no JSON lines"));
  EXPECT_EQ(read_dataset(*Root::open(testing::TempDir()), "absent.jsonl").error().kind, ErrorKind::not_found);
}

TEST_F(DatasetFile, WithLinesAcrossPartsIsReadWhole) {
  const std::string line = "{\"text\": \"" + std::string(3 << 20, 'x') + "\"}\n";
  const auto summary = read(line + line + "{\"text\": \"end\"}");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, 3);
  EXPECT_EQ(summary->characters->longest, 3 << 20);
}

Sample sample(const std::string& line) {
  const auto read = read_sample(line);
  EXPECT_TRUE(read) << line << ": " << (read ? "" : read.error().message);
  return read ? *read : Sample{};
}

TEST(Sample, OfEveryFormIsMeasured) {
  EXPECT_EQ(sample(R"({"messages":[{"role":"user","content":"abcd"},{"role":"assistant","content":"ef"}]})").characters,
            6);
  EXPECT_EQ(sample(R"({"conversations":[{"from":"human","value":"abcd"}]})").form, SampleForm::messages);
  EXPECT_EQ(sample(R"({"messages":[{"role":"user","content":[{"type":"text","text":"abc"}]}]})").characters, 3);
  EXPECT_EQ(sample(R"({"instruction":"ab","input":"cd","output":"ef","id":12})").characters, 6);
  EXPECT_EQ(sample(R"({"prompt":"ab","completion":"cd"})").form, SampleForm::prompt_completion);
  EXPECT_EQ(sample(R"({"question":"ab","answer":"cd"})").characters, 4);
  const Sample preference = sample(R"({"prompt":"ab","chosen":"cde","rejected":"f"})");
  EXPECT_EQ(preference.form, SampleForm::preference);
  EXPECT_EQ(preference.characters, 8);
  EXPECT_EQ(sample("{\"text\":\"\\u00e4\\u4e2d\"}").characters, 2);
  EXPECT_GT(sample("{\"text\":\"" + std::string(300, '\xe4').replace(0, 300, "中中中中") + "\"}").tokens, 2);
  EXPECT_FALSE(read_sample("{}"));
  EXPECT_FALSE(read_sample("3"));
  EXPECT_FALSE(read_sample(""));
  EXPECT_FALSE(read_sample("{\"text\":" + std::string(100'000, '[')));
}

RC_GTEST_PROP(Sample, OfAnyLineIsMeasuredOrRefused, (const std::string& line)) {
  const auto read = read_sample(line);
  RC_ASSERT(!read || read->tokens >= 0);
  (void)read_sample("{\"text\":\"" + line);
}

}  // namespace
}  // namespace sparkops::facts
