#include "store/capture_processes.h"

#include "base/text.h"
#include "facts/machine/process_files.h"
#include "facts/machine/processes.h"

namespace sparkops::store {

namespace {

constexpr std::size_t k_most_processes = 20'000;

std::vector<std::int64_t> all_pids(const Root& root) {
  std::vector<std::int64_t> pids;
  const auto entries = root.list("proc");
  if (!entries) return pids;
  for (const DirectoryEntry& entry : *entries)
    if (const auto pid = parse_integer(entry.name); pid && *pid > 0) pids.push_back(*pid);
  return pids;
}

void capture_whole(Collector& collector, const std::string& directory) {
  collector.add_file(directory + "/comm", Treatment::text);
  collector.add_file(directory + "/stat", Treatment::text);
  collector.add_file(directory + "/status", Treatment::text);
  collector.add_file(directory + "/cgroup", Treatment::text);
  collector.add_file(directory + "/cmdline", Treatment::command_line);
  collector.add_file(directory + "/environ", Treatment::environment);
}

/// What tells whether this is a container, and of which image: facts/machine/container.cpp reads it of PID 1 and, where
/// that one keeps its environment to itself, of this program.
void capture_surroundings(Collector& collector, const std::string& directory) {
  collector.add_file(directory + "/cgroup", Treatment::text);
  collector.add_file(directory + "/environ", Treatment::environment);
}

/// Of those that hold much of the pool also how much and whose it is: `sparkops memory` ranks by it.
void capture_large_holder(Collector& collector, const std::string& directory) {
  const auto text = collector.root().read(directory + "/status");
  if (!text) return;
  const facts::ProcessStatus status = facts::parse_process_status(*text);
  const Bytes held = status.resident.value_or(Bytes{0}) + status.swapped.value_or(Bytes{0});
  if (held < facts::k_smallest_holder && status.state != "Z") return;
  collector.add_file(directory + "/status", Treatment::text);
  collector.add_file(directory + "/cgroup", Treatment::text);
}

void capture_outline(Collector& collector, const std::string& directory) {
  capture_large_holder(collector, directory);
  collector.add_file(directory + "/comm", Treatment::text);
  collector.add_file(directory + "/stat", Treatment::text);
  collector.add_file(directory + "/cmdline", Treatment::first_word);
}

}  // namespace

std::vector<std::string> capture_processes(Collector& collector, const std::set<std::int64_t>& pids) {
  const Root& root = collector.root();
  std::int64_t own = 0;
  if (const auto self = root.read_link("proc/self"))
    own = parse_integer(*self).value_or(0);
  else  // a tree that somebody made
    collector.add_file("proc/self/environ", Treatment::environment);
  const std::vector<std::int64_t> all = all_pids(root);
  std::vector<std::string> left_out{
      "arguments and environment of processes that hold no GPU and are no known server or trainer"};
  collector.add_directory("proc");
  std::size_t count = 0;
  for (const std::int64_t pid : all) {
    const std::string directory = "proc/" + std::to_string(pid);
    const bool whole = pids.contains(pid);
    const bool tells_container = pid == 1 || pid == own;
    if (!whole && !tells_container && count >= k_most_processes) continue;
    ++count;
    collector.add_directory(directory);
    whole ? capture_whole(collector, directory) : capture_outline(collector, directory);
    if (!whole && tells_container) capture_surroundings(collector, directory);
  }
  if (all.size() > count)
    left_out.push_back(std::to_string(all.size() - count) + " of " + std::to_string(all.size()) + " processes");
  return left_out;
}

}  // namespace sparkops::store
