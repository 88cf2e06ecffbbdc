#include "facts/machine/file_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tree.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Tree;

TEST(Walk, FindsEveryRegularFileOnceAndFollowsNoLink) {
  const Tree tree;
  tree.write("models/b/weights", "w");
  tree.write("models/a", "a");
  tree.link("models/link", "/etc/passwd");
  tree.link("models/loop", ".");
  tree.fifo("models/fifo");
  ASSERT_EQ(::link(tree.path("models/a").c_str(), tree.path("models/second-name").c_str()), 0);
  const auto walked = walk_files({tree.path("models") + "/", tree.path("models/a")});
  ASSERT_TRUE(walked.has_value());
  EXPECT_THAT(walked->files, ElementsAre(tree.path("models/a"), tree.path("models/b/weights")));
  EXPECT_EQ(walked->symlinks, 2);
  EXPECT_EQ(walked->other_file_systems, 0);
  EXPECT_TRUE(walked->all);
}

TEST(Walk, ALinkThatIsNamedItselfIsFollowed) {
  const Tree tree;
  tree.write("blobs/hash", "w");
  tree.link("snapshots/model.safetensors", "../blobs/hash");
  const std::string name = tree.path("snapshots/model.safetensors");
  const auto walked = walk_files({name});
  ASSERT_TRUE(walked.has_value());
  EXPECT_THAT(walked->files, ElementsAre(name));
}

TEST(Walk, WhatIsNotThereOrNoFileIsAnError) {
  const Tree tree;
  tree.fifo("fifo");
  EXPECT_THAT(walk_files({tree.path("missing")}).error().message, HasSubstr("missing"));
  EXPECT_EQ(walk_files({tree.path("fifo")}).error().kind, ErrorKind::not_a_regular_file);
  EXPECT_FALSE(walk_files({""}).has_value());
}

TEST(Walk, GoesNoDeeperThanItsLimitAndSaysSo) {
  const Tree tree;
  std::string path = "d";
  for (int depth = 0; depth < k_deepest_walk + 4; ++depth) path += "/d";
  tree.write(path + "/deep", "x");
  tree.write("d/shallow", "x");
  const auto walked = walk_files({tree.path("d")});
  ASSERT_TRUE(walked.has_value());
  EXPECT_THAT(walked->files, ElementsAre(tree.path("d/shallow")));
  EXPECT_FALSE(walked->all);
}

}  // namespace
}  // namespace sparkops::facts
