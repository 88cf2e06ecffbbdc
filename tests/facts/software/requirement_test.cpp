#include "facts/software/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;

TEST(PackageName, IsNormalisedAsPep503Says) {
  EXPECT_EQ(normalized_name("Unsloth_Zoo"), "unsloth-zoo");
  EXPECT_EQ(normalized_name("ruamel.yaml"), "ruamel-yaml");
  EXPECT_EQ(normalized_name("a-_.b"), "a-b");
}

TEST(Requirement, HasItsParts) {
  const auto plain = parse_requirement("torch>=2.9");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->name, "torch");
  EXPECT_EQ(plain->specifiers, ">=2.9");
  const auto full = parse_requirement("Foo_Bar [cuda, Dev] (>=1.0,<2); python_version < '3.13' and extra == 'x'");
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->name, "foo-bar");
  EXPECT_THAT(full->extras, ElementsAre("cuda", "dev"));
  EXPECT_EQ(full->specifiers, ">=1.0,<2");
  EXPECT_EQ(full->marker, "python_version < '3.13' and extra == 'x'");
  const auto address = parse_requirement("pkg @ https://example.com/a;b.whl ; sys_platform == 'linux'");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->url, "https://example.com/a;b.whl");
  EXPECT_EQ(address->marker, "sys_platform == 'linux'");
}

TEST(Requirement, RefusesWhatIsNone) {
  for (const std::string& text : std::vector<std::string>{"", ">=1", "-e .", "foo[bar", "foo =1", "foo >=x", "fo o",
                                                          std::string(20000, 'a'), std::string("a\0b", 3)})
    EXPECT_FALSE(parse_requirement(text).has_value()) << text.substr(0, 40);
}

struct MarkerCase {
  const char* marker;
  MarkerResult result;
};

TEST(Marker, IsEvaluatedForThisPlatform) {
  const auto spark = marker_environment("aarch64", "3.12.3");
  using enum MarkerResult;
  for (const MarkerCase& c : std::vector<MarkerCase>{
           {"", holds},
           {"python_version >= '3.10'", holds},
           {"python_version < \"3.9\"", does_not_hold},
           {"'3.9' <= python_version", holds},
           {"python_full_version >= '3.12.4'", does_not_hold},
           {"platform_machine == 'x86_64' and platform_system == 'Linux'", does_not_hold},
           {"platform_machine == 'aarch64' or sys_platform == 'win32'", holds},
           {"(os_name == 'nt' or sys_platform == 'linux') and python_version in '3.11 3.12'", holds},
           {"platform_machine not in 'x86_64 AMD64'", holds},
           {"extra == 'test'", does_not_hold},
           {"extra != 'test'", holds},
           {"platform_release >= '6'", unknown},
           {"platform_release >= '6' and sys_platform == 'win32'", does_not_hold},
           {"platform_release >= '6' or sys_platform == 'linux'", holds},
           {"os.name == 'posix'", holds},
           {"python_version", unknown},
           {"python_version >= ", unknown},
           {"python_version >= '3", unknown},
           {"(python_version >= '3'", unknown},
           {"python_version >= '3' garbage", unknown},
           {"python_version not '3'", unknown}})
    EXPECT_EQ(evaluate_marker(c.marker, spark), c.result) << c.marker;
}

TEST(Marker, IsUnknownWhereThePlatformIs) {
  const auto nowhere = marker_environment("", "3.12");
  EXPECT_EQ(evaluate_marker("platform_machine == 'aarch64'", nowhere), MarkerResult::unknown);
  EXPECT_EQ(evaluate_marker("python_full_version > '3.12.1'", nowhere), MarkerResult::unknown);
  EXPECT_EQ(evaluate_marker("python_version == '3.12'", nowhere), MarkerResult::holds);
}

TEST(Marker, NestsToALimit) {
  const auto spark = marker_environment("aarch64", "3.12.3");
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '(') + "os_name == 'posix'" +
           std::string(static_cast<std::size_t>(depth), ')');
  };
  EXPECT_EQ(evaluate_marker(nested(20), spark), MarkerResult::holds);
  EXPECT_EQ(evaluate_marker(nested(4000), spark), MarkerResult::unknown);
}

}  // namespace
}  // namespace sparkops::facts
