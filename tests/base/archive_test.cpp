#include "base/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/root.h"
#include "base/text.h"

namespace sparkops {
namespace {

using testing::HasSubstr;

std::string machine(const std::string& entries) {
  return "sparkops-machine 1\n" + entries + "end\n";
}

Root root_of(const std::string& entries) {
  auto backend = parse_archive_root(machine(entries), "test.machine");
  EXPECT_TRUE(backend.has_value()) << backend.error().message;
  return Root(backend.value());
}

std::string error_of(const std::string& text) {
  const auto backend = parse_archive_root(text, "bad.machine");
  if (backend) return "no error";
  EXPECT_THAT(backend.error().message, HasSubstr("bad.machine"));
  return backend.error().message;
}

ArchiveEntry file(std::string path, std::string content) {
  ArchiveEntry entry;
  entry.path = std::move(path);
  entry.mode = 0444;
  entry.content = std::move(content);
  return entry;
}

TEST(Archive, ReadsFilesLinksAndDirectories) {
  const Root root = root_of(
      "# a comment\n"
      "file 0444 proc/meminfo\n"
      "|MemTotal:  127535224 kB\n"
      "|MemFree:\t5 kB\n"
      "\n"
      "directory 0700 root owner=1000 modified=2026-11-30T09:17:58.059Z\n"
      "link 0777 etc/os-release -> ../usr/lib/os-release\n"
      "file 0644 usr/lib/os-release\n"
      "|NAME=\\\n"
      "|\"A B\"\\\n");
  EXPECT_EQ(root.read("proc/meminfo").value(), "MemTotal:  127535224 kB\nMemFree:\t5 kB\n");
  EXPECT_EQ(root.read("/etc/os-release").value(), "NAME=\"A B\"");
  EXPECT_EQ(root.read_link("etc/os-release").value(), "../usr/lib/os-release");
  EXPECT_EQ(root.status("root")->owner, 1000U);
  EXPECT_EQ(root.status("root")->mode, 0700U);
  EXPECT_EQ(to_rfc3339(root.status("root")->modified), "2026-11-30T09:17:58.059Z");
  EXPECT_EQ(root.status("usr/lib")->kind, FileKind::directory) << "implied by the path of a file";
  EXPECT_FALSE(root.is_live());
}

TEST(Archive, KeepsBytesThatAreNoText) {
  const Root root = root_of("file 0444 proc/1/cmdline\n|python3\\x00\\\n|-m\\x00\\\n|a\\\\b\\xff\\x00\\\n");
  EXPECT_EQ(root.read("proc/1/cmdline").value(), std::string("python3\0-m\0a\\b\xff\0", 16));
}

TEST(Archive, WhatCouldNotBeReadStaysUnknownWithItsReason) {
  const Root root = root_of(
      "file 0400 proc/1/environ unreadable=permission_denied\n|permission denied\n"
      "directory 0500 root unreadable=permission_denied\n|permission denied\n");
  EXPECT_EQ(root.read("proc/1/environ").error().kind, ErrorKind::permission_denied);
  EXPECT_THAT(root.read("proc/1/environ").error().message, HasSubstr("proc/1/environ: permission denied"));
  EXPECT_EQ(root.list("root").error().kind, ErrorKind::permission_denied);
  EXPECT_EQ(root.status("proc/1/environ")->kind, FileKind::regular);
}

TEST(Archive, IsStrictAndNamesTheLine) {
  EXPECT_THAT(error_of(""), HasSubstr("line 1: no capture file"));
  EXPECT_THAT(error_of("MemTotal: 5 kB\n"), HasSubstr("line 1: no capture file"));
  EXPECT_THAT(error_of("sparkops-machine 2\nend\n"), HasSubstr("format '2'"));
  EXPECT_THAT(error_of("sparkops-machine 1\n"), HasSubstr("cut off"));
  EXPECT_THAT(error_of("sparkops-machine 1\nfile 0444 a\n|MemTotal: 12"), HasSubstr("cut off"));
  EXPECT_THAT(error_of(machine("") + "file 0444 a\n"), HasSubstr("text after 'end'"));
  EXPECT_THAT(error_of(machine("|x\n")), HasSubstr("line 2: a content line that follows no file"));
  EXPECT_THAT(error_of(machine("directory 0755 a\n|x\n")), HasSubstr("line 3: a content line"));
  EXPECT_THAT(error_of(machine("file 0444 a\n|x\n\n|y\n")), HasSubstr("line 5: a content line"));
  EXPECT_THAT(error_of(machine("file 0444 a\n|\x01\n")), HasSubstr("line 3: a wrong escape"));
  EXPECT_THAT(error_of(machine("file 0444 a\n|x\r\n")), HasSubstr("line 3: a wrong escape"));
  EXPECT_THAT(error_of(machine("file 0444 a\n|\\q\n")), HasSubstr("line 3: a wrong escape"));
  EXPECT_THAT(error_of(machine("file 0444 a\n|\\xZZ\n")), HasSubstr("line 3: a wrong escape"));
  EXPECT_THAT(error_of(machine("file 0444 a\n|\\x0\n")), HasSubstr("line 3: a wrong escape"));
  EXPECT_THAT(error_of(machine("fiel 0444 a\n")), HasSubstr("'fiel' is no kind of entry"));
  EXPECT_THAT(error_of(machine("file 444 a\n")), HasSubstr("four octal digits"));
  EXPECT_THAT(error_of(machine("file 0448 a\n")), HasSubstr("four octal digits"));
  EXPECT_THAT(error_of(machine("file 0444\n")), HasSubstr("an entry is"));
  EXPECT_THAT(error_of(machine("link 0777 a\n")), HasSubstr("a link is"));
  EXPECT_THAT(error_of(machine("link 0777 a -> \n")), HasSubstr("no usable target"));
  EXPECT_THAT(error_of(machine("file 0444 a colour=red\n")), HasSubstr("'colour=red' is no attribute"));
  EXPECT_THAT(error_of(machine("file 0444 a owner=-1\n")), HasSubstr("no user id"));
  EXPECT_THAT(error_of(machine("file 0444 a modified=yesterday\n")), HasSubstr("RFC 3339"));
  EXPECT_THAT(error_of(machine("file 0444 a unreadable=moon\n")), HasSubstr("no kind of error"));
  EXPECT_THAT(error_of(machine("link 0777 a -> b unreadable=not_found\n")), HasSubstr("only a file or directory"));
  for (const std::string path : {"/a", "a//b", "a/../b", ".", "a/", "a\\x00b", "..", "\\xzz"})
    EXPECT_THAT(error_of(machine("file 0444 " + path + "\n")), HasSubstr("line 2: no usable path")) << path;
  EXPECT_THAT(error_of(machine("file 0444 a\nfile 0444 a\n")), HasSubstr("line 3: a path that stood in an earlier"));
  EXPECT_THAT(error_of(machine("file 0444 a\nfile 0444 a/b\n")), HasSubstr("line 3: a file and a directory"));
  EXPECT_THAT(error_of(machine("file 0444 a/b\nfile 0444 a\n")), HasSubstr("line 3: a file and a directory"));
}

TEST(Archive, ADirectoryMayFollowWhatIsInIt) {
  const Root root = root_of("file 0444 a/b\n|x\ndirectory 0700 a\n");
  EXPECT_EQ(root.status("a")->mode, 0700U);
  EXPECT_EQ(root.read("a/b").value(), "x\n");
}

TEST(Archive, BreaksNulSeparatedListsIntoLines) {
  const std::string text = write_archive({file("proc/7/cmdline", std::string("vllm\0serve\0--port \0", 19))});
  EXPECT_EQ(text, machine("file 0444 proc/7/cmdline\n|vllm\\x00\\\n|serve\\x00\\\n|--port \\x00\\\n"));
}

TEST(Archive, LeavesNoBlankAtTheEndOfALine) {
  const std::string text = write_archive({file("a b", "x \ny\t\n z")});
  EXPECT_EQ(text, machine("file 0444 a\\x20b\n|x\\x20\n|y\\x09\n| z\\\n"));
}

rc::Gen<std::string> any_bytes() {
  // Mostly text, with the bytes that matter to the format well represented.
  return rc::gen::container<std::string>(rc::gen::oneOf(rc::gen::arbitrary<char>(),
                                                        rc::gen::elementOf(std::string("\\|\n\r\t #x00end\0", 15)),
                                                        rc::gen::inRange('a', 'e')));
}

rc::Gen<std::string> any_name() {
  return rc::gen::map(any_bytes(), [](std::string name) {
    std::erase_if(name, [](char c) { return c == '/' || c == '\0'; });
    return name.empty() || name == "." || name == ".." ? std::string("n") : name.substr(0, 200);
  });
}

RC_GTEST_PROP(Archive, WhatIsWrittenReadsBack, ()) {
  std::vector<ArchiveEntry> entries;
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    ArchiveEntry entry;
    entry.kind = *rc::gen::element(ArchiveKind::file, ArchiveKind::directory, ArchiveKind::link,
                                   ArchiveKind::magic_link, ArchiveKind::other);
    entry.path = *any_name() + "/" + *any_name();
    entry.mode = *rc::gen::inRange<std::uint32_t>(0, 010000);
    entry.owner = *rc::gen::arbitrary<std::uint32_t>();
    entry.modified.unix_ms = *rc::gen::inRange<std::int64_t>(0, 4'102'444'800'000);
    if (entry.kind == ArchiveKind::link || entry.kind == ArchiveKind::magic_link) entry.target = *any_name();
    const bool can_hold = entry.kind == ArchiveKind::file || entry.kind == ArchiveKind::directory;
    if (can_hold && *rc::gen::inRange(0, 4) == 0) entry.unreadable = ErrorKind::permission_denied;
    if (entry.kind == ArchiveKind::file || entry.unreadable) entry.content = *any_bytes();
    entries.push_back(std::move(entry));
  }
  const std::string text = write_archive(entries);
  for (const std::string_view line : split(text, '\n'))
    for (std::string_view rest = line; !rest.empty();) {
      const std::size_t length = rest[0] == '\t' ? 1 : printable_length(rest);
      RC_ASSERT(length > 0U);
      rest.remove_prefix(length);
    }
  const auto parsed = parse_archive(text, "round trip");
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ArchiveEntry& want = entries[i];
    const ArchiveEntry& have = (*parsed)[i];
    RC_ASSERT(have.kind == want.kind && have.path == want.path && have.mode == want.mode && have.owner == want.owner);
    RC_ASSERT(have.modified == want.modified && have.target == want.target && have.content == want.content);
    RC_ASSERT(have.unreadable == want.unreadable);
  }
}

