#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "facts/machine/file_mappings.h"
#include "facts/machine/memory.h"

namespace sparkops::facts {

namespace {

constexpr Bytes k_smallest_candidate = mebibytes(256);
constexpr Bytes k_smallest_thorough_candidate = mebibytes(16);
constexpr std::size_t k_most_files_looked_at = 2000;
/// Each costs three system calls, and all readers together have 15 ms.
constexpr std::size_t k_most_links_looked_at = 1000;
constexpr int k_deepest_directory = 8;
/// "checkpoints/step-1000/model.safetensors" below a working directory.
constexpr int k_deepest_checkpoint = 2;
constexpr std::size_t k_most_working_directories = 8;
/// Root may read the mappings of every process, and a table of them takes the kernel as long as ten other files.
constexpr std::size_t k_most_maps_read = 256;
constexpr std::size_t k_maps_cap = std::size_t{4} << 20;

std::string environment_value(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Where model files of this user lie, as absolute paths.
std::vector<std::string> model_directories() {
  const std::string home = environment_value("HOME");
  std::string cache = environment_value("XDG_CACHE_HOME");
  if (cache.empty() && !home.empty()) cache = home + "/.cache";
  std::string hub = environment_value("HF_HUB_CACHE");
  const std::string hugging_face = environment_value("HF_HOME");
  if (hub.empty() && !hugging_face.empty()) hub = hugging_face + "/hub";
  if (hub.empty() && !cache.empty()) hub = cache + "/huggingface/hub";

  std::vector<std::string> directories;
  if (!hub.empty()) directories.push_back(hub);
  if (!cache.empty()) directories.push_back(cache + "/vllm");
  if (const std::string models = environment_value("OLLAMA_MODELS"); !models.empty()) directories.push_back(models);
  if (!home.empty()) directories.push_back(home + "/.ollama/models");
  directories.emplace_back("/usr/share/ollama/.ollama/models");  // where its installer puts the service's models
  return directories;
}

/// Collects large files below directories, within one budget of files looked at.
class Collector {
 public:
  Collector(const Root& root, Bytes smallest) : root_(root), smallest_(smallest) {}

  void walk(const std::string& directory, int deepest, int depth = 0) {
    if (depth > deepest || looked_at_ >= k_most_files_looked_at) return;
    const auto entries = root_.list(directory);
    if (!entries) return;
    for (const DirectoryEntry& entry : *entries) {
      const std::string path = directory + "/" + entry.name;
      if (entry.kind == FileKind::directory) walk(path, deepest, depth + 1);
      if (entry.kind == FileKind::regular) look_at(path);
      if (entry.kind == FileKind::symlink) remember_name(path);
      if (looked_at_ >= k_most_files_looked_at) return;
    }
  }

  void look_at(const std::string& path) {
    ++looked_at_;
    const auto status = root_.status(path);
    if (!status || status->kind != FileKind::regular || status->size < smallest_.value) return;
    sizes_[path] = status->size;
  }

  /// Largest first.
  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::pair<std::int64_t, std::string>> by_size;
    std::set<std::string> taken;
    for (const auto& [path, size] : sizes_) {
      std::string name = telling_name(path);
      if (taken.insert(name).second) by_size.emplace_back(size, std::move(name));
    }
    std::sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::string> result;
    result.reserve(by_size.size());
    for (auto& [size, path] : by_size) result.push_back(std::move(path));
    return result;
  }

 private:
  /// The Hugging Face cache keeps content under blobs/<hash> and gives it a name by a link below snapshots/.
  void remember_name(const std::string& link) {
    ++looked_at_;
    const auto target = root_.read_link(link);
    if (!target || !contains(*target, "/blobs/")) return;
    names_.emplace(target->substr(target->rfind('/') + 1), link);
  }

  [[nodiscard]] std::string telling_name(const std::string& path) const {
    if (!contains(path, "/blobs/")) return path;
    const auto found = names_.find(path.substr(path.rfind('/') + 1));
    return found == names_.end() ? path : found->second;
  }

  const Root& root_;
  Bytes smallest_;
  std::size_t looked_at_ = 0;
  std::map<std::string, std::int64_t, std::less<>> sizes_;
  std::map<std::string, std::string, std::less<>> names_;  ///< hash of a blob → a link to it
};

/// The running processes, newest first: jobs come after the daemons of the system.
std::vector<std::int64_t> newest_processes(const Root& root) {
  std::vector<std::int64_t> processes;
  for (const DirectoryEntry& entry : root.list("proc").value_or(std::vector<DirectoryEntry>{}))
    if (const auto process = parse_integer(entry.name); process && *process > 0) processes.push_back(*process);
  std::sort(processes.begin(), processes.end(), std::greater<>());
  return processes;
}

/// Files that processes of this user (or, for root, of anyone) hold open.
void look_at_open_files(const Root& root, Collector& collector) {
  std::size_t links = 0;
  for (const std::int64_t process : newest_processes(root)) {
    const std::string directory = "proc/" + std::to_string(process) + "/fd";
    const auto descriptors = root.list(directory);
    if (!descriptors) continue;
    for (const DirectoryEntry& descriptor : *descriptors) {
      if (++links > k_most_links_looked_at) return;
      const auto target = root.read_link(directory + "/" + descriptor.name);
      // Devices, pipes and files in memory are no page cache of a file.
      if (!target || !target->starts_with('/') || target->starts_with("/dev/") || target->starts_with("/memfd:"))
        continue;
      collector.look_at(*target);
    }
  }
}

/// Files that these processes have mapped, and what lies where python runs: trainers write their checkpoints there.
void look_at_mapped_files_and_checkpoints(const Root& root, Collector& collector) {
  std::set<std::string> mapped, working_directories;
  std::size_t maps_read = 0;
  for (const std::int64_t process : newest_processes(root)) {
    const std::string directory = "proc/" + std::to_string(process);
    if (maps_read == k_most_maps_read) break;
    const auto maps = root.read(directory + "/maps", k_maps_cap);
    if (!maps || maps->empty()) continue;
    ++maps_read;
    for (const MappedRegion& region : parse_mappings(*maps))
      if (region.path.starts_with('/') && !region.path.starts_with("/dev/") && !region.path.starts_with("/memfd:"))
        mapped.insert(region.path);
    const auto name = root.read(directory + "/comm");
    const auto working_directory = root.read_link(directory + "/cwd");
    if (name && name->starts_with("python") && working_directory && *working_directory != "/" &&
        working_directories.size() < k_most_working_directories)
      working_directories.insert(*working_directory);
  }
  for (const std::string& path : mapped) collector.look_at(path);
  for (const std::string& directory : working_directories) collector.walk(directory, k_deepest_checkpoint);
}

}  // namespace

std::vector<std::string> likely_cached_files(const Root& root, LikelyFiles look) {
  const bool thorough = look == LikelyFiles::thorough;
  Collector collector(root, thorough ? k_smallest_thorough_candidate : k_smallest_candidate);
  for (const std::string& directory : model_directories()) collector.walk(directory, k_deepest_directory);
  look_at_open_files(root, collector);
  if (thorough) look_at_mapped_files_and_checkpoints(root, collector);
  return collector.paths();
}

}  // namespace sparkops::facts
