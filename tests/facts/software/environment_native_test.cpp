#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "../machine/tree.h"
#include "base/text.h"
#include "facts/software/environment.h"

namespace sparkops::facts {
namespace {

using testing::Tree;

/// A virtual environment as Python itself makes it, and Python's own answer about it.
TEST(EnvironmentNative, OfARealVenvIsWhatItsPythonSays) {
  const Tree tree;
  const std::string directory = tree.path("env");
  const std::string make = "python3 -m venv --without-pip " + shell_quoted({directory}) + " 2>/dev/null";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "python3 -m venv does not work here";
  const std::string said = tree.path("said");
  const std::string ask = shell_quoted({directory + "/bin/python3"}) +
                          " -c 'import sys, site; print(\"%d.%d.%d\" % sys.version_info[:3]); print(sys.prefix); "
                          "print(site.getsitepackages()[0])' > " +
                          shell_quoted({said});
  ASSERT_EQ(std::system(ask.c_str()), 0);
  const auto answer = tree.root().read("said");
  ASSERT_TRUE(answer.has_value());
  const auto lines = split_lines(*answer);
  ASSERT_EQ(lines.size(), 3U);
  const auto found = read_environment(Root::live(), {.python = "", .directory = directory}, {});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->kind, EnvironmentKind::virtual_environment);
  EXPECT_EQ(*found->python_version, lines[0]);
  EXPECT_EQ(found->prefix, lines[1]);
  ASSERT_FALSE(found->sites.empty());
  EXPECT_EQ(found->sites[0].path, lines[2]);
}

/// The packages of the Python at hand, as its own importlib.metadata lists them.
TEST(EnvironmentNative, HasThePackagesThatPythonItselfLists) {
  const Tree tree;
  const std::string ask =
      "cd / && python3 -c 'import importlib.metadata as m, sys; print(sys.executable); "
      "[print(d.metadata[\"Name\"], d.version) for d in m.distributions()]' > " +
      shell_quoted({tree.path("said")}) + " 2>/dev/null";
  if (std::system(ask.c_str()) != 0) GTEST_SKIP() << "no python3 with importlib.metadata here";
  const auto answer = tree.root().read("said");
  ASSERT_TRUE(answer.has_value());
  const auto lines = split_lines(*answer);
  ASSERT_FALSE(lines.empty());
  const auto found = read_environment(Root::live(), {.python = std::string(lines[0]), .directory = ""},
                                      {{{"HOME", std::getenv("HOME") != nullptr ? std::getenv("HOME") : ""}}, "test"});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto words = split_words(lines[i]);
    if (words.size() != 2) continue;
    const Distribution* const distribution = found->find(normalized_name(words[0]));
    ASSERT_NE(distribution, nullptr) << lines[i];
    EXPECT_EQ(distribution->version.value_or(""), words[1]);
  }
}

}  // namespace
}  // namespace sparkops::facts
