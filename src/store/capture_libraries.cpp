#include "store/capture_libraries.h"

#include "facts/software/libraries_json.h"
#include "facts/software/native_code.h"
#include "facts/software/software.h"

namespace sparkops::store {

namespace {

/// Names of people in paths are replaced; names of symbols, sonames and sections are of no person.
facts::StoredLibraries redacted(facts::StoredLibraries stored, Redactor& redactor) {
  facts::StoredLibraries out = std::move(stored);
  const auto keys = [&](auto& map) {
    std::remove_reference_t<decltype(map)> renamed;
    for (auto& [path, value] : map) renamed.emplace(redactor.path(path), std::move(value));
    map = std::move(renamed);
  };
  keys(out.libraries);
  keys(out.unreadable);
  keys(out.distributions);
  keys(out.tool_versions);
  for (auto& [path, entry] : out.libraries)
    for (auto* const text : {&entry.image.rpath, &entry.image.runpath})
      if (*text) *text = redactor.text(**text);
  for (auto& [path, reason] : out.unreadable) reason = redactor.text(reason);
  for (auto& [name, paths] : out.distributions)
    for (std::string& path : paths) path = redactor.path(path);
  for (std::string& path : out.other_files) path = redactor.path(path);
  for (facts::LoaderCacheEntry& entry : out.loader_cache) entry.path = redactor.path(entry.path);
  return out;
}

}  // namespace

void capture_libraries(Collector& collector, std::vector<std::string>& left_out) {
  const auto software = facts::read_software(collector.root(), {});
  if (!software || software->environment() == nullptr) {
    left_out.push_back("libraries: there is no Python environment at hand");
    return;
  }
  facts::Libraries libraries(collector.root());
  const facts::NativeCode native = facts::read_native_code(libraries, *software->environment(), software->variables);
  facts::StoredLibraries stored = libraries.stored_form();
  for (const facts::NativeLibrary& library : native.libraries)
    if (library.resolution)
      if (const auto entry = stored.libraries.find(library.path); entry != stored.libraries.end())
        entry->second.missing = library.resolution->undefined;
  collector.add_made("sparkops/libraries.json",
                     facts::libraries_to_json(redacted(std::move(stored), collector.redactor())));
}

}  // namespace sparkops::store
