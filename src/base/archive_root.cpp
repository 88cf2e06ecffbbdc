#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <map>

#include "base/archive.h"
#include "base/root.h"
#include "base/text.h"

namespace sparkops {

namespace {

constexpr std::size_t k_shown_path = 256;       // bytes of a path in a message
constexpr int k_max_symlinks = 40;              // as the kernel's own limit
constexpr std::size_t k_max_nodes = 1'000'000;  // entries and the directories they imply
constexpr std::uint32_t k_implied_directory = 0755;

/// One file or directory; children by name for a directory.
struct Node {
  ArchiveEntry entry;
  bool implied = false;  // a directory that only stands in the paths of others
  std::size_t parent = 0;
  std::map<std::string, std::size_t, std::less<>> children;
};

FileKind kind_of(const ArchiveEntry& entry) {
  switch (entry.kind) {
    case ArchiveKind::file: return FileKind::regular;
    case ArchiveKind::directory: return FileKind::directory;
    case ArchiveKind::link:
    case ArchiveKind::magic_link: return FileKind::symlink;
    case ArchiveKind::other: return FileKind::other;
  }
  return FileKind::other;
}

/// The entries as a tree; node 0 is the root.
class Tree {
 public:
  Tree() { nodes_.push_back(directory_node(0)); }

  /// What is wrong with the entry, or nothing.
  std::optional<std::string> add(ArchiveEntry entry) {
    std::size_t here = 0;
    std::string_view rest = entry.path;
    for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      const auto next = child_directory(here, rest.substr(0, slash));
      if (!next) return "a file and a directory at the same path, or too many entries";
      here = *next;
      rest.remove_prefix(slash + 1);
    }
    const auto found = nodes_[here].children.find(rest);
    if (found == nodes_[here].children.end()) {
      const std::string name(rest);
      return append(here, name, std::move(entry)) ? std::nullopt : std::optional<std::string>("too many entries");
    }
    Node& existing = nodes_[found->second];
    if (!existing.implied) return "a path that stood in an earlier line";
    if (entry.kind != ArchiveKind::directory) return "a file and a directory at the same path";
    existing.entry = std::move(entry);
    existing.implied = false;
    return std::nullopt;
  }

  [[nodiscard]] const Node& node(std::size_t index) const { return nodes_[index]; }

  /// Follows a path as the kernel does with this tree as its root. The error is an errno value.
  [[nodiscard]] tl::expected<std::size_t, int> resolve(std::string_view path, bool follow_last) const;

 private:
  static Node directory_node(std::size_t parent) {
    Node node;
    node.entry.kind = ArchiveKind::directory;
    node.entry.mode = k_implied_directory;
    node.implied = true;
    node.parent = parent;
    return node;
  }

  std::optional<std::size_t> append(std::size_t parent, const std::string& name, ArchiveEntry entry) {
    if (nodes_.size() == k_max_nodes) return std::nullopt;
    Node node;
    node.entry = std::move(entry);
    node.parent = parent;
    nodes_.push_back(std::move(node));
    nodes_[parent].children.emplace(name, nodes_.size() - 1);
    return nodes_.size() - 1;
  }

  std::optional<std::size_t> child_directory(std::size_t parent, std::string_view name) {
    const auto found = nodes_[parent].children.find(name);
    if (found != nodes_[parent].children.end()) {
      if (nodes_[found->second].entry.kind != ArchiveKind::directory) return std::nullopt;
      return found->second;
    }
    const auto index = append(parent, std::string(name), directory_node(parent).entry);
    if (index) nodes_[*index].implied = true;
    return index;
  }

  std::vector<Node> nodes_;
};

/// The components in front of those that wait. A trailing slash leaves a ".", so that it demands a directory.
void push_components_in_front(std::deque<std::string>& pending, std::string_view path) {
  std::vector<std::string> components;
  for (const std::string_view part : split(path, '/'))
    if (!part.empty()) components.emplace_back(part);
  if (path.ends_with('/') && !components.empty()) components.emplace_back(".");
  pending.insert(pending.begin(), components.begin(), components.end());
}

tl::expected<std::size_t, int> Tree::resolve(std::string_view path, bool follow_last) const {
  if (path.find('\0') != std::string_view::npos) return tl::unexpected(ENOENT);
  if (path.size() >= PATH_MAX) return tl::unexpected(ENAMETOOLONG);
  std::deque<std::string> pending;
  push_components_in_front(pending, path);
  std::size_t here = 0;
  int symlinks = 0;
  while (!pending.empty()) {
    if (nodes_[here].entry.kind != ArchiveKind::directory) return tl::unexpected(ENOTDIR);
    const std::string name = std::move(pending.front());
    pending.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      here = nodes_[here].parent;
      continue;
    }
    const auto found = nodes_[here].children.find(name);
    if (found == nodes_[here].children.end()) return tl::unexpected(name.size() > NAME_MAX ? ENAMETOOLONG : ENOENT);
    const ArchiveEntry& entry = nodes_[found->second].entry;
    const bool is_link = entry.kind == ArchiveKind::link || entry.kind == ArchiveKind::magic_link;
    if (!is_link || (pending.empty() && !follow_last)) {
      here = found->second;
      continue;
    }
    if (entry.kind == ArchiveKind::magic_link || ++symlinks > k_max_symlinks) return tl::unexpected(ELOOP);
    if (entry.target.starts_with('/')) here = 0;
    push_components_in_front(pending, entry.target);
  }
  return here;
}

