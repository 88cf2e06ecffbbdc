#include "facts/workload/playbook_clone.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/root.h"
#include "base/text.h"
#include "facts/workload/git_head.h"

namespace sparkops::facts {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_repository = "dgx-spark-playbooks";
constexpr const char* k_playbook_folder = "nvidia";
constexpr int k_deepest = 5;
constexpr int k_deepest_parent = 16;
constexpr std::size_t k_most_files = 2000;
constexpr std::size_t k_largest_file = std::size_t{1} << 20;
constexpr std::size_t k_most_bytes = std::size_t{32} << 20;

/// What instructions are written in; images, notebooks' outputs and lock files are not.
constexpr std::array k_text_endings{".md",  ".yaml", ".yml",  ".sh",  ".py",   ".env",
                                    ".txt", ".toml", ".conf", ".cfg", ".ipynb"};
constexpr std::array k_text_names{"Dockerfile", "compose", ".env"};

bool is_instruction(const std::string& name) {
  const auto ends = [&](const char* ending) { return std::string_view(name).ends_with(ending); };
  const auto begins = [&](const char* start) { return std::string_view(name).starts_with(start); };
  return std::any_of(k_text_endings.begin(), k_text_endings.end(), ends) ||
         std::any_of(k_text_names.begin(), k_text_names.end(), begins);
}

/// Git's configuration or the README of a copy without .git names the repository.
bool is_playbook_repository(const Root& root) {
  if (!root.exists(k_playbook_folder)) return false;
  for (const char* file : {".git/config", "README.md"}) {
    const auto text = root.read(file, k_largest_file);
    if (text && contains(*text, k_repository)) return true;
  }
  const auto pointer = root.read(".git", k_largest_file);  // a worktree's .git is a file
  return pointer && contains(*pointer, k_repository);
}

/// The clone and the path inside it.
struct Place {
  fs::path clone;
  fs::path inside;
};

std::optional<Place> find_place(const std::string& path) {
  std::error_code problem;
  const fs::path start = fs::canonical(path, problem);
  if (problem) return std::nullopt;
  fs::path directory = fs::is_directory(start, problem) ? start : start.parent_path();
  for (int i = 0; i < k_deepest_parent; ++i) {
    const auto backend = open_directory_root(directory.string());
    if (backend && is_playbook_repository(Root(*backend))) return Place{directory, start.lexically_relative(directory)};
    if (!directory.has_relative_path()) break;
    directory = directory.parent_path();
  }
  return std::nullopt;
}

class Collector {
 public:
  Collector(const Root& root, PlaybookClone& clone) : root_(root), clone_(clone) {}

  void collect(const std::string& directory, int depth) {
    const auto entries = root_.list(directory);
    if (!entries) {
      clone_.not_read.push_back(directory + ": " + entries.error().message);
      return;
    }
    for (const auto& entry : *entries) {
      const std::string path = directory + "/" + entry.name;
      if (entry.kind == FileKind::directory && depth < k_deepest) collect(path, depth + 1);
      if (entry.kind == FileKind::regular && is_instruction(entry.name)) read(path);
    }
  }

 private:
  void read(const std::string& path) {
    if (clone_.texts.size() >= k_most_files || bytes_ >= k_most_bytes) {
      if (!full_) clone_.not_read.push_back(path + " and what follows: more text than is looked at");
      full_ = true;
      return;
    }
    auto text = root_.read(path, k_largest_file);
    if (!text) {
      clone_.not_read.push_back(path + ": " + text.error().message);
      return;
    }
    bytes_ += text->size();
    clone_.texts.emplace_back(path, std::move(*text));
  }

  const Root& root_;
  PlaybookClone& clone_;
  std::size_t bytes_ = 0;
  bool full_ = false;
};

/// The playbook that the path lies in ("nvidia/vllm/assets" → "vllm"), or all of them.
std::vector<std::string> playbooks_at(const Root& root, const fs::path& inside) {
  std::vector<std::string> parts;
  for (const auto& part : inside) parts.push_back(part.string());
  if (parts.size() >= 2 && parts[0] == k_playbook_folder) return {parts[1]};
  std::vector<std::string> names;
  const auto entries = root.list(k_playbook_folder);
  if (!entries) return names;
  for (const auto& entry : *entries)
    if (entry.kind == FileKind::directory) names.push_back(entry.name);
  return names;
}

Result<PlaybookClone> read_at(const Place& place) {
  const auto backend = open_directory_root(place.clone.string());
  if (!backend) return tl::unexpected(backend.error());
  const Root root(*backend);
  PlaybookClone clone;
  clone.directory = place.clone.string();
  clone.playbooks = playbooks_at(root, place.inside);
  const GitHead head = read_git_head(clone.directory);
  clone.commit = head.commit;
  clone.commit_time = head.moved_here;
  Collector collector(root, clone);
  for (const auto& playbook : clone.playbooks) collector.collect(std::string(k_playbook_folder) + "/" + playbook, 0);
  return clone;
}

}  // namespace

Result<PlaybookClone> read_playbook_clone(const std::string& directory) {
  const auto place = find_place(directory);
  if (!place)
    return failure(ErrorKind::usage, printable(directory, 200) +
                                         " is no clone of dgx-spark-playbooks and lies in none (its folder, or one of "
                                         "the playbooks under nvidia/, is what is meant)");
  return read_at(*place);
}

Result<PlaybookClone> find_playbook_clone(const std::string& path) {
  const auto place = find_place(path);
  if (!place) return failure(ErrorKind::not_found, printable(path, 200) + " lies in no clone of dgx-spark-playbooks");
  return read_at(*place);
}

}  // namespace sparkops::facts
