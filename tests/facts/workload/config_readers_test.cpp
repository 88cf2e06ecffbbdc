#include "facts/workload/config_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;

std::string value_of(const ConfigValue& document, const std::string& key) {
  std::vector<Setting> settings;
  append_settings(document, "f", settings);
  for (const Setting& setting : settings)
    if (setting.key == key) return setting.value + "@" + setting.where;
  return "absent";
}

TEST(YamlReader, FlattensNestedKeysWithTheirLines) {
  const auto documents = parse_yaml("train:\n  lr: 2e-5  # comment\n  devices: [0, 1]\n  'a b': \"x\"\n");
  ASSERT_TRUE(documents) << documents.error().message;
  ASSERT_EQ(documents->size(), 1U);
  EXPECT_EQ(value_of(documents->front(), "train.lr"), "2e-5@f:2");
  EXPECT_EQ(value_of(documents->front(), "train.devices.1"), "1@f:3");
  EXPECT_EQ(value_of(documents->front(), "train.a b"), "x@f:4");
}

TEST(YamlReader, ResolvesAliasesAndMergeKeysWithTheOwnKeyWinning) {
  const auto documents =
      parse_yaml("base: &b {shm: 4g, ipc: host}\nuser:\n  <<: *b\n  shm: 8g\nlist:\n  <<: [*b, {x: 1}]\n");
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_THAT(value_of(documents->front(), "user.shm"), HasSubstr("8g"));
  EXPECT_THAT(value_of(documents->front(), "user.ipc"), HasSubstr("host"));
  EXPECT_THAT(value_of(documents->front(), "list.x"), HasSubstr("1"));
  EXPECT_THAT(value_of(documents->front(), "list.shm"), HasSubstr("4g"));
}

TEST(YamlReader, ReadsEveryDocumentOfAStream) {
  const auto documents = parse_yaml("a: 1\n---\nb: 2\n");
  ASSERT_TRUE(documents);
  EXPECT_EQ(documents->size(), 2U);
}

TEST(YamlReader, RefusesADocumentThatExpandsWithoutEnd) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k > 0 ? ", " : "") + before;
    text += "]\n";
  }
  const auto documents = parse_yaml(text);
  ASSERT_FALSE(documents);
  EXPECT_EQ(documents.error().kind, ErrorKind::malformed);
  EXPECT_THAT(documents.error().message, HasSubstr("more values"));
}

TEST(YamlReader, RefusesLargeTextsRepeatedByAliases) {
  std::string text = "a: &a " + std::string(1 << 20, 'x') + "\n";
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + ": *a\n";
  EXPECT_FALSE(parse_yaml(text));
}

TEST(YamlReader, RefusesAnAnchorInsideItself) {
  const auto documents = parse_yaml("a: &a\n  b: *a\n");
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message, HasSubstr("line 2: an anchor inside itself"));
}

TEST(YamlReader, NamesTheLineOfASyntaxError) {
  const auto documents = parse_yaml("a: 1\nb: [1, 2\nc: 3\n");
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message, HasSubstr("line "));
}

TEST(ConfigReaders, RefuseNestingWithoutEnd) {
  EXPECT_FALSE(parse_yaml(std::string(20'000, '[')));
  std::string blocks;
  for (int i = 0; i < 20'000; ++i) blocks += "- ";
  EXPECT_FALSE(parse_yaml(blocks));
  EXPECT_FALSE(parse_json(std::string(200'000, '[')));
  EXPECT_FALSE(parse_toml("a = " + std::string(200'000, '[')));
  std::string dots = "a";
  for (int i = 0; i < 200'000; ++i) dots += ".a";
  EXPECT_FALSE(parse_toml(dots + " = 1\n"));
}

TEST(JsonReader, KeepsNumbersAsWrittenAndToleratesComments) {
  const auto document =
      parse_json("{\"zero_optimization\": {\"stage\": 3}, // note\n \"lr\": 1e-4, \"on\": true, \"n\": null}");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(value_of(*document, "zero_optimization.stage"), "3@f");
  EXPECT_EQ(value_of(*document, "lr"), "1e-4@f");
  EXPECT_EQ(value_of(*document, "on"), "true@f");
  EXPECT_EQ(value_of(*document, "n"), "absent");
}

TEST(JsonReader, SaysWhereItStopped) {
  const auto document = parse_json("{\"a\": ");
  ASSERT_FALSE(document);
  EXPECT_THAT(document.error().message, HasSubstr("byte"));
}

TEST(TomlReader, ReadsTablesWithLines) {
  const auto document =
      parse_toml("[parallelism]\ntensor_parallel_degree = 2\nnames = [\"a\", \"b\"]\nrate = 0.5\nwhen = 2026-01-02\n");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(value_of(*document, "parallelism.tensor_parallel_degree"), "2@f:2");
  EXPECT_EQ(value_of(*document, "parallelism.names.1"), "b@f:3");
  EXPECT_EQ(value_of(*document, "parallelism.rate"), "0.5@f:4");
  EXPECT_EQ(value_of(*document, "parallelism.when"), "2026-01-02@f:5");
}

TEST(TomlReader, TakesCharactersBeyondAsciiInStringsAndCommentsOnly) {
  const auto document = parse_toml("# größe\nname = \"Größe\"\nother = 'é'\nlong = \"\"\"ü\n\"ß\"\"\"\"\n");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(value_of(*document, "name"), "Größe@f:2");
  const auto stray = parse_toml("a = 1\nserv\xD1\x9C\x65s: 2\n");
  ASSERT_FALSE(stray);
  EXPECT_THAT(stray.error().message, HasSubstr("line 2"));
}

TEST(TomlReader, NamesTheLineOfASyntaxError) {
  const auto document = parse_toml("a = 1\nb = = 2\n");
  ASSERT_FALSE(document);
  EXPECT_THAT(document.error().message, HasSubstr("line 2"));
}

}  // namespace
}  // namespace sparkops::facts
