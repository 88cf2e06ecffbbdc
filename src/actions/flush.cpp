#include "actions/flush.h"

#include <fcntl.h>

#include <cerrno>

#include "base/file_descriptor.h"
#include "base/text.h"

namespace sparkops::actions {

namespace {

void note(FlushedFile& flushed, const Result<void>& done) {
  if (!done && flushed.error.empty()) flushed.error = done.error().message;
}

bool may_have_dirty_pages(const facts::FileResidency& residency) {
  return !residency.dirty || residency.dirty->value > 0;
}

void give_back(MachineActions& actions, int file, FlushedFile& flushed) {
  // A page that another processor has just touched may sit in its private list: the second call finds it.
  constexpr int k_tries = 2;
  for (int attempt = 0; attempt < k_tries; ++attempt) {
    if (may_have_dirty_pages(flushed.after)) note(flushed, actions.write_back(file, flushed.path));
    note(flushed, actions.give_back_pages(file, flushed.path));
    const auto after = facts::read_residency(file, flushed.path);
    if (!after) {
      flushed.after.cached = flushed.after.dirty = unknown(after.error());
      return;
    }
    flushed.after = *after;
    if (!after->cached || after->cached->value == 0 || *after->cached == *flushed.before.cached) return;
  }
}

FlushedFile flush_file(MachineActions& actions, const std::string& path) {
  FlushedFile flushed;
  flushed.path = path;
  // Giving pages back needs no right to write. O_NONBLOCK: opening a FIFO must not hang.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    flushed.error = system_error(printable(path), errno).message;
    flushed.before.cached = flushed.before.dirty = flushed.after.cached = flushed.after.dirty = unknown(flushed.error);
    return flushed;
  }
  const auto before = facts::read_residency(file.get(), path);
  if (!before) {
    flushed.error = before.error().message;
    flushed.before.cached = flushed.before.dirty = flushed.after.cached = flushed.after.dirty = unknown(flushed.error);
    return flushed;
  }
  flushed.before = flushed.after = *before;
  const bool nothing_cached = before->cached && before->cached->value == 0;
  if (before->home == facts::PageHome::memory || nothing_cached) return flushed;
  give_back(actions, file.get(), flushed);
  return flushed;
}

}  // namespace

std::vector<FlushedFile> flush_files(MachineActions& actions, const std::vector<std::string>& paths,
                                     const FlushProgress& progress) {
  std::vector<FlushedFile> flushed;
  flushed.reserve(paths.size());
  for (const std::string& path : paths) {
    flushed.push_back(flush_file(actions, path));
    if (progress) progress(flushed.size());
  }
  return flushed;
}

std::vector<FlushStep> flush_everything(MachineActions& actions, Compact compact) {
  std::vector<FlushStep> steps;
  const auto take = [&](const char* name, const Result<void>& done) {
    steps.push_back({name, done ? "" : done.error().message});
    return done.has_value();
  };
  if (!take("sync", actions.write_back_everything())) return steps;
  if (!take("drop_caches", actions.drop_caches())) return steps;
  if (compact == Compact::yes) take("compact_memory", actions.compact_memory());
  return steps;
}

}  // namespace sparkops::actions
