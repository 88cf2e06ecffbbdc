#include "facts/software/libraries.h"

#include <algorithm>

#include "base/text.h"
#include "facts/software/cuda_tool_version.h"
#include "facts/software/libraries_json.h"

namespace sparkops::facts {

namespace {

/// Open files that are kept for their symbols; a process may have 1024 by default.
constexpr std::size_t k_most_open = 256;
constexpr std::size_t k_largest_loader_cache = std::size_t{16} << 20;
constexpr const char* k_capture_file = "sparkops/libraries.json";
constexpr std::size_t k_largest_capture_file = std::size_t{128} << 20;

tl::unexpected<Error> not_captured(const std::string& path) {
  return failure(ErrorKind::not_found, path + ": not in the capture");
}

std::string name_behind_links(const Root& root, std::string path) {
  constexpr int k_most_links = 8;
  for (int i = 0; i < k_most_links; ++i) {
    const auto target = root.read_link(path);
    if (!target) break;
    path = target->starts_with('/') ? *target : path.substr(0, path.rfind('/') + 1) + *target;
  }
  return path.substr(path.rfind('/') + 1);
}

bool is_named_as_library(std::string_view path) {
  return is_library_name(path.substr(path.rfind('/') + 1));
}

/// The shared objects of RECORD. torch lists twelve thousand headers besides: lines without ".so" are passed over
/// before anything is made of them.
Result<std::vector<std::string>> read_listed_libraries(const Root& root, const Distribution& distribution) {
  constexpr std::size_t k_largest_record = std::size_t{64} << 20;
  std::vector<std::string> kept;
  const auto record = root.read(distribution.metadata + "/RECORD", k_largest_record);
  if (record && record->find('"') == std::string::npos) {
    for (std::size_t at = record->find(".so"); at != std::string::npos; at = record->find(".so", at)) {
      const std::size_t start = record->rfind('\n', at) + 1;  // npos + 1 is the start of the text
      const std::size_t end = std::min(record->find('\n', at), record->size());
      const std::string_view line = std::string_view(*record).substr(start, end - start);
      const std::string_view path = trim(line.substr(0, line.find(',')));
      if (is_named_as_library(path))
        kept.push_back(
            normal_path(path.starts_with('/') ? std::string(path) : distribution.site + "/" + std::string(path)));
      at = end;
    }
    return kept;
  }
  return distribution_files(root, distribution).map([&](const std::vector<std::string>& files) {
    for (const std::string& file : files)
      if (is_named_as_library(file)) kept.push_back(normal_path(file));
    return kept;
  });
}

}  // namespace

struct Libraries::State {
  explicit State(Root r) : root(std::move(r)) {
    if (root.is_live() || !root.exists(k_capture_file)) return;
    auto parsed = root.read(k_capture_file, k_largest_capture_file).and_then([](const std::string& text) {
      return libraries_from_json(text);
    });
    if (!parsed) {
      use_none_because(parsed.error());
      return;
    }
    for (auto& [path, entry] : parsed->libraries) {
      put_into_directory(path);
      libraries.emplace(path, Library{path, entry.image});
      undefined.emplace(path, std::move(entry.missing));
      file_names.emplace(path, entry.file_name);
      Result<FatBinary> code = entry.code_unknown.empty() ? Result<FatBinary>(std::move(entry.code))
                                                          : failure(ErrorKind::not_found, entry.code_unknown);
      fat_binaries.emplace(path, std::move(code));
    }
    for (const auto& [path, reason] : parsed->unreadable) {
      put_into_directory(path);
      libraries.emplace(path, failure(ErrorKind::malformed, reason));
    }
    for (const std::string& path : parsed->other_files) put_into_directory(path);
    for (auto& [name, paths] : parsed->distributions) distributions.emplace(name, std::move(paths));
    for (auto& [path, version] : parsed->tool_versions) {
      put_into_directory(path);
      tool_versions.emplace(path, std::move(version));
    }
    captured_cache = parsed->loader_cache_unknown.empty()
                         ? as_read(std::move(parsed->loader_cache))
                         : Known<std::vector<LoaderCacheEntry>>(unknown(parsed->loader_cache_unknown));
    is_captured = true;
  }

