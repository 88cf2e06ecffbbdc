#include "facts/machine/memory_cached_files.h"

#include <algorithm>

#include "base/text.h"
#include "facts/machine/file_residency.h"

namespace sparkops::facts {

namespace {

using Clock = std::chrono::steady_clock;

/// Counting the pages of a fully cached model takes milliseconds; a disk that does not answer must not take seconds.
constexpr std::chrono::milliseconds k_time_for_all_files{1000};

/// Files of a few pages would only blur the list.
constexpr Bytes k_smallest_shown = mebibytes(1);

struct Tally {
  std::vector<CachedFile> files;
  int looked_at = 0, not_permitted = 0, not_opened = 0, out_of_time = 0;
};

void look_at(const std::string& path, Tally& tally) {
  const auto residency = read_residency(path);
  if (!residency) {
    ++tally.not_opened;
    return;
  }
  if (!residency->cached) {
    ++(residency->needs_root ? tally.not_permitted : tally.not_opened);
    return;
  }
  ++tally.looked_at;
  if (*residency->cached >= k_smallest_shown)
    tally.files.push_back({printable(path), residency->size, *residency->cached, residency->how});
}

std::string scope_of(const Tally& tally) {
  std::string scope = std::to_string(tally.looked_at) + " files looked at";
  if (tally.not_permitted > 0)
    scope += ", " + std::to_string(tally.not_permitted) + " of other users unknown (needs root)";
  if (tally.not_opened > 0) scope += ", " + std::to_string(tally.not_opened) + " could not be opened";
  if (tally.out_of_time > 0) scope += ", " + std::to_string(tally.out_of_time) + " left out after 1 s";
  return scope;
}

}  // namespace

CachedFilesReading read_cached_files(const std::vector<std::string>& paths) {
  const auto deadline = Clock::now() + k_time_for_all_files;
  Tally tally;
  for (const std::string& path : paths) {
    if (Clock::now() < deadline)
      look_at(path, tally);
    else
      ++tally.out_of_time;
  }
  CachedFilesReading reading{unknown("no file whose cached part may be counted"), scope_of(tally)};
  if (tally.looked_at == 0) {
    reading.files =
        unknown("none of the " + std::to_string(paths.size()) + " files could be counted (" + reading.scope + ")");
    return reading;
  }
  std::sort(tally.files.begin(), tally.files.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.cached > b.cached; });
  reading.files = as_measured(std::move(tally.files));
  return reading;
}

std::vector<NamedFile> read_named_files(const std::vector<std::string>& paths) {
  std::vector<NamedFile> named;
  named.reserve(paths.size());
  for (const std::string& path : paths) {
    const auto residency = read_residency(path);
    if (residency) {
      named.push_back({printable(path), as_read(Bytes{residency->size}), residency->cached, residency->dirty});
      continue;
    }
    const Unknown why = unknown(residency.error());
    named.push_back({printable(path), why, why, why});
  }
  return named;
}

std::vector<NamedFile> captured_named_files(const Known<std::vector<CachedFile>>& cached,
                                            const std::vector<std::string>& paths) {
  std::vector<NamedFile> named;
  for (std::string path : paths) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    bool found = false;
    for (const CachedFile& file : cached.value_or(std::vector<CachedFile>{})) {
      if (file.path != path && !file.path.starts_with(path == "/" ? path : path + "/")) continue;
      found = true;
      named.push_back({file.path, as_read(Bytes{file.size}), as_read(Bytes{file.cached}),
                       unknown("a capture does not tell what was not written yet")});
    }
    const Unknown why = unknown(cached ? "not among the files of this capture" : cached.reason());
    if (!found) named.push_back({printable(path), why, why, why});
  }
  return named;
}

}  // namespace sparkops::facts
