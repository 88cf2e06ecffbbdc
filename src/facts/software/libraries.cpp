#include "facts/software/libraries.h"

#include <algorithm>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// Open files that are kept for their symbols; a process may have 1024 by default.
constexpr std::size_t k_most_open = 256;
constexpr std::size_t k_largest_loader_cache = std::size_t{16} << 20;

}  // namespace

struct Libraries::State {
  explicit State(Root r) : root(std::move(r)) {}

  Root root;
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
  const std::string directory = slash == 0 ? "/" : normal.substr(0, slash);
  const std::string name = normal.substr(slash + 1);
  const auto& entries = state_->list(directory);
  const auto found = std::lower_bound(entries.begin(), entries.end(), name,
                                      [](const DirectoryEntry& entry, const std::string& n) { return entry.name < n; });
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
  const auto known = state_->loader_caches.find(machine);
  if (known != state_->loader_caches.end()) return known->second;
  const auto text = state_->root.read("etc/ld.so.cache", k_largest_loader_cache);
  Known<std::vector<LoaderCacheEntry>> entries = text ? as_read(parse_loader_cache(*text, machine, "/etc/ld.so.cache"))
                                                      : Known<std::vector<LoaderCacheEntry>>(unknown(text.error()));
  return state_->loader_caches.emplace(machine, std::move(entries)).first->second;
}

std::vector<std::string> Libraries::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, library] : state_->libraries)
    if (library) paths.push_back(path);
  std::sort(paths.begin(), paths.end());
  return paths;
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