RC_GTEST_PROP(Archive, AnyBytesAreAnErrorOrATree, ()) {
  const std::string text = *any_bytes();
  const auto root =
      parse_archive_root(*rc::gen::element(text, machine(text), machine("file 0444 a\n|" + text + "\n")), "random");
  if (root) RC_ASSERT((*root)->list("").has_value());
}

RC_GTEST_PROP(Archive, ATextThatIsCutAnywhereIsRefused, ()) {
  const std::string text = machine("file 0444 proc/meminfo\n|MemTotal: 127535224 kB\n|MemFree: 4 kB\n");
  const auto length = *rc::gen::inRange<std::size_t>(0, text.size() - 1);
  RC_ASSERT(!parse_archive_root(text.substr(0, length), "cut").has_value());
}

TEST(Archive, RefusesAFlood) {
  std::string deep = "file 0444 a";
  for (int i = 0; i < 100; ++i) deep += "/a";
  EXPECT_THAT(error_of(machine(deep + "\n")), HasSubstr("no usable path"));
}

TEST(Archive, EveryFixtureMachineReadsAndWritesBack) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SPARKOPS_FIXTURES "/machines")) {
    if (file.path().extension() != ".machine") continue;
    ++count;
    const std::string name = file.path().string();
    const auto root = Root::open(name);
    ASSERT_TRUE(root.has_value()) << root.error().message;
    EXPECT_TRUE(root->exists("proc/meminfo")) << name;
    EXPECT_TRUE(root->exists("sparkops/capture.json")) << name;
    std::ifstream stream(name);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto entries = parse_archive(text, name);
    ASSERT_TRUE(entries.has_value());
    // The same as the file but for its comment.
    const std::string written = write_archive(*entries);
    const std::size_t comment = text.find('#');
    const std::size_t comment_end = text.find('\n', comment) + 1;
    EXPECT_EQ(written, text.substr(0, comment) + text.substr(comment_end)) << name;
  }
  EXPECT_GE(count, 9);
}

}  // namespace
}  // namespace sparkops
