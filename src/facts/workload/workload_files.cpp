#include "facts/workload/workload_files.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "facts/workload/command_unwrap.h"

namespace sparkops::facts {

namespace {

/// Folders that hold other people's files.
constexpr std::array<std::string_view, 5> k_skipped_directories = {"node_modules", "__pycache__", "venv", "env",
                                                                   "site-packages"};

FileFormat format_of_name(std::string_view file) {
  const std::string name = to_lower(base_name(file));
  const auto ends = [&name](std::string_view ending) { return name.ends_with(ending); };
  if (ends(".yaml") || ends(".yml")) return FileFormat::yaml;
  if (ends(".json")) return FileFormat::json;
  if (ends(".toml")) return FileFormat::toml;
  if (ends(".env") || name.starts_with(".env")) return FileFormat::environment;
  if (ends(".sh") || ends(".bash") || ends(".conf") || ends(".cfg") || ends(".ini") || ends(".slurm") ||
      ends(".sbatch"))
    return FileFormat::shell;
  return FileFormat::unknown;
}

bool is_source_code(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".ipynb");
}

/// Whether a line is one that only Python has: import x, from x import y, def f(…):, class C:
bool is_python_line(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  if (words.size() < 2) return false;
  const bool names_module = words[1].find_first_of("(/$-'\"=") == std::string_view::npos;
  if (words[0] == "import") return names_module && line.starts_with("import");
  if (words[0] == "from") return words.size() > 3 && words[2] == "import";
  if (words[0] == "def" || words[0] == "class") return trim(line).ends_with(':');
  return false;
}

/// The interpreter of a first line "#!/usr/bin/env -S python3 -u": the first word that is no path of env and no option.
std::string interpreter_of(std::string_view first_line) {
  std::string name;
  for (const std::string_view word : split_words(first_line.substr(2))) {
    if (word.starts_with('-')) continue;
    name = base_name(word);
    if (name != "env") break;
  }
  return name;
}

/// How far a folder below the deepest level is looked through for files that should have been read.
constexpr std::size_t k_max_deep_entries = 2000;

Result<Root> open_directory(const std::string& directory) {
  auto backend = open_directory_root(directory);
  if (!backend) return tl::unexpected(backend.error());
  return Root(std::move(*backend));
}

Result<std::string> without_nul(Result<std::string> text) {
  if (text && text->find('\0') != std::string::npos)
    return failure(ErrorKind::malformed, "it holds NUL bytes, so it is no text file");
  return text;
}

}  // namespace

FileFormat format_of(std::string_view file, std::string_view text) {
  const FileFormat by_name = format_of_name(file);
  if (is_source_code(file)) return by_name;
  constexpr std::size_t k_looked_at = 200;  // bytes
  const std::string_view start = trim(text.substr(0, k_looked_at));
  const std::string interpreter = start.starts_with("#!") ? interpreter_of(start.substr(0, start.find('\n'))) : "";
  // "train.sh" with Python inside is Python.
  if (interpreter.starts_with("python")) return FileFormat::unknown;
  if (by_name != FileFormat::unknown) return by_name;
  if (!interpreter.empty()) return interpreter.ends_with("sh") ? FileFormat::shell : FileFormat::unknown;
  const std::vector<std::string_view> lines = split_lines(text);
  if (std::any_of(lines.begin(), lines.end(), is_python_line)) return FileFormat::unknown;
  if (start.starts_with('{')) return FileFormat::json;
  const std::string_view line = start.substr(0, start.find('\n'));
  if (contains(line, ": ") || line.ends_with(':')) return FileFormat::yaml;
  return FileFormat::shell;
}

Result<WorkloadFiles> WorkloadFiles::open(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  if (error) return failure(ErrorKind::usage, path + ": " + error.message());
  const bool is_directory = fs::is_directory(resolved, error);
  auto root = open_directory(is_directory ? resolved.string() : resolved.parent_path().string());
  if (!root) return failure(ErrorKind::usage, root.error().message);
  WorkloadFiles files(std::move(*root));
  if (!is_directory) {
    files.named_.push_back(resolved.filename().string());
    return files;
  }
  files.collect("", 1);
  if (files.named_.empty()) {
    const std::string more = files.left_out_.empty() ? "" : " (" + files.left_out_.front() + ")";
    return failure(ErrorKind::usage, path + ": no configuration, compose file or launch script in it" + more);
  }
  return files;
}

