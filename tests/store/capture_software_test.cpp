#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "facts/software/software.h"
#include "store/capture.h"

namespace sparkops::store {
namespace {

using testing::HasSubstr;
using testing::Not;

ArchiveEntry file(std::string path, std::string content, std::uint32_t mode = 0644) {
  ArchiveEntry entry;
  entry.path = std::move(path);
  entry.mode = mode;
  entry.content = std::move(content);
  return entry;
}

ArchiveEntry link(std::string path, std::string target) {
  ArchiveEntry entry;
  entry.kind = ArchiveKind::link;
  entry.mode = 0777;
  entry.path = std::move(path);
  entry.target = std::move(target);
  return entry;
}

Root root_of(std::vector<ArchiveEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return Root(parse_archive_root(write_archive(entries), "test.machine").value());
}

std::string with_nuls(std::string text) {
  std::replace(text.begin(), text.end(), '|', '\0');
  return text;
}

/// alice's activated environment.
Root machine() {
  const std::string site = "home/alice/env/lib/python3.12/site-packages";
  return root_of({
      file("etc/passwd", "alice:x:1000:1000::/home/alice:/bin/bash\n"),
      file("proc/self/environ", with_nuls("PATH=/usr/bin|HOME=/home/alice|VIRTUAL_ENV=/home/alice/env|SECRET=x|")),
      file("usr/bin/python3.12",
           "\x7f"
           "ELF",
           0755),
      link("usr/bin/python3", "python3.12"),
      file("home/alice/env/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n"),
      link("home/alice/env/bin/python3", "/usr/bin/python3"),
      file(site + "/torch-2.11.0.dist-info/METADATA",
           "Metadata-Version: 2.1\nName: torch\nVersion: 2.11.0+cu130\nAuthor-email: someone@example.com\n"
           "Requires-Dist: nvidia-cudnn-cu13==9.19.0.56\n\nA long story by someone@example.com\n"),
      file(site + "/torch-2.11.0.dist-info/WHEEL", "Tag: cp312-cp312-manylinux_2_28_aarch64\n"),
      file(site + "/torch/version.py", "__version__ = '2.11.0+cu130'\ncuda = '13.0'\n"),
      file(site + "/mine.pth", "/home/alice/src\n"),
  });
}

TEST(CaptureOfSoftware, GivesTheSameAnswerAndNobodysName) {
  const Root original = machine();
  CaptureOptions options;
  options.duration = Seconds{0};
  const Capture capture = take_capture(original, options);
  const std::string text = write_archive(capture.entries);
  EXPECT_THAT(text, Not(HasSubstr("alice")));
  EXPECT_THAT(text, Not(HasSubstr("someone@example.com")));
  EXPECT_THAT(text, HasSubstr("nvidia-cudnn-cu13==9.19.0.56")) << "a version of four numbers is no address";
  EXPECT_THAT(text, HasSubstr("sparkops/software.json"));

  const Root again = Root(parse_archive_root(text, "again.machine").value());
  const auto before = facts::read_software(original, {});
  const auto after = facts::read_software(again, {});
  ASSERT_TRUE(before && before->environment() != nullptr);
  ASSERT_TRUE(after && after->environment() != nullptr)
      << (after ? after->environments.reason() : after.error().message);
  const facts::PythonEnvironment& first = *before->environment();
  const facts::PythonEnvironment& second = *after->environment();
  EXPECT_EQ(second.found_by, "$VIRTUAL_ENV");
  EXPECT_EQ(*second.python_version, *first.python_version);
  ASSERT_EQ(second.distributions.size(), first.distributions.size());
  EXPECT_EQ(*second.distributions[0].version, "2.11.0+cu130");
  EXPECT_EQ(second.distributions[0].requirements.size(), 1U);
  EXPECT_EQ(*second.distributions[0].wheel_platform, *first.distributions[0].wheel_platform);
  ASSERT_EQ(second.torch.size(), 1U);
  EXPECT_EQ(*second.torch[0].cuda, "13.0");
}

TEST(CaptureOfSoftware, SaysThatThereIsNone) {
  const Root empty = root_of({file("proc/self/environ", with_nuls("PATH=/usr/bin|"))});
  CaptureOptions options;
  options.duration = Seconds{0};
  const Root again = Root(parse_archive_root(write_archive(take_capture(empty, options).entries), "again").value());
  const auto software = facts::read_software(again, {});
  ASSERT_TRUE(software && software->environments.known());
  EXPECT_EQ(software->environment(), nullptr);
}

TEST(CaptureOfSoftware, OfAnOlderCaptureIsUnknown) {
  const Root old = root_of({file("sparkops/capture.json", "{}")});
  const auto software = facts::read_software(old, {});
  ASSERT_TRUE(software.has_value());
  EXPECT_FALSE(software->environments.known());
}

}  // namespace
}  // namespace sparkops::store
