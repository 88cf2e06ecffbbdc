#include "facts/software/loader_resolution.h"

#include <algorithm>
#include <array>
#include <deque>

#include "base/text.h"
#include "facts/software/loader_paths.h"

namespace sparkops::facts {

namespace {

/// A library that needs more than this in all is no library.
constexpr std::size_t k_largest_closure = 4096;

/// "libcudart.so" of "libcudart.so.12".
std::string_view without_version(std::string_view soname) {
  const std::size_t at = soname.find(".so.");
  return at == std::string_view::npos ? soname : soname.substr(0, at + 3);
}

/// The interpreter's own names, which extensions use without needing a library for them.
bool is_of_interpreter(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  return name.starts_with("Py") && name.size() > 2;
}

}  // namespace

/// The libraries that come along with one, in the order of loading.
struct LoaderResolver::Closure {
  std::vector<ResolvedNeed> needs;
  std::vector<std::string> paths;                ///< of what was found, the library itself first
  std::map<std::string, std::string> by_soname;  ///< of what was found
};

bool LibraryResolution::complete() const {
  return !wrong_machine && std::all_of(needs.begin(), needs.end(),
                                       [](const ResolvedNeed& need) { return need.status == NeedStatus::found; });
}

LoaderResolver::LoaderResolver(Libraries& libraries, LoaderContext context)
    : libraries_(libraries), context_(std::move(context)) {
  if (context_.program.empty()) return;
  const auto program = libraries_.at(context_.program);
  if (!program) return;
  if ((*program)->image.machine != ElfMachine::none) context_.machine = (*program)->image.machine;
  program_rpath_ = rpath_directories(**program);
  load(context_.program, Scope::global);
}

void LoaderResolver::load(const std::string& path, Scope scope) {
  const auto library = libraries_.at(path);
  if (!library || (*library)->image.machine != context_.machine) return;
  const Closure closure = closure_of(**library);
  for (const auto& [soname, at] : closure.by_soname) context_.loaded.try_emplace(soname, at);
  const std::string& own = (*library)->image.soname;
  if (!own.empty()) context_.loaded.try_emplace(own, (*library)->path);
  if (scope == Scope::local) return;
  for (const std::string& at : closure.paths)
    if (std::find(context_.global.begin(), context_.global.end(), at) == context_.global.end())
      context_.global.push_back(at);
}

void LoaderResolver::load_as_torch_does(const std::string& site_packages) {
  // torch/__init__.py first loads libtorch_global_deps.so for everyone to see; where that fails because a CUDA library
  // is not found, it loads those of the nvidia wheels one by one and tries again.
  const std::string torch_libraries = site_packages + "/torch/lib";
  std::vector<std::string> own;
  for (const char* const name : {"libtorch_global_deps.so", "libc10.so", "libc10_cuda.so", "libtorch_cpu.so",
                                 "libtorch_cuda.so", "libtorch.so", "libtorch_python.so"})
    if (libraries_.exists(torch_libraries + "/" + name)) own.push_back(torch_libraries + "/" + name);
  bool is_complete = true;
  for (const std::string& path : own) {
    const auto resolution = resolve(path, SymbolCheck::skip);
    is_complete = is_complete && resolution && (*resolution)->complete();
  }
  resolutions_.clear();
  if (!is_complete)
    for (const std::string& component : libraries_.directories_in(site_packages + "/nvidia"))
      for (const std::string& path : libraries_.in_directory(component + "/lib")) load(path, Scope::global);
  for (const std::string& path : own)
    load(path, path.ends_with("/libtorch_global_deps.so") ? Scope::global : Scope::local);
}

std::string LoaderResolver::find_by_soname(const std::string& soname) {
  const Candidate found = locate(soname, Library{}, {});
  return found.status == NeedStatus::found ? found.path : "";
}

const std::map<std::string, std::string>& LoaderResolver::cache_by_soname() {
  if (cache_) return *cache_;
  cache_.emplace();
  const auto& entries = libraries_.loader_cache(context_.machine);
  if (!entries) return *cache_;
  // Variants for better processors stand first; which one is taken makes no difference here.
  for (const LoaderCacheEntry& entry : *entries)
    if (!entry.is_for_processor_level) cache_->try_emplace(entry.soname, entry.path);
  for (const LoaderCacheEntry& entry : *entries) cache_->try_emplace(entry.soname, entry.path);
  return *cache_;
}

/// True when the search ends here; else what speaks against the file is kept for the message.
bool LoaderResolver::try_file(const std::string& path, Candidate& best) {
  if (!libraries_.exists(path)) return false;
  const auto library = libraries_.at(path);
  if (library && (*library)->image.machine == context_.machine && (*library)->image.bits == 64) {
    best = {NeedStatus::found, (*library)->path, ""};
    return true;
  }
  if (best.status == NeedStatus::not_found) {
    if (library)
      best = {NeedStatus::wrong_machine, (*library)->path, to_string((*library)->image.machine)};
    else
      best = {NeedStatus::unreadable, path, library.error().message};
  }
  return false;
}

bool LoaderResolver::try_directories(const std::vector<std::string>& directories, const std::string& soname,
                                     Candidate& best) {
  return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
    return libraries_.holds(directory, soname) && try_file(directory + "/" + soname, best);
  });
}