WorkloadFiles WorkloadFiles::open_lookup(const std::vector<std::string>& command) {
  WorkloadFiles files(std::nullopt);
  const auto note = [&files](std::string_view word) {
    if (format_of_name(word) != FileFormat::unknown) files.paths_.emplace(base_name(word), std::string(word));
  };
  for (const std::string& word : command) {
    note(word);
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      note(std::string_view(word).substr(equals + 1));
  }
  const bool composes = std::any_of(command.begin(), command.end(), [](const std::string& word) {
    return word == "compose" || base_name(word) == "docker-compose";
  });
  if (composes && files.paths_.empty()) {
    std::error_code error;
    for (const char* const name : {"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"})
      if (std::filesystem::exists(name, error)) files.paths_.emplace(name, name);
    if (files.paths_.empty()) files.left_out_.push_back("docker compose: no compose.yaml or docker-compose.yml here");
  }
  return files;
}

std::vector<std::string> WorkloadFiles::lookups() const {
  std::vector<std::string> names;
  for (const auto& [base, path] : paths_) names.push_back(base);
  return names;
}

/// Whether a file of a readable kind lies somewhere in it; true also where that cannot be told.
bool WorkloadFiles::holds_readable(const std::string& directory, std::size_t& budget) const {
  const auto entries = root_->list(directory);
  if (!entries) return true;
  for (const DirectoryEntry& entry : *entries) {
    if (budget == 0) return true;
    --budget;
    if (entry.kind != FileKind::directory) {
      if (format_of_name(entry.name) != FileFormat::unknown) return true;
    } else if (!entry.name.starts_with('.') && holds_readable(directory + "/" + entry.name, budget)) {
      return true;
    }
  }
  return false;
}

void WorkloadFiles::collect(const std::string& directory, int depth) {
  const std::string shown = directory.empty() ? "." : directory;
  const auto entries = root_->list(shown);
  if (!entries) {
    left_out_.push_back(entries.error().message);
    return;
  }
  for (const DirectoryEntry& entry : *entries) {
    const std::string file = directory.empty() ? entry.name : directory + "/" + entry.name;
    if (entry.kind == FileKind::directory) {
      const bool skipped = entry.name.starts_with('.') ||
                           std::find(k_skipped_directories.begin(), k_skipped_directories.end(), entry.name) !=
                               k_skipped_directories.end();
      if (!skipped && depth < k_max_depth) collect(file, depth + 1);
      std::size_t budget = k_max_deep_entries;
      if (!skipped && depth == k_max_depth && holds_readable(file, budget))
        left_out_.push_back(file + ": deeper than " + std::to_string(k_max_depth) + " levels");
      continue;
    }
    if (is_source_code(entry.name) && not_read_.size() < k_max_files)
      not_read_.push_back(file + ": Python is not read, only what launches it");
    if (format_of_name(entry.name) == FileFormat::unknown) continue;
    if (named_.size() == k_max_files) {
      left_out_.push_back(file + ": more than " + std::to_string(k_max_files) +
                          " files, it and what follows are left out");
      return;
    }
    named_.push_back(file);
  }
}

Result<std::string> WorkloadFiles::text(const std::string& file) const {
  if (root_) return without_nul(root_->read(file, k_max_file_size));
  const auto path = paths_.find(base_name(file));
  if (path == paths_.end()) return failure(ErrorKind::not_found, "no such file is named");
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path->second, error);
  if (error) return failure(ErrorKind::not_found, error.message());
  const auto root = open_directory(resolved.parent_path().string());
  if (!root) return tl::unexpected(root.error());
  return without_nul(root->read(resolved.filename().string(), k_max_file_size));
}

std::optional<std::string> WorkloadFiles::find(const std::string& base) const {
  if (!root_) {
    const auto path = paths_.find(base);
    return path == paths_.end() ? std::nullopt : std::optional(path->first);
  }
  const auto match =
      std::find_if(named_.begin(), named_.end(), [&base](const std::string& file) { return base_name(file) == base; });
  if (match != named_.end()) return *match;
  // A single named file: its neighbours may be named by it.
  return root_->exists(base) ? std::optional(base) : std::nullopt;
}

}  // namespace sparkops::facts
