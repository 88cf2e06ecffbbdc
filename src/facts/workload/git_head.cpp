#include "facts/workload/git_head.h"

#include <algorithm>
#include <optional>

#include "base/root.h"
#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_sha1_digits = 40;
constexpr std::size_t k_sha256_digits = 64;
constexpr std::size_t k_reflog_tail = 8192;  // the last line is what matters; names in it are short
constexpr std::size_t k_packed_refs_cap = std::size_t{16} << 20;
constexpr std::int64_t k_milliseconds = 1000;

bool is_object_name(std::string_view text) {
  return (text.size() == k_sha1_digits || text.size() == k_sha256_digits) &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The folder of the repository's own files. In a worktree, refs that are shared lie in the `common` one.
struct GitDirectory {
  Root own;
  Root common;
};

Result<Root> open_folder(const std::string& path) {
  auto backend = open_directory_root(path);
  if (!backend) return tl::unexpected(backend.error());
  return Root(*backend);
}

/// `path` as written in a file that lies in `base`.
std::string resolve(const std::string& base, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : base + "/" + std::string(path);
}

Result<GitDirectory> open_git_directory(const std::string& work_tree) {
  const auto tree = open_folder(work_tree);
  if (!tree) return tl::unexpected(tree.error());
  const auto status = tree->status(".git");
  if (!status) return failure(ErrorKind::not_found, work_tree + " has no .git: it is a copy, not a clone");
  std::string path = work_tree + "/.git";
  if (status->kind != FileKind::directory) {
    constexpr std::string_view k_pointer = "gitdir:";
    const auto pointer = tree->read(".git", k_reflog_tail);
    if (!pointer) return tl::unexpected(pointer.error());
    if (!std::string_view(*pointer).starts_with(k_pointer))
      return failure(ErrorKind::malformed, path + " names no git directory");
    path = resolve(work_tree, trim(std::string_view(*pointer).substr(k_pointer.size())));
  }
  auto own = open_folder(path);
  if (!own) return tl::unexpected(own.error());
  const auto common_path = own->read("commondir", k_reflog_tail);
  auto common = common_path ? open_folder(resolve(path, trim(*common_path))) : own;
  if (!common) return tl::unexpected(common.error());
  return GitDirectory{*own, *common};
}

std::optional<std::string> find_packed(const Root& common, std::string_view name) {
  const auto packed = common.read("packed-refs", k_packed_refs_cap);
  if (!packed) return std::nullopt;
  for (const auto line : split_lines(*packed)) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos || line.substr(blank + 1) != name) continue;
    if (const auto object = line.substr(0, blank); is_object_name(object)) return std::string(object);
  }
  return std::nullopt;
}

Known<std::string> commit_of_head(const GitDirectory& git) {
  const auto head = git.own.read("HEAD", k_reflog_tail);
  if (!head) return unknown(head.error());
  constexpr std::string_view k_reference = "ref:";
  const auto text = trim(*head);
  if (is_object_name(text)) return as_read(std::string(text));
  if (!text.starts_with(k_reference)) return unknown(".git/HEAD is neither a commit nor a reference");
  const std::string name(trim(text.substr(k_reference.size())));
  for (const Root* root : {&git.own, &git.common}) {
    const auto loose = root->read(name, k_reflog_tail);
    if (loose && is_object_name(trim(*loose))) return as_read(std::string(trim(*loose)));
  }
  if (auto packed = find_packed(git.common, name)) return as_read(std::move(*packed));
  return unknown(".git has no commit for " + printable(name, 200) +
                 (git.common.exists("reftable") ? " in a form that is read (it uses reftable)" : ""));
}

/// "<old> <new> Name <mail> 1753351234 +0200\tclone: from …" of the newest entry, if it is about `commit`.
Known<Timestamp> time_in_reflog(const Root& own, const std::string& commit) {
  const auto log = own.read_end("logs/HEAD", k_reflog_tail);
  if (!log) return unknown("no reflog tells when: " + log.error().message);
  const auto lines = split_lines(log->bytes);
  if (lines.empty()) return unknown("the reflog is empty");
  const auto line = lines.back().substr(0, lines.back().find('\t'));
  const auto words = split_words(line);
  constexpr std::size_t k_fewest_words = 4;  // old, new, time, zone; the name in between may be empty
  if (words.size() < k_fewest_words || words[1] != commit) return unknown("the reflog does not end at this commit");
  const auto seconds = parse_integer(words[words.size() - 2]);
  if (!seconds || *seconds < 0 || *seconds > INT64_MAX / k_milliseconds)
    return unknown("the reflog has no time that can be read");
  return as_read(Timestamp{*seconds * k_milliseconds});
}

}  // namespace

GitHead read_git_head(const std::string& work_tree) {
  const auto git = open_git_directory(work_tree);
  if (!git) return {unknown(git.error()), unknown(git.error())};
  GitHead head;
  head.commit = commit_of_head(*git);
  head.moved_here = head.commit ? time_in_reflog(git->own, *head.commit) : unknown(head.commit.reason());
  return head;
}

}  // namespace sparkops::facts