class ArchiveRoot final : public Root::Backend {
 public:
  ArchiveRoot(Tree tree, std::string name) : tree_(std::move(tree)), name_(std::move(name)) {}

  [[nodiscard]] bool is_live() const override { return false; }
  [[nodiscard]] const std::string& name() const override { return name_; }

  [[nodiscard]] Result<std::string> read(std::string_view path, std::size_t size_cap) const override {
    return content_of(path).and_then([&](const std::string* content) -> Result<std::string> {
      if (content->size() <= size_cap) return *content;
      return failure(ErrorKind::too_large,
                     shown(path) + ": larger than the " + std::to_string(size_cap) + " bytes that are read");
    });
  }

  [[nodiscard]] Result<FilePart> read_start(std::string_view path, std::size_t size) const override {
    return content_of(path).map(
        [&](const std::string* content) { return FilePart{content->substr(0, size), content->size() <= size}; });
  }

  [[nodiscard]] Result<FilePart> read_end(std::string_view path, std::size_t size) const override {
    return content_of(path).map([&](const std::string* content) {
      const std::size_t kept = std::min(size, content->size());
      return FilePart{content->substr(content->size() - kept), kept == content->size()};
    });
  }

  [[nodiscard]] Result<std::shared_ptr<const RandomAccessFile>> open_file(std::string_view path) const override {
    return content_of(path).map([&](const std::string* content) { return open_bytes(*content, shown(path)); });
  }

  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(std::string_view path) const override {
    const auto node = find(path, true);
    if (!node) return tl::unexpected(node.error());
    const ArchiveEntry& entry = (*node)->entry;
    if (entry.kind != ArchiveKind::directory) return tl::unexpected(system_error(shown(path), ENOTDIR));
    if (entry.unreadable) return unreadable(path, entry);
    if ((*node)->children.size() > Root::k_max_directory_entries)
      return failure(ErrorKind::too_large, shown(path) + ": more entries than are read");
    std::vector<DirectoryEntry> entries;
    entries.reserve((*node)->children.size());
    for (const auto& [name, index] : (*node)->children) entries.push_back({name, kind_of(tree_.node(index).entry)});
    return entries;
  }

  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    const auto node = find(path, false);
    if (!node) return tl::unexpected(node.error());
    const ArchiveEntry& entry = (*node)->entry;
    if (kind_of(entry) != FileKind::symlink) return failure(ErrorKind::input_output, shown(path) + ": not a symlink");
    return entry.target;
  }

  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override {
    return find(path, true).map([](const Node* node) {
      const ArchiveEntry& entry = node->entry;
      const std::size_t size = entry.unreadable ? 0 : entry.content.size();
      return FileStatus{kind_of(entry), static_cast<std::int64_t>(size), entry.mode, entry.owner, entry.modified};
    });
  }

 private:
  /// The path as messages name it.
  [[nodiscard]] std::string shown(std::string_view path) const {
    while (path.starts_with('/')) path.remove_prefix(1);
    return name_ + "/" + printable(path, k_shown_path);
  }

  [[nodiscard]] tl::unexpected<Error> unreadable(std::string_view path, const ArchiveEntry& entry) const {
    return failure(*entry.unreadable, shown(path) + ": " + printable(trim(entry.content)) + " (when it was captured)");
  }

  [[nodiscard]] Result<const Node*> find(std::string_view path, bool follow_last) const {
    const auto index = tree_.resolve(path, follow_last);
    if (!index) return tl::unexpected(system_error(shown(path), index.error()));
    return &tree_.node(*index);
  }

  [[nodiscard]] Result<const std::string*> content_of(std::string_view path) const {
    const auto node = find(path, true);
    if (!node) return tl::unexpected(node.error());
    const ArchiveEntry& entry = (*node)->entry;
    if (entry.unreadable) return unreadable(path, entry);
    if (entry.kind != ArchiveKind::file)
      return failure(ErrorKind::not_a_regular_file, shown(path) + ": not a regular file");
    return &entry.content;
  }

  Tree tree_;
  std::string name_;
};

}  // namespace

Result<std::shared_ptr<const Root::Backend>> parse_archive_root(std::string text, std::string name) {
  auto entries = parse_archive(text, name);
  if (!entries) return tl::unexpected(entries.error());
  text.clear();
  text.shrink_to_fit();
  Tree tree;
  for (ArchiveEntry& entry : *entries) {
    const std::size_t line = entry.line;
    if (const auto what = tree.add(std::move(entry)))
      return failure(ErrorKind::malformed, name + ": line " + std::to_string(line) + ": " + *what);
  }
  return std::make_shared<const ArchiveRoot>(std::move(tree), std::move(name));
}

}  // namespace sparkops
