#include "facts/workload/playbook_clone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "facts/workload/git_head.h"
#include "machine/tree.h"

namespace sparkops::facts {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const std::string k_commit(40, 'a');
const std::string k_other_commit(40, 'b');

/// A clone as `git clone` leaves it; the layout of .git is git's own (gitrepository-layout(5)).
class PlaybookCloneTest : public ::testing::Test {
 protected:
  PlaybookCloneTest() {
    write(".git/HEAD", "ref: refs/heads/main\n");
    write(".git/refs/heads/main", k_commit + "\n");
    write(".git/config", "[remote \"origin\"]\n\turl = https://example.org/NVIDIA/dgx-spark-playbooks.git\n");
    write(".git/logs/HEAD", std::string(40, '0') + " " + k_commit +
                                " A Person <a@example.org> 1784894400 +0200\tclone: from https://example.org\n");
    write("README.md", "# Playbooks\n");
    write("nvidia/vllm/README.md", "# vLLM\nuse it\n");
    write("nvidia/vllm/assets/launch.sh", "vllm serve\n");
    write("nvidia/vllm/assets/picture.png", "not text");
    write("nvidia/nccl/README.md", "# NCCL\n");
  }

  [[nodiscard]] std::string base() const { return tree_.path("clone"); }
  void write(const std::string& path, const std::string& content) const { tree_.write("clone/" + path, content); }

  sparkops::testing::Tree tree_;
};

TEST_F(PlaybookCloneTest, TheWholeClone) {
  const auto clone = read_playbook_clone(base());
  ASSERT_TRUE(clone) << clone.error().message;
  EXPECT_THAT(clone->playbooks, UnorderedElementsAre("vllm", "nccl"));
  EXPECT_EQ(*clone->commit, k_commit);
  EXPECT_EQ(to_rfc3339(*clone->commit_time), "2026-07-24T12:00:00Z");
  EXPECT_THAT(clone->texts, Contains(Key("nvidia/vllm/README.md")));
  EXPECT_THAT(clone->texts, Contains(Key("nvidia/vllm/assets/launch.sh")));
  EXPECT_THAT(clone->texts, Not(Contains(Key("nvidia/vllm/assets/picture.png"))));
  EXPECT_THAT(clone->not_read, IsEmpty());
}

TEST_F(PlaybookCloneTest, OnePlaybookOrAPlaceInsideIt) {
  for (const char* path : {"/nvidia/vllm", "/nvidia/vllm/", "/nvidia/vllm/assets", "/nvidia/vllm/assets/launch.sh"}) {
    const auto clone = find_playbook_clone(base() + path);
    ASSERT_TRUE(clone) << path << ": " << clone.error().message;
    EXPECT_THAT(clone->playbooks, ElementsAre("vllm")) << path;
    EXPECT_THAT(clone->texts, Not(Contains(Key("nvidia/nccl/README.md"))));
  }
  EXPECT_EQ(read_playbook_clone(base() + "/nvidia")->playbooks.size(), 2U);
}

TEST_F(PlaybookCloneTest, WhatIsNoCloneIsSaid) {
  const auto other = tree_.path("other");
  std::filesystem::create_directories(other + "/nvidia");
  EXPECT_EQ(read_playbook_clone(other).error().kind, ErrorKind::usage);
  EXPECT_THAT(read_playbook_clone(other).error().message, HasSubstr("no clone of dgx-spark-playbooks"));
  EXPECT_EQ(read_playbook_clone("/does/not/exist").error().kind, ErrorKind::usage);
  EXPECT_EQ(find_playbook_clone(other).error().kind, ErrorKind::not_found);
}

TEST_F(PlaybookCloneTest, ACopyWithoutGitHasNoCommitAndSaysWhy) {
  std::filesystem::remove_all(base() + "/.git");
  write("README.md", "copied from NVIDIA/dgx-spark-playbooks\n");
  const auto clone = read_playbook_clone(base());
  ASSERT_TRUE(clone);
  EXPECT_FALSE(clone->commit);
  EXPECT_THAT(clone->commit.reason(), HasSubstr("a copy, not a clone"));
  EXPECT_FALSE(clone->commit_time);
}

TEST_F(PlaybookCloneTest, FilesThatCannotBeReadAreNamed) {
  write("nvidia/vllm/big.md", std::string((1U << 20) + 1, 'x'));
  std::filesystem::create_symlink("/etc/hostname", base() + "/nvidia/vllm/escape.md");
  ASSERT_EQ(mkfifo((base() + "/nvidia/vllm/pipe.md").c_str(), 0600), 0);
  const auto clone = read_playbook_clone(base() + "/nvidia/vllm");
  ASSERT_TRUE(clone);
  EXPECT_THAT(clone->not_read, Contains(HasSubstr("nvidia/vllm/big.md")));
  EXPECT_THAT(clone->texts, Not(Contains(Key("nvidia/vllm/escape.md"))));
  EXPECT_THAT(clone->texts, Not(Contains(Key("nvidia/vllm/pipe.md"))));
}

TEST_F(PlaybookCloneTest, HeadInPackedRefs) {
  std::filesystem::remove(base() + "/.git/refs/heads/main");
  write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted\n" + k_other_commit + " refs/heads/mainly\n" +
                                k_commit + " refs/heads/main\n^" + k_other_commit + "\n");
  EXPECT_EQ(*read_git_head(base()).commit, k_commit);
}

TEST_F(PlaybookCloneTest, DetachedHead) {
  write(".git/HEAD", k_other_commit + "\n");
  const auto head = read_git_head(base());
  EXPECT_EQ(*head.commit, k_other_commit);
  EXPECT_THAT(head.moved_here.reason(), HasSubstr("does not end at this commit"));
}

TEST_F(PlaybookCloneTest, AWorktreeFindsItsRepository) {
  const auto worktree = base() + "/other-tree";
  write("other-tree/.git", "gitdir: ../.git/worktrees/other\n");
  write(".git/worktrees/other/HEAD", "ref: refs/heads/main\n");
  write(".git/worktrees/other/commondir", "../..\n");
  EXPECT_EQ(*read_git_head(worktree).commit, k_commit);
}

TEST_F(PlaybookCloneTest, BrokenGitFilesAreUnknownWithAReason) {
  for (const std::string& content : {std::string(), std::string("garbage\n"), std::string("ref: refs/heads/none\n"),
                                     std::string("\0\xff\0", 3), std::string("ref:"), std::string(39, 'a')}) {
    write(".git/HEAD", content);
    const auto head = read_git_head(base());
    EXPECT_FALSE(head.commit);
    EXPECT_FALSE(head.commit.reason().empty());
    EXPECT_FALSE(head.moved_here.reason().empty());
  }
  write(".git/HEAD", "ref: refs/heads/main\n");
  for (const std::string& log : {std::string(), std::string("x\n"), k_commit + " " + k_commit + "\n",
                                 k_other_commit + " " + k_commit + " A <a> 99999999999999999999 +0000\n",
                                 k_other_commit + " " + k_commit + " A <a> -5 +0000\n"}) {
    write(".git/logs/HEAD", log);
    EXPECT_FALSE(read_git_head(base()).moved_here) << log;
  }
}

}  // namespace
}  // namespace sparkops::facts
