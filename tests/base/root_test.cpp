#include "base/root.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../emulation.h"
#include "base/archive.h"

namespace sparkops {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A directory that vanishes with its test.
class TemporaryTree {
 public:
  TemporaryTree() {
    std::string pattern = (fs::temp_directory_path() / "sparkops-root-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    ::chmod(path_.c_str(), 0755);  // as the root of a capture is
  }
  ~TemporaryTree() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void file(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  void link(const std::string& name, const std::string& target) const { fs::create_symlink(target, path_ / name); }
  void socket(const std::string& name) const {
    const FileDescriptor descriptor(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (path_ / name).string().copy(address.sun_path, sizeof address.sun_path - 1);
    // bind takes a sockaddr of any family; that is how the interface is made.
    ASSERT_EQ(::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

 private:
  fs::path path_;
};

/// The same tree as entries of a capture.
std::vector<ArchiveEntry> entries_of(const fs::path& tree) {
  std::vector<ArchiveEntry> entries;
  for (const auto& item : fs::recursive_directory_iterator(tree)) {
    ArchiveEntry entry;
    entry.path = fs::relative(item.path().parent_path(), tree) / item.path().filename();
    if (entry.path.starts_with("./")) entry.path.erase(0, 2);
    struct stat status{};
    ::lstat(item.path().c_str(), &status);
    entry.mode = status.st_mode & 07777U;
    entry.owner = status.st_uid;
    if (item.is_symlink()) {
      entry.kind = ArchiveKind::link;
      entry.target = fs::read_symlink(item.path());
    } else if (item.is_directory()) {
      entry.kind = ArchiveKind::directory;
    } else if (item.is_regular_file()) {
      std::ifstream stream(item.path(), std::ios::binary);
      entry.content.assign(std::istreambuf_iterator<char>(stream), {});
    } else {
      entry.kind = ArchiveKind::other;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string described(const Error& error) {
  return "error: " + std::string(to_string(error.kind));
}
std::string described(const Result<std::string>& result) {
  return result ? *result : described(result.error());
}
std::string described(const Result<FilePart>& result) {
  return result ? result->bytes + (result->complete ? " (all)" : " (part)") : described(result.error());
}
std::string described(const Result<std::vector<DirectoryEntry>>& result) {
  if (!result) return described(result.error());
  std::string text;
  for (const DirectoryEntry& entry : *result)
    text += entry.name + ":" + std::to_string(static_cast<int>(entry.kind)) + " ";
  return text;
}
std::string described(const Result<FileStatus>& result) {
  if (!result) return described(result.error());
  const bool regular = result->kind == FileKind::regular;
  return "kind " + std::to_string(static_cast<int>(result->kind)) + " mode " + std::to_string(result->mode) + " size " +
         std::to_string(regular ? result->size : 0);
}

/// Every answer about one path.
std::vector<std::string> answers(const Root& root, const std::string& path) {
  return {described(root.read(path)),          described(root.read(path, 3)),     described(root.read_start(path, 3)),
          described(root.read_start(path, 6)), described(root.read_end(path, 3)), described(root.read_end(path, 99)),
          described(root.list(path)),          described(root.read_link(path)),   described(root.status(path))};
}

class RootTree : public testing::Test {
 protected:
  RootTree() {
    tree.file("plain", "hello\n");
    tree.file("empty", "");
    tree.file("dir/inner", "inner\n");
    tree.file("name with blank", "blank\n");
    tree.file("new\nline", "newline\n");
    tree.file("etc/hostname", "of the tree\n");
    fs::create_directory(tree.path() / "dir/hollow");
    tree.link("dir/up", "../plain");
    tree.link("absolute", "/plain");
    tree.link("absolute-dir", "/dir");
    tree.link("relative-dir", "dir");
    tree.link("dots", "dir/../dir/./inner");
    tree.link("escape", "../../../../etc/hostname");
    tree.link("escape-absolute", "/../../etc/hostname");
    tree.link("dir/escape", "../../../../../../../../proc/version");
    tree.link("dangling", "nowhere");
    tree.link("slash", "plain/");
    tree.link("loop-a", "loop-b");
    tree.link("loop-b", "loop-a");
    tree.link("self", "self");
    tree.link("into-self", "into-self/x");
    tree.link("chain-0", "plain");
    for (int i = 1; i <= 41; ++i) tree.link("chain-" + std::to_string(i), "chain-" + std::to_string(i - 1));
    ::mkfifo((tree.path() / "fifo").c_str(), 0644);
    tree.socket("socket");
  }

  [[nodiscard]] Root by_openat2() const { return Root(open_directory_root(tree.path()).value()); }
  [[nodiscard]] Root by_walk() const {
    return Root(open_directory_root(tree.path(), PathResolution::component_walk).value());
  }
  [[nodiscard]] Root by_archive() const {
    return Root(parse_archive_root(write_archive(entries_of(tree.path())), "tree.machine").value());
  }

  TemporaryTree tree;
};

TEST_F(RootTree, AllBackendsGiveTheSameAnswers) {
  const std::string too_long_name(300, 'n');
  std::string too_long_path = "dir";
  while (too_long_path.size() < 5000) too_long_path += "/../dir";
  const std::vector<std::string> paths{"",
                                       "/",
                                       "//",
                                       ".",
                                       "..",
                                       "../..",
                                       "../plain",
                                       "plain",
                                       "/plain",
                                       "//plain",
                                       "./plain",
                                       "plain/",
                                       "plain/.",
                                       "plain/..",
                                       "plain/x",
                                       "dir",
                                       "dir/",
                                       "dir/.",
                                       "dir/..",
                                       "dir/../plain",
                                       "nowhere",
                                       "nowhere/../plain",
                                       "nowhere/",
                                       "dir//inner",
                                       "dir/inner",
                                       "dir/hollow",
                                       "dir/up",
                                       "dir/up/",
                                       "dir/up/..",
                                       "absolute",
                                       "absolute/",
                                       "absolute-dir",
                                       "absolute-dir/",
                                       "absolute-dir/inner",
                                       "absolute-dir/../plain",
                                       "absolute-dir/up",
                                       "relative-dir",
                                       "relative-dir/inner",
                                       "relative-dir/..",
                                       "dots",
                                       "escape",
                                       "escape-absolute",
                                       "dir/escape",
                                       "dangling",
                                       "dangling/x",
                                       "slash",
                                       "loop-a",
                                       "loop-a/x",
                                       "self",
                                       "self/..",
                                       "into-self",
                                       "chain-1",
                                       "chain-39",
                                       "chain-40",
                                       "chain-41",
                                       "fifo",
                                       "fifo/",
                                       "fifo/x",
                                       "socket",
                                       "socket/x",
                                       "name with blank",
                                       "new\nline",
                                       "empty",
                                       std::string("plain\0x", 7),
                                       std::string("\0", 1),
                                       too_long_name,
                                       "dir/" + too_long_name,
                                       too_long_path};
  const Root openat2 = by_openat2();
  const Root walk = by_walk();
  const Root archive = by_archive();
  for (const std::string& path : paths) {
    const auto expected = answers(openat2, path);
    EXPECT_EQ(answers(walk, path), expected) << "component walk: " << path.substr(0, 60);
    EXPECT_EQ(answers(archive, path), expected) << "archive: " << path.substr(0, 60);
  }
}

TEST_F(RootTree, FollowsLinksInsideOnly) {
  for (const Root& root : {by_openat2(), by_walk(), by_archive()}) {
    EXPECT_EQ(described(root.read("absolute")), "hello\n");
    EXPECT_EQ(described(root.read("absolute-dir/up")), "hello\n");
    EXPECT_EQ(described(root.read("dots")), "inner\n");
    EXPECT_EQ(described(root.read("escape")), "of the tree\n") << "'..' stops at the root";
    EXPECT_EQ(described(root.read("escape-absolute")), "of the tree\n");
    EXPECT_EQ(described(root.read("dir/escape")), "error: not_found") << "there is no proc in this tree";
    EXPECT_EQ(described(root.read("../../plain")), "hello\n");
    EXPECT_EQ(described(root.read_link("escape")), "../../../../etc/hostname");
    for (const std::string loop : {"loop-a", "self", "into-self", "chain-41"})
      EXPECT_EQ(described(root.read(loop)), "error: outside_root") << loop;
    EXPECT_EQ(described(root.read("chain-39")), "hello\n") << "40 links are followed";
  }
}

TEST_F(RootTree, ReadsRegularFilesOnly) {
  for (const Root& root : {by_openat2(), by_walk(), by_archive()}) {
    for (const std::string path : {"dir", "fifo", "socket", "", "relative-dir"}) {
      EXPECT_EQ(described(root.read(path)), "error: not_a_regular_file") << path;
      EXPECT_EQ(described(root.read_start(path, 5)), "error: not_a_regular_file") << path;
      EXPECT_EQ(described(root.read_end(path, 5)), "error: not_a_regular_file") << path;
    }
    EXPECT_EQ(described(root.list("plain")), "error: not_found");
    EXPECT_EQ(described(root.read_link("plain")), "error: input_output");
    EXPECT_TRUE(root.exists("fifo"));
    EXPECT_FALSE(root.exists("dangling"));
    EXPECT_EQ(root.status("fifo")->kind, FileKind::other);
  }
}

TEST_F(RootTree, ReadsPartsAndObeysTheSizeCap) {
  for (const Root& root : {by_openat2(), by_walk(), by_archive()}) {
    EXPECT_EQ(described(root.read("plain", 6)), "hello\n");
    EXPECT_EQ(described(root.read("plain", 5)), "error: too_large");
    EXPECT_EQ(described(root.read("plain", SIZE_MAX)), "hello\n");
    EXPECT_EQ(described(root.read("empty", 0)), "");
    EXPECT_EQ(described(root.read_start("plain", 2)), "he (part)");
    EXPECT_EQ(described(root.read_start("plain", 0)), " (part)");
    EXPECT_EQ(described(root.read_start("plain", SIZE_MAX)), "hello\n (all)");
    EXPECT_EQ(described(root.read_end("plain", 2)), "o\n (part)");
    EXPECT_EQ(described(root.read_end("plain", 6)), "hello\n (all)");
    EXPECT_EQ(described(root.read_end("plain", SIZE_MAX)), "hello\n (all)");
  }
}

TEST_F(RootTree, MessagesNameThePathAndStayPrintable) {
  EXPECT_THAT(by_openat2().read("nowhere").error().message, EndsWith("/nowhere: does not exist"));
  EXPECT_THAT(by_walk().read("nowhere").error().message, StartsWith(tree.path().string()));
  EXPECT_THAT(by_archive().read("/nowhere").error().message, "tree.machine/nowhere: does not exist");
  for (const Root& root : {by_openat2(), by_walk(), by_archive()}) {
    const std::string message = root.read("no\nwhere\x1b[31m").error().message;
    EXPECT_THAT(message, HasSubstr("no\\x0awhere\\x1b[31m"));
  }
}

TEST_F(RootTree, PermissionDeniedIsToldApartFromAbsence) {
  tree.file("secret/file", "x");
  ::chmod((tree.path() / "secret/file").c_str(), 0);
  tree.file("closed/file", "x");
  ::chmod((tree.path() / "closed").c_str(), 0);
  ::chmod(tree.path().c_str(), 0755);
  const bool privileged = ::geteuid() == 0;
  const Root roots[] = {by_openat2(), by_walk()};
  constexpr uid_t k_nobody = 65534;
  if (privileged && ::seteuid(k_nobody) != 0) GTEST_SKIP() << "root here, and cannot become anybody else";
  for (const Root& root : roots) {
    EXPECT_EQ(described(root.read("secret/file")), "error: permission_denied");
    EXPECT_TRUE(root.exists("secret/file")) << "stat needs no right to read";
    EXPECT_EQ(described(root.read("closed/file")), "error: permission_denied");
    EXPECT_EQ(described(root.list("closed")), "error: permission_denied");
    EXPECT_EQ(described(root.status("closed/file")), "error: permission_denied");
    EXPECT_EQ(described(root.read("secret/nothing")), "error: not_found");
  }
  if (privileged) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ::chmod((tree.path() / "closed").c_str(), 0755);
}

TEST_F(RootTree, AFileOfManyGigabytesCostsNoMoreThanTheCap) {
  tree.file("huge", "start");
  constexpr std::int64_t k_size = (std::int64_t{6} << 30) + 3;
  ASSERT_EQ(::truncate((tree.path() / "huge").c_str(), k_size), 0);
  {
    std::fstream stream(tree.path() / "huge", std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(k_size - 3);
    stream << "end";
  }
  for (const Root& root : {by_openat2(), by_walk()}) {
    EXPECT_EQ(root.status("huge")->size, k_size);
    EXPECT_EQ(described(root.read("huge")), "error: too_large");
    EXPECT_EQ(described(root.read_start("huge", 5)), "start (part)");
    EXPECT_EQ(described(root.read_end("huge", 3)), "end (part)");
  }
}

class LiveRoot : public testing::TestWithParam<PathResolution> {
 protected:
  void SetUp() override { SPARKOPS_NEEDS_THIS_KERNEL(); }
  const Root root{open_directory_root("/", GetParam()).value()};
};

TEST_P(LiveRoot, MagicLinksAreReadAndNeverFollowed) {
  EXPECT_EQ(described(root.read("proc/self/exe")), "error: outside_root");
  EXPECT_EQ(described(root.status("proc/self/exe")), "error: outside_root");
  EXPECT_EQ(described(root.list("proc/self/cwd")), "error: outside_root");
  EXPECT_EQ(described(root.read("proc/self/root/etc/hostname")), "error: outside_root");
  EXPECT_THAT(root.read_link("proc/self/exe").value(), StartsWith("/"));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "proc/self/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(described(root.read(path)), "error: outside_root");
  EXPECT_THAT(root.read_link(path).value(), StartsWith("pipe:["));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(LiveRoot, OrdinaryLinksOfProcAreFollowed) {
  EXPECT_TRUE(root.is_live());
  EXPECT_TRUE(root.read("proc/self/status").has_value());
  EXPECT_TRUE(root.read("proc/mounts").has_value()) << "a link to self/mounts";
}

TEST_P(LiveRoot, TheEndOfAFileWhoseSizeIsHidden) {
  const std::string whole = root.read("proc/filesystems").value();
  ASSERT_GT(whole.size(), 20U);
  EXPECT_EQ(described(root.read_end("proc/filesystems", 10)), whole.substr(whole.size() - 10) + " (part)");
  EXPECT_EQ(described(root.read_end("proc/filesystems", 1 << 20)), whole + " (all)");
}

INSTANTIATE_TEST_SUITE_P(BothResolutions, LiveRoot,
                         testing::Values(PathResolution::automatic, PathResolution::component_walk));

TEST(RootOpen, TellsWhatThePathIsNot) {
  EXPECT_EQ(Root::open("nowhere/at/all").error().kind, ErrorKind::usage);
  TemporaryTree tree;
  ::mkfifo((tree.path() / "fifo").c_str(), 0644);
  EXPECT_EQ(Root::open((tree.path() / "fifo").string()).error().kind, ErrorKind::usage);
  tree.file("text", "MemTotal: 5 kB\n");
  const auto text = Root::open((tree.path() / "text").string());
  EXPECT_EQ(text.error().kind, ErrorKind::malformed);
  EXPECT_THAT(text.error().message, HasSubstr("no capture file"));
  tree.file("proc/meminfo", "MemTotal: 5 kB\n");
  EXPECT_EQ(described(Root::open(tree.path().string())->read("proc/meminfo")), "MemTotal: 5 kB\n");
}

}  // namespace
}  // namespace sparkops