  /// A capture whose file cannot be read has no libraries; every question is answered with why.
  void use_none_because(const Error& error) {
    is_captured = true;
    problem = error;
    captured_cache = unknown(error);
  }

  /// The directories that lead to a captured path exist as well.
  void put_into_directory(const std::string& path) {
    const std::string normal = normal_path(path);
    FileKind kind = FileKind::regular;
    for (std::size_t slash = normal.rfind('/'); slash != std::string::npos; slash = normal.rfind('/', slash - 1)) {
      const std::size_t end = normal.find('/', slash + 1);
      const std::string name = normal.substr(slash + 1, end == std::string::npos ? end : end - slash - 1);
      auto& entries = directories[slash == 0 ? "/" : normal.substr(0, slash)];
      const auto place =
          std::lower_bound(entries.begin(), entries.end(), name,
                           [](const DirectoryEntry& entry, const std::string& n) { return entry.name < n; });
      if (place != entries.end() && place->name == name) return;
      entries.insert(place, {name, kind});
      kind = FileKind::directory;
      if (slash == 0) return;
    }
  }

  Root root;
  bool is_captured = false;  ///< what follows is all there is
  std::optional<Error> problem;
  Known<std::vector<LoaderCacheEntry>> captured_cache;
  std::unordered_map<std::string, Result<std::vector<std::string>>> distributions;
  std::unordered_map<std::string, std::string> file_names;
  std::unordered_map<std::string, Result<std::string>> tool_versions;
  std::unordered_map<std::string, Result<Library>> libraries;
  std::unordered_map<std::string, Result<FatBinary>> fat_binaries;
  std::unordered_map<std::string, Result<std::vector<UndefinedSymbol>>> undefined;
  struct Exports {
    std::unique_ptr<ElfSymbols> symbols;
    std::unordered_map<std::string, bool> answers;  // by name and version
  };
  std::unordered_map<std::string, Exports> exports;
  std::size_t open_count = 0;
  std::unordered_map<std::string, std::vector<DirectoryEntry>> directories;
  std::map<ElfMachine, Known<std::vector<LoaderCacheEntry>>> loader_caches;

  const std::vector<DirectoryEntry>& list(const std::string& directory) {
    const auto known = directories.find(directory);
    if (known != directories.end()) return known->second;
    static const std::vector<DirectoryEntry> k_none;
    if (is_captured) return k_none;
    auto entries = root.list(directory);
    return directories.emplace(directory, entries ? std::move(*entries) : std::vector<DirectoryEntry>{}).first->second;
  }

  Result<std::unique_ptr<ElfSymbols>> open_symbols(const Library& library) const {
    auto file = root.open_file(library.path);
    if (!file) return tl::unexpected(file.error());
    return ElfSymbols::open(std::move(*file), library.image);
  }