const std::vector<std::string>& LoaderResolver::runpath_of(const Library& library) {
  const auto known = runpaths_.find(library.path);
  if (known != runpaths_.end()) return known->second;
  return runpaths_.emplace(library.path, runpath_directories(library)).first->second;
}

LoaderResolver::Candidate LoaderResolver::locate(const std::string& soname, const Library& by,
                                                 const std::vector<std::string>& rpaths) {
  Candidate best;
  if (soname.find('/') != std::string::npos) {
    try_file(expand_loader_path(soname, by.path, context_.machine), best);
    return best;
  }
  if (const auto loaded = context_.loaded.find(soname); loaded != context_.loaded.end())
    return {NeedStatus::found, loaded->second, ""};
  if (!by.image.runpath && try_directories(rpaths, soname, best)) return best;
  if (try_directories(context_.library_path, soname, best)) return best;
  if (by.image.runpath && try_directories(runpath_of(by), soname, best)) return best;
  const auto& cache = cache_by_soname();
  if (const auto cached = cache.find(soname); cached != cache.end() && try_file(cached->second, best)) return best;
  try_directories(default_directories(context_.machine), soname, best);
  return best;
}

void LoaderResolver::note_other_version(ResolvedNeed& need) {
  const std::string_view base = without_version(need.soname);
  if (base.size() == need.soname.size()) return;
  const std::string prefix = std::string(base) + ".";
  const std::array<const std::map<std::string, std::string>*, 2> places{&context_.loaded, &cache_by_soname()};
  for (const auto* const known : places) {
    for (auto found = known->lower_bound(prefix); found != known->end() && found->first.starts_with(prefix); ++found) {
      if (found->first == need.soname) continue;
      need.other_version = found->first;
      need.other_version_at = found->second;
    }
    if (!need.other_version.empty()) return;
  }
}

