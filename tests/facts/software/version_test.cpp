#include "facts/software/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

Version v(std::string_view text) {
  const auto version = parse_version(text);
  EXPECT_TRUE(version.has_value()) << text;
  return version.value_or(Version{});
}

TEST(VersionOrder, FollowsPep440) {
  const std::vector<std::string> sorted{"1.dev0",        "1.0.dev456",    "1.0a1",
                                        "1.0a2.dev456",  "1.0a12.dev456", "1.0a12",
                                        "1.0b1.dev456",  "1.0b2",         "1.0b2.post345.dev456",
                                        "1.0b2.post345", "1.0rc1.dev456", "1.0rc1",
                                        "1.0",           "1.0+abc.5",     "1.0+abc.7",
                                        "1.0+5",         "1.0+5.1",       "1.0.post456.dev34",
                                        "1.0.post456",   "1.0.15",        "1.1.dev1",
                                        "2!0.1"};
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    EXPECT_LT(v(sorted[i]), v(sorted[i + 1])) << sorted[i] << " " << sorted[i + 1];
    EXPECT_GT(v(sorted[i + 1]), v(sorted[i]));
  }
}

TEST(VersionOrder, KnowsTheFormsOfTheseWheels) {
  EXPECT_LT(v("2.10.0a0+b558c986e8.nv25.11"), v("2.10.0"));
  EXPECT_LT(v("2.10.0.dev20251024+cu130"), v("2.10.0a0"));
  EXPECT_GT(v("2.11.0+cu130"), v("2.11.0"));
  EXPECT_GT(v("0.6.11.post2"), v("0.6.11"));
  EXPECT_GT(v("2026.7.2"), v("2026.4.6"));
}

TEST(VersionOrder, TreatsEqualFormsAsEqual) {
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{{"1.0", "1"},
                                                                             {"v1.0", "1.0.0"},
                                                                             {"1.0-ALPHA.1", "1.0a1"},
                                                                             {"1.0c1", "1.0rc1"},
                                                                             {"1.0-1", "1.0.post1"},
                                                                             {"1.0rev3", "1.0.post3"},
                                                                             {"1.0+Ubuntu-1", "1.0+ubuntu.1"},
                                                                             {"1.0a", "1.0a0"},
                                                                             {"01.002", "1.2"}})
    EXPECT_EQ(v(a), v(b)) << a << " " << b;
}

TEST(VersionParser, RefusesWhatIsNone) {
  for (const std::string& text : std::vector<std::string>{"", "nightly", "source build", "1.0+", "1.0+a..b", "1.", "a1",
                                                          "1.0 2", "1.99999999999999999999999999", "1!", "1.0.*",
                                                          std::string("1.0\0", 4) + "x", std::string(100000, '1')})
    EXPECT_FALSE(parse_version(text).has_value()) << text.substr(0, 40);
}

TEST(VersionParser, KeepsLongChainsBounded) {
  std::string text = "1";
  for (int i = 0; i < 200; ++i) text += ".1";
  EXPECT_FALSE(parse_version(text).has_value());
}

TEST(VersionSpecifiers, AreMetAsPipUnderstandsThem) {
  struct Case {
    const char* version;
    const char* specifiers;
    bool meets;
  };
  for (const Case& c : std::vector<Case>{{"2.11.0+cu130", "==2.11.0", true},
                                         {"2.11.0+cu130", "==2.11.0+cu128", false},
                                         {"2.11.0", "==2.11.0+cu130", false},
                                         {"2.11.0+cu130", "<=2.11.0", true},
                                         {"2.11.0+cu130", ">2.11.0", false},
                                         {"2.11.0.post1", ">2.11.0", false},
                                         {"2.11.1", ">2.11.0", true},
                                         {"2.12.0rc1", "<2.12.0", false},
                                         {"2.12.0rc1", "<2.12.0rc2", true},
                                         {"2.10.0a0+abc.nv25.11", ">=2.10", false},
                                         {"2.10.5", "==2.10.*", true},
                                         {"2.1.5", "==2.10.*", false},
                                         {"2.10.5", "!=2.10.*", false},
                                         {"2.3.5", "~=2.2", true},
                                         {"3.0", "~=2.2", false},
                                         {"2.2.7", "~=2.2.3", true},
                                         {"2.3.0", "~=2.2.3", false},
                                         {"0.16.0", ">0.16.0", false},
                                         {"0.14.0+git", ">0.16.0", false},
                                         {"0.17.0", ">0.16.0", true},
                                         {"13.0.2", ">=13,<14", true},
                                         {"1.0", "===1.0", true},
                                         {"1.0.0", "===1.0", false},
                                         {"1.0", "", true},
                                         {"1.0", "(>=0.5,)", true},
                                         {"1!1.0", "<2", false}})
    EXPECT_EQ(version_meets(c.version, c.specifiers), c.meets) << c.version << " " << c.specifiers;
}

TEST(VersionSpecifiers, SayWhatTheyCannotRead) {
  for (const char* const text : {">=", "=>1", "1.0", ">=1.*", "~=1", ">=1;x", "==latest"})
    EXPECT_FALSE(VersionSpecifiers::parse(text).has_value()) << text;
  EXPECT_FALSE(version_meets("nightly", ">=1").has_value());
  std::string many;
  for (int i = 0; i < 200; ++i) many += ">=1,";
  EXPECT_FALSE(VersionSpecifiers::parse(many).has_value());
}

TEST(VersionSpecifiers, KnowAPin) {
  EXPECT_EQ(VersionSpecifiers::parse("==2.9.1")->pinned(), "2.9.1");
  EXPECT_EQ(VersionSpecifiers::parse("==2.9.*")->pinned(), std::nullopt);
  EXPECT_EQ(VersionSpecifiers::parse(">=2.9,==2.9.1")->pinned(), std::nullopt);
  EXPECT_EQ(VersionSpecifiers::parse("")->pinned(), std::nullopt);
}

}  // namespace
}  // namespace sparkops::facts
