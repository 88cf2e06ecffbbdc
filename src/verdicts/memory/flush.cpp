#include "verdicts/memory/flush.h"

#include <fmt/format.h>

#include <algorithm>

namespace sparkops::verdicts {

namespace {

Known<Bytes> freed_of(const FlushReading& reading, FlushMode mode) {
  if (mode == FlushMode::dry_run) return unknown("nothing was changed (--dry-run)");
  if (!reading.before.cached) return reading.before.cached.as_unknown();
  if (!reading.after.cached) return reading.after.cached.as_unknown();
  return as_measured(std::max(*reading.before.cached - *reading.after.cached, Bytes{0}));
}

std::string clause_of(const facts::FileMapping& mapping) {
  std::string clause = fmt::format("mapped by {} (pid {})", mapping.name, mapping.pid);
  if (mapping.resident.value > 0) clause += fmt::format(", {} of it resident there", format_size(mapping.resident));
  if (mapping.locked.value > 0) clause += ", locked in memory (mlock)";
  return clause;
}

void say_what_holds_it(const FlushReading& reading, std::size_t index, const facts::FileMappings& mappings,
                       FlushedFile& file) {
  for (const facts::FileMapping& mapping : mappings.mappings)
    if (mapping.file == index) file.stays.push_back(clause_of(mapping));
  if (reading.after.dirty && reading.after.dirty->value > 0)
    file.stays.push_back(fmt::format("{} changed or being written", format_size(*reading.after.dirty)));
  if (!file.stays.empty()) return;
  file.stays.emplace_back(mappings.not_permitted > 0
                              ? fmt::format("nobody seen maps it, but {} processes of other users cannot be looked at "
                                            "without root",
                                            mappings.not_permitted)
                              : "nobody maps it: the kernel is reading or writing it at this moment; try again");
}

FlushedFile judge(const FlushReading& reading, std::size_t index, const facts::FileMappings& mappings, FlushMode mode) {
  FlushedFile file;
  file.path = reading.path;
  file.size = reading.before.size;
  file.before = reading.before.cached;
  file.after =
      mode == FlushMode::dry_run ? Known<Bytes>(unknown("nothing was changed (--dry-run)")) : reading.after.cached;
  file.freed = freed_of(reading, mode);
  file.dirty_before = reading.before.dirty;
  if (!reading.error.empty()) file.stays.push_back(reading.error);
  if (reading.before.home == facts::PageHome::memory) {
    file.stays.emplace_back("it lives in memory (tmpfs): only deleting it frees its pages");
    return file;
  }
  if (reading.before.needs_root && reading.error.empty())
    file.stays.emplace_back("how much is cached is unknown: a file of another user, needs root");
  const bool something_stays = reading.after.cached && reading.after.cached->value > 0;
  if (something_stays && mode == FlushMode::done) say_what_holds_it(reading, index, mappings, file);
  if (mode == FlushMode::dry_run)
    for (const facts::FileMapping& mapping : mappings.mappings)
      if (mapping.file == index) file.stays.push_back(clause_of(mapping));
  return file;
}

}  // namespace

std::vector<FlushedFile> judge_flush(const std::vector<FlushReading>& readings, const facts::FileMappings& mappings,
                                     FlushMode mode) {
  std::vector<FlushedFile> files;
  files.reserve(readings.size());
  for (std::size_t index = 0; index < readings.size(); ++index)
    files.push_back(judge(readings[index], index, mappings, mode));
  return files;
}

FlushTotals totals_of(const std::vector<FlushedFile>& files) {
  FlushTotals totals;
  for (const FlushedFile& file : files) {
    if (file.before) totals.before += *file.before;
    if (file.freed) totals.freed += *file.freed;
    if (file.after) totals.stays += *file.after;
    if (!file.before) ++totals.unknown_files;
  }
  return totals;
}

}  // namespace sparkops::verdicts