LoaderResolver::Closure LoaderResolver::closure_of(const Library& library) {
  struct Pending {
    const Library* library;
    std::vector<std::string> rpaths;  // its own and those of what loads it
  };
  Closure closure;
  closure.paths.push_back(library.path);
  const auto with_own = [](const Library& of, const std::vector<std::string>& inherited) {
    std::vector<std::string> rpaths = rpath_directories(of);
    rpaths.insert(rpaths.end(), inherited.begin(), inherited.end());
    return rpaths;
  };
  std::deque<Pending> pending{{&library, with_own(library, program_rpath_)}};
  while (!pending.empty()) {
    const Pending current = std::move(pending.front());
    pending.pop_front();
    for (const std::string& soname : current.library->image.needed) {
      if (soname == library.image.soname || closure.by_soname.contains(soname)) continue;
      const bool was_missed = std::any_of(closure.needs.begin(), closure.needs.end(),
                                          [&](const ResolvedNeed& need) { return need.soname == soname; });
      if (was_missed || closure.needs.size() >= k_largest_closure) continue;
      Candidate found = locate(soname, *current.library, current.rpaths);
      ResolvedNeed need{soname, current.library->path, found.status, found.path, found.reason, "", ""};
      if (found.status == NeedStatus::not_found) note_other_version(need);
      closure.needs.push_back(std::move(need));
      if (found.status != NeedStatus::found) continue;
      closure.by_soname.emplace(soname, found.path);
      const auto next = libraries_.at(found.path);
      if (!next || std::find(closure.paths.begin(), closure.paths.end(), (*next)->path) != closure.paths.end())
        continue;
      closure.paths.push_back((*next)->path);
      pending.push_back({*next, with_own(**next, current.rpaths)});
    }
  }
  return closure;
}

void LoaderResolver::check_versions(const Closure& closure, LibraryResolution& resolution) {
  for (const std::string& path : closure.paths) {
    const auto library = libraries_.at(path);
    if (!library) continue;
    for (const ElfVersion& need : (*library)->image.needed_versions) {
      const auto provider = closure.by_soname.find(need.library);
      if (provider == closure.by_soname.end()) continue;
      const auto other = libraries_.at(provider->second);
      // A library without any version only makes the loader remark on it.
      if (!other || (*other)->image.defined_versions.empty()) continue;
      const auto& defined = (*other)->image.defined_versions;
      const bool is_defined = std::any_of(defined.begin(), defined.end(),
                                          [&](const ElfVersion& version) { return version.version == need.version; });
      if (!is_defined) resolution.missing_versions.push_back({path, provider->second, need.version});
    }
  }
}

bool LoaderResolver::defines(const std::string& path, const UndefinedSymbol& symbol, bool& certain) {
  const auto answer = libraries_.exports(path, symbol.name, symbol.version);
  if (!answer) certain = false;
  return answer && *answer;
}

void LoaderResolver::check_symbols(const Closure& closure, LibraryResolution& resolution) {
  const auto symbols = libraries_.undefined(resolution.path);
  if (!symbols) {
    resolution.symbols_certain = false;
    return;
  }
  bool certain = resolution.complete();
  for (const UndefinedSymbol& symbol : **symbols) {
    if (symbol.weak || is_of_interpreter(symbol.name)) continue;
    const auto versioned = closure.by_soname.find(symbol.library);
    if (versioned != closure.by_soname.end() && defines(versioned->second, symbol, certain)) continue;
    const auto defined_by = [&](const std::string& path) {
      return path != resolution.path && defines(path, symbol, certain);
    };
    if (std::any_of(closure.paths.begin(), closure.paths.end(), defined_by)) continue;
    if (std::any_of(context_.global.begin(), context_.global.end(), defined_by)) continue;
    resolution.undefined.push_back(symbol);
  }
  resolution.symbols_certain = certain;
}

Result<const LibraryResolution*> LoaderResolver::resolve(const std::string& path, SymbolCheck symbols) {
  const auto library = libraries_.at(path);
  if (!library) return tl::unexpected(library.error());
  auto& known = symbols == SymbolCheck::check ? resolutions_with_symbols_ : resolutions_;
  const auto found = known.find((*library)->path);
  if (found != known.end()) return &found->second;
  LibraryResolution resolution;
  resolution.path = (*library)->path;
  resolution.wrong_machine = (*library)->image.machine != context_.machine || (*library)->image.bits != 64;
  if (!resolution.wrong_machine) {
    Closure closure = closure_of(**library);
    resolution.needs = closure.needs;
    check_versions(closure, resolution);
    if (symbols == SymbolCheck::check) check_symbols(closure, resolution);
  }
  return &known.emplace(resolution.path, std::move(resolution)).first->second;
}

}  // namespace sparkops::facts