  void close_all_symbols() {
    for (auto& [path, exports_of_path] : exports) exports_of_path.symbols.reset();
    open_count = 0;
  }
};

Libraries::Libraries(Root root) : state_(std::make_unique<State>(std::move(root))) {}
Libraries::~Libraries() = default;

const Root& Libraries::root() const {
  return state_->root;
}

Result<const Library*> Libraries::at(const std::string& path) {
  const std::string key = normal_path(path);
  auto known = state_->libraries.find(key);
  if (known == state_->libraries.end()) {
    if (state_->problem) return tl::unexpected(*state_->problem);
    if (state_->is_captured) return not_captured(key);
    auto library =
        read_elf_image(state_->root, key).map([&](ElfImage image) { return Library{key, std::move(image)}; });
    known = state_->libraries.emplace(key, std::move(library)).first;
  }
  if (!known->second) return tl::unexpected(known->second.error());
  return &*known->second;
}

Result<const FatBinary*> Libraries::fat_binary(const std::string& path) {
  const auto library = at(path);
  if (!library) return tl::unexpected(library.error());
  const std::string& key = (*library)->path;
  auto known = state_->fat_binaries.find(key);
  if (known == state_->fat_binaries.end()) {
    if (state_->is_captured) return not_captured(key);
    const auto file = state_->root.open_file(key);
    auto code = file ? read_fat_binary(**file, (*library)->image) : Result<FatBinary>(tl::unexpected(file.error()));
    known = state_->fat_binaries.emplace(key, std::move(code)).first;
  }
  if (!known->second) return tl::unexpected(known->second.error());
  return &*known->second;
}

Result<const std::vector<UndefinedSymbol>*> Libraries::undefined(const std::string& path) {
  const auto library = at(path);
  if (!library) return tl::unexpected(library.error());
  const std::string& key = (*library)->path;
  auto known = state_->undefined.find(key);
  if (known == state_->undefined.end()) {
    if (state_->is_captured) return not_captured(key);
    const auto symbols = state_->open_symbols(**library);
    auto names =
        symbols ? (*symbols)->undefined() : Result<std::vector<UndefinedSymbol>>(tl::unexpected(symbols.error()));
    known = state_->undefined.emplace(key, std::move(names)).first;
  }
  if (!known->second) return tl::unexpected(known->second.error());
  return &*known->second;
}

Result<bool> Libraries::exports(const std::string& path, std::string_view symbol, std::string_view version) {
  const auto library = at(path);
  if (!library) return tl::unexpected(library.error());
  // A capture holds only those undefined symbols that nothing defines.
  if (state_->is_captured) return false;
  State::Exports& exports = state_->exports[(*library)->path];
  std::string question(symbol);
  question.append(1, '@').append(version);
  if (const auto known = exports.answers.find(question); known != exports.answers.end()) return known->second;
  if (!exports.symbols) {
    if (state_->open_count >= k_most_open) state_->close_all_symbols();
    auto symbols = state_->open_symbols(**library);
    if (!symbols) return tl::unexpected(symbols.error());
    exports.symbols = std::move(*symbols);
    ++state_->open_count;
  }
  const auto answer = exports.symbols->exports(symbol, version);
  if (answer) exports.answers.emplace(std::move(question), *answer);
  return answer;
}

bool Libraries::exists(const std::string& path) {
  const std::string normal = normal_path(path);
  const std::size_t slash = normal.rfind('/');
  return holds(slash == 0 ? "/" : normal.substr(0, slash), std::string_view(normal).substr(slash + 1));
}

bool Libraries::holds(const std::string& normal_directory, std::string_view name) {
  const auto& entries = state_->list(normal_directory);
  const auto found = std::lower_bound(entries.begin(), entries.end(), name,
                                      [](const DirectoryEntry& entry, std::string_view n) { return entry.name < n; });
  return found != entries.end() && found->name == name && found->kind != FileKind::directory;
}

std::vector<std::string> Libraries::in_directory(const std::string& directory) {
  const std::string normal = normal_path(directory);
  std::vector<std::string> paths;
  for (const DirectoryEntry& entry : state_->list(normal))
    if (entry.kind != FileKind::directory && is_library_name(entry.name)) paths.push_back(normal + "/" + entry.name);
  return paths;
}

std::vector<std::string> Libraries::directories_in(const std::string& directory) {
  const std::string normal = normal_path(directory);
  std::vector<std::string> paths;
  for (const DirectoryEntry& entry : state_->list(normal)) {
    if (entry.kind == FileKind::regular) continue;
    const std::string path = normal + "/" + entry.name;
    const auto status = entry.kind == FileKind::directory
                            ? Result<FileStatus>(FileStatus{FileKind::directory, 0, 0, 0, {}})
                            : state_->root.status(path);
    if (status && status->kind == FileKind::directory) paths.push_back(path);
  }
  return paths;
}

const Known<std::vector<LoaderCacheEntry>>& Libraries::loader_cache(ElfMachine machine) {
  if (state_->is_captured) return state_->captured_cache;
  const auto known = state_->loader_caches.find(machine);
  if (known != state_->loader_caches.end()) return known->second;
  const auto text = state_->root.read("etc/ld.so.cache", k_largest_loader_cache);
  Known<std::vector<LoaderCacheEntry>> entries = text ? as_read(parse_loader_cache(*text, machine, "/etc/ld.so.cache"))
                                                      : Known<std::vector<LoaderCacheEntry>>(unknown(text.error()));
  return state_->loader_caches.emplace(machine, std::move(entries)).first->second;
}

Result<const std::vector<std::string>*> Libraries::of_distribution(const Distribution& distribution) {
  auto known = state_->distributions.find(distribution.metadata);
  if (known == state_->distributions.end()) {
    if (state_->is_captured) return not_captured(distribution.metadata);
    auto paths = read_listed_libraries(state_->root, distribution);
    known = state_->distributions.emplace(distribution.metadata, std::move(paths)).first;
  }
  if (!known->second) return tl::unexpected(known->second.error());
  return &*known->second;
}

std::string Libraries::file_name(const std::string& path) {
  const std::string key = normal_path(path);
  const auto known = state_->file_names.find(key);
  if (known != state_->file_names.end()) return known->second;
  if (state_->is_captured) return key.substr(key.rfind('/') + 1);
  return state_->file_names.emplace(key, name_behind_links(state_->root, key)).first->second;
}

Result<std::string> Libraries::tool_version(const std::string& path) {
  const std::string key = normal_path(path);
  const auto known = state_->tool_versions.find(key);
  if (known != state_->tool_versions.end()) return known->second;
  if (state_->is_captured) return not_captured(key);
  return state_->tool_versions.emplace(key, read_cuda_tool_version(state_->root, key)).first->second;
}

StoredLibraries Libraries::stored_form() const {
  StoredLibraries stored;
  for (const auto& [path, library] : state_->libraries) {
    if (!library) {
      if (library.error().kind != ErrorKind::not_found) stored.unreadable.emplace(path, library.error().message);
      continue;
    }
    StoredLibraries::Entry entry;
    entry.image = library->image;
    const auto name = state_->file_names.find(path);
    entry.file_name = name == state_->file_names.end() ? path.substr(path.rfind('/') + 1) : name->second;
    const auto code = state_->fat_binaries.find(path);
    if (code == state_->fat_binaries.end())
      entry.code_unknown = "not asked for when it was captured";
    else if (!code->second)
      entry.code_unknown = code->second.error().message;
    else
      entry.code = *code->second;
    stored.libraries.emplace(path, std::move(entry));
  }
  for (const auto& [name, paths] : state_->distributions)
    if (paths) stored.distributions.emplace(name, *paths);
  for (const auto& [path, version] : state_->tool_versions) {
    if (version)
      stored.tool_versions.emplace(path, *version);
    else
      stored.other_files.push_back(path);
  }
  // Of the loader's cache what was needed or is of CUDA: the rest names hundreds of packages of no interest.
  stored.loader_cache_unknown = "not asked for when it was captured";
  for (const auto& [machine, cache] : state_->loader_caches) {
    stored.loader_cache_unknown = cache ? "" : cache.reason();
    if (cache)
      for (const LoaderCacheEntry& entry : *cache)
        if (stored.libraries.contains(normal_path(entry.path)) && !entry.is_for_processor_level)
          stored.loader_cache.push_back(entry);
  }
  return stored;
}

bool is_library_name(std::string_view name) {
  const std::size_t at = name.rfind(".so");
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view rest = name.substr(at + 3);
  return rest.empty() || (rest.front() == '.' && rest.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string normal_path(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      kept.push_back(part);
    else if (!kept.empty())
      kept.pop_back();
  }
  std::string normal;
  for (const std::string_view part : kept) normal.append(1, '/').append(part);
  return normal.empty() ? "/" : normal;
}

}  // namespace sparkops::facts
