#include "facts/software/distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine/tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Tree;

constexpr const char* k_site = "/env/lib/python3.12/site-packages";

std::string in_site(const std::string& path) {
  return std::string(k_site + 1) + "/" + path;
}

TEST(Metadata, IsReadUpToTheFirstEmptyLine) {
  const Metadata metadata = parse_metadata(
      "Metadata-Version: 2.1\nName: Unsloth_Zoo\nVersion: 2026.7.2\nSummary: many\n words\nRequires-Dist: torch>=2.9\n"
      "Requires-Dist: xformers; extra == 'all'\nProvides-Extra: All\nRequires-Dist: >>broken\n\nName: not this\n"
      "Requires-Dist: nor this\n");
  EXPECT_EQ(metadata.name, "Unsloth_Zoo");
  EXPECT_EQ(metadata.version, "2026.7.2");
  ASSERT_EQ(metadata.requirements.size(), 2U);
  EXPECT_EQ(metadata.requirements[1].marker, "extra == 'all'");
  EXPECT_THAT(metadata.provided_extras, ElementsAre("all"));
  EXPECT_EQ(metadata.unreadable_requirements, 1U);
}

TEST(Metadata, TakesWhateverBytesThereAre) {
  std::string text = "Name: a";
  text += '\0';
  text += "b\r\nVersion: 1\r\n";
  for (int i = 0; i < 5000; ++i) text += "Requires-Dist: p" + std::to_string(i) + "\r\n";
  EXPECT_EQ(parse_metadata(text).requirements.size(), 2000U);
  EXPECT_EQ(parse_metadata(std::string(100000, ':')).name, "");
  EXPECT_EQ(parse_metadata("").version, "");
}

TEST(RequiresTxt, PutsItsSectionsIntoMarkers) {
  const auto requirements =
      parse_requires_txt("numpy>=1.2\n[test]\npytest\n[:python_version < '3']\nsix\n[x:os_name=='nt']\ny\n");
  ASSERT_EQ(requirements.size(), 4U);
  EXPECT_EQ(requirements[0].marker, "");
  EXPECT_EQ(requirements[1].marker, "extra == 'test'");
  EXPECT_EQ(requirements[2].marker, "python_version < '3'");
  EXPECT_EQ(requirements[3].marker, "extra == 'x' and (os_name=='nt')");
}

TEST(WheelTag, NamesThePlatform) {
  EXPECT_EQ(parse_wheel_platform("Wheel-Version: 1.0\nTag: cp312-cp312-manylinux_2_28_x86_64\n"),
            "manylinux_2_28_x86_64");
  EXPECT_EQ(parse_wheel_platform("Tag: py3-none-any\n"), "any");
  EXPECT_EQ(parse_wheel_platform("nothing"), "");
}

TEST(Distributions, OfASiteDirectoryAreRead) {
  const Tree tree;
  tree.write(in_site("torch-2.11.0.dist-info/METADATA"),
             "Name: torch\nVersion: 2.11.0+cu130\nRequires-Dist: numpy\n\nlong");
  tree.write(in_site("torch-2.11.0.dist-info/WHEEL"), "Tag: cp312-cp312-manylinux_2_28_aarch64\n");
  tree.write(in_site("old-1.0-py3.12.egg-info/PKG-INFO"), "Name: old\nVersion: 1.0\n");
  tree.write(in_site("old-1.0-py3.12.egg-info/requires.txt"), "torch<2\n");
  tree.write(in_site("single-0.5.egg-info"), "Name: single\nVersion: 0.5\n");
  tree.write(in_site("zipped-3.0-py3.12.egg/EGG-INFO/PKG-INFO"), "Name: zipped\nVersion: 3.0\n");
  tree.write(in_site("bare_name-1.2.dist-info/RECORD"), "");
  tree.write(in_site("~orch-2.9.0.dist-info/METADATA"), "Name: torch\nVersion: 2.9.0\n");
  tree.write(in_site("not_a_package/__init__.py"), "");
  std::vector<std::string> could_not;
  const auto found = read_distributions(tree.root(), k_site, could_not);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].key, "bare-name");
  EXPECT_EQ(*found[0].version, "1.2");
  EXPECT_EQ(found[1].key, "old");
  ASSERT_EQ(found[1].requirements.size(), 1U);
  EXPECT_EQ(found[1].requirements[0].specifiers, "<2");
  EXPECT_EQ(*found[2].version, "0.5");
  EXPECT_EQ(*found[3].version, "2.11.0+cu130");
  EXPECT_EQ(*found[3].wheel_platform, "manylinux_2_28_aarch64");
  EXPECT_EQ(found[4].key, "zipped");
  EXPECT_THAT(could_not, Contains(HasSubstr("did not finish")));
  EXPECT_THAT(could_not, Contains(HasSubstr("bare_name-1.2.dist-info/METADATA")));
}

TEST(Distributions, SurviveHostileMetadata) {
  const Tree tree;
  tree.sparse(in_site("huge-1.dist-info/METADATA"), std::int64_t{1} << 40);
  tree.write(in_site("nul-1.dist-info/METADATA"), std::string("Name: n\0ul\nVersion: \x1b[31m1\n\n", 27));
  tree.fifo(in_site("pipe-1.dist-info/METADATA"));
  tree.link(in_site("out-1.dist-info"), "../../../../../../../../etc");
  std::vector<std::string> could_not;
  const auto found = read_distributions(tree.root(), k_site, could_not);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_THAT(could_not, Contains(HasSubstr("huge-1.dist-info/METADATA: no end of its headers")));
  for (const Distribution& distribution : found) {
    EXPECT_EQ(distribution.name.find('\0'), std::string::npos);
    EXPECT_EQ(distribution.version.value_or("").find('\x1b'), std::string::npos);
  }
}

TEST(Distributions, OfADirectoryThatIsNotThereAreNone) {
  const Tree tree;
  std::vector<std::string> could_not;
  EXPECT_THAT(read_distributions(tree.root(), k_site, could_not), IsEmpty());
  EXPECT_THAT(could_not, IsEmpty());
}

TEST(Record, ListsFilesFromTheRoot) {
  const Tree tree;
  tree.write(in_site("x-1.dist-info/METADATA"), "Name: x\nVersion: 1\n");
  tree.write(in_site("x-1.dist-info/RECORD"),
             "x/_C.so,sha256=abc,12\n\"x/with,comma\"\"s.py\",,\n../../../bin/x,,\n../../../../../../../../../etc/"
             "passwd,,\n/abs/path,,\n");
  std::vector<std::string> could_not;
  const auto found = read_distributions(tree.root(), k_site, could_not);
  ASSERT_EQ(found.size(), 1U);
  const auto files = distribution_files(tree.root(), found[0]);
  ASSERT_TRUE(files.has_value());
  EXPECT_THAT(*files, ElementsAre(std::string(k_site) + "/x/_C.so", std::string(k_site) + "/x/with,comma\"s.py",
                                  "/env/bin/x", "/abs/path"));
}

TEST(Record, ThatIsMissingIsAnError) {
  const Tree tree;
  Distribution distribution;
  distribution.site = k_site;
  distribution.metadata = std::string(k_site) + "/x-1.dist-info";
  EXPECT_FALSE(distribution_files(tree.root(), distribution).has_value());
}

}  // namespace
}  // namespace sparkops::facts
