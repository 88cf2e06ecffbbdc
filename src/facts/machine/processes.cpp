#include "facts/machine/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "facts/machine/process_files.h"
#include "facts/machine/user_names.h"

namespace sparkops::facts {
namespace {

/// What recognises a program stands at the beginning of its command line.
constexpr std::size_t k_glance = 4096;
/// The kernel allows far longer ones; a launch command is shorter, and a process may write anything there.
constexpr std::size_t k_command_line_cap = std::size_t{128} << 10;
constexpr std::size_t k_environment_cap = std::size_t{256} << 10;
constexpr std::size_t k_small_file_cap = std::size_t{64} << 10;
/// Ticks per second of proc/PID/stat: USER_HZ, the same on every architecture that NVIDIA drives.
constexpr std::int64_t k_ticks_per_second = 100;
constexpr std::int64_t k_ms_per_s = 1000;

std::string proc_file(std::int64_t pid, const char* file) {
  return fmt::format("proc/{}/{}", pid, file);
}

/// What is the same for all processes of one scan.
struct Scan {
  const Root& root;
  std::optional<std::int64_t> boot_time_s;
  std::map<std::int64_t, const GpuProcess*> on_gpu;
  std::int64_t hidden_environments = 0;
};

/// The first `cap` bytes of a file of one process; what a longer file goes on with is left out.
Result<std::string> read_capped(const Scan& scan, std::int64_t pid, const char* file, std::size_t cap) {
  Result<FilePart> part = scan.root.read_start(proc_file(pid, file), cap);
  if (!part) return tl::unexpected<Error>(part.error());
  return std::move(part->bytes);
}

std::optional<std::int64_t> pid_of(const DirectoryEntry& entry) {
  const bool digits = !entry.name.empty() && entry.name.find_first_not_of("0123456789") == std::string::npos;
  return digits && entry.kind == FileKind::directory ? parse_integer(entry.name) : std::nullopt;
}

enum class Look { matters, other, impossible, gone };

/// A process whose command line tells nothing: by its name. Python runs servers and trainers under its own name.
Look look_at_name(const Scan& scan, std::int64_t pid, bool command_line_was_read) {
  const Result<std::string> name = read_capped(scan, pid, "comm", k_glance);
  const std::string_view known = name ? trim(*name) : std::string_view();
  if (!known.empty() && program_of_name(known).role != LaunchRole::other) return Look::matters;
  if (!command_line_was_read && !scan.root.exists(fmt::format("proc/{}", pid))) return Look::gone;
  const bool tells = command_line_was_read && !known.empty() && !known.starts_with("python");
  return tells ? Look::other : Look::impossible;
}

/// Whether a process is worth a full look. Kernel threads and zombies have no command line, only a name.
Look look_at(const Scan& scan, std::int64_t pid) {
  if (scan.on_gpu.contains(pid)) return Look::matters;
  const Result<std::string> glance = read_capped(scan, pid, "cmdline", k_glance);
  if (!glance) return look_at_name(scan, pid, false);
  const std::vector<std::string_view> words = parse_command_line(*glance);
  if (!words.empty()) return recognise_program(words).role != LaunchRole::other ? Look::matters : Look::other;
  if (!glance->empty()) return look_at_name(scan, pid, true);
  const Result<std::string> name = read_capped(scan, pid, "comm", k_glance);
  return name && is_known_title(trim(*name)) ? Look::matters : Look::other;
}

template <class Value>
Known<Value> known_or(const std::optional<Value>& value, const std::string& reason) {
  if (!value) return unknown(reason);
  return as_read(*value);
}

void read_memory_and_owner(const Scan& scan, Process& process) {
  const std::string path = proc_file(process.pid, "status");
  const Result<std::string> text = read_capped(scan, process.pid, "status", k_small_file_cap);
  const ProcessStatus status = text ? parse_process_status(*text) : ProcessStatus{};
  const auto reason = [&](const char* key) {
    return text ? fmt::format("{} has no {}", path, key) : text.error().message;
  };
  process.owner = known_or(status.owner, reason("Uid"));
  process.resident = known_or(status.resident, reason("VmRSS"));
  process.anonymous = known_or(status.anonymous, reason("RssAnon"));
  process.file_backed = known_or(status.file_backed, reason("RssFile"));
  process.shared = known_or(status.shared, reason("RssShmem"));
  process.swapped = known_or(status.swapped, reason("VmSwap"));
}

void read_state_and_start(const Scan& scan, Process& process) {
  const Result<std::string> text = read_capped(scan, process.pid, "stat", k_small_file_cap);
  const std::optional<ProcessStat> stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) {
    const Unknown reason =
        unknown(text ? proc_file(process.pid, "stat") + ": not as proc(5) describes it" : text.error().message);
    process.state = reason;
    process.started = reason;
    return;
  }
  process.parent = stat->parent;
  process.state = as_read(stat->state);
  constexpr std::int64_t k_longest_uptime_ticks = std::int64_t{1} << 50;
  if (!scan.boot_time_s || stat->start_ticks > k_longest_uptime_ticks) {
    process.started = unknown(scan.boot_time_s ? "the start time is absurd" : "proc/stat has no btime");
    return;
  }
  process.started =
      as_derived(Timestamp{*scan.boot_time_s * k_ms_per_s + stat->start_ticks * (k_ms_per_s / k_ticks_per_second)});
}

void read_words(Scan& scan, Process& process) {
  const Result<std::string> line = read_capped(scan, process.pid, "cmdline", k_command_line_cap);
  if (line) {
    std::vector<std::string> words;
    for (const std::string_view word : parse_command_line(*line)) words.push_back(printable(word));
    if (words.empty() && !line->empty())
      process.command_line = unknown(proc_file(process.pid, "cmdline") + ": nothing but NUL bytes");
    else
      process.command_line = as_read(std::move(words));
  } else {
    process.command_line = unknown(line.error());
  }
  const Result<std::string> environment = read_capped(scan, process.pid, "environ", k_environment_cap);
  if (environment) {
    process.environment = as_read(parse_environment(*environment));
    return;
  }
  process.environment = unknown(environment.error());
  if (environment.error().kind == ErrorKind::permission_denied) ++scan.hidden_environments;
}

void read_cgroup(const Scan& scan, Process& process) {
  const Result<std::string> text = read_capped(scan, process.pid, "cgroup", k_small_file_cap);
  const std::optional<std::string> path = text ? parse_process_cgroup(*text) : std::nullopt;
  if (!path) {
    process.cgroup = text ? unknown(proc_file(process.pid, "cgroup") + " names no cgroup") : unknown(text.error());
    process.container = process.cgroup.as_unknown();
    return;
  }
  process.cgroup = as_read(*path);
  const std::optional<std::string> container = container_of_cgroup(*path);
  process.container = container ? as_derived(*container) : Known<std::string>(unknown("its cgroup shows no container"));
}

Process read_process(Scan& scan, std::int64_t pid) {
  Process process;
  process.pid = pid;
  process.name = as_read(read_capped(scan, pid, "comm", k_small_file_cap).map([](const std::string& text) {
    return printable(trim(text));
  }));
  read_words(scan, process);
  read_state_and_start(scan, process);
  read_memory_and_owner(scan, process);
  read_cgroup(scan, process);
  const auto gpu = scan.on_gpu.find(pid);
  process.on_gpu = gpu != scan.on_gpu.end();
  process.gpu_memory =
      process.on_gpu ? gpu->second->used_memory : Known<Bytes>(unknown("not in NVML's list of processes"));
  return process;
}

void sort_by_weight(std::vector<Process>& processes) {
  const auto weight = [](const Known<Bytes>& bytes) { return bytes.value_or(Bytes{-1}); };
  std::sort(processes.begin(), processes.end(), [&](const Process& a, const Process& b) {
    if (weight(a.gpu_memory) != weight(b.gpu_memory)) return weight(a.gpu_memory) > weight(b.gpu_memory);
    if (weight(a.resident) != weight(b.resident)) return weight(a.resident) > weight(b.resident);
    return a.pid < b.pid;
  });
}

/// What the one file of every process tells that holders are ranked by.
class HolderScan {
 public:
  void look_at(const Scan& scan, std::int64_t pid) {
    // The memory lines stand in the first kilobytes, and a larger buffer costs more than the reading.
    constexpr std::size_t k_memory_lines = std::size_t{8} << 10;
    const Result<std::string> text = read_capped(scan, pid, "status", k_memory_lines);
    if (!text) return;
    const ProcessStatus status = parse_process_status(*text);
    names_.emplace(pid, status.name);
    if (status.state == "Z") zombies_.push_back({pid, status.parent.value_or(0), status.name, ""});
    const Bytes held = status.resident.value_or(Bytes{0}) + status.swapped.value_or(Bytes{0});
    if (held >= k_smallest_holder) by_weight_.emplace_back(held, pid);
  }

  /// The largest of them that `table` does not have already, and the names of parents and owners.
  void fill(Scan& scan, ProcessTable& table) {
    std::set<std::int64_t> have;
    for (const Process& process : table.processes) have.insert(process.pid);
    std::sort(by_weight_.begin(), by_weight_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [held, pid] : by_weight_) {
      if (table.other_holders.size() == k_most_other_holders) break;
      if (!have.contains(pid)) table.other_holders.push_back(read_process(scan, pid));
    }
    const UserNames users = read_user_names(scan.root);
    for (auto* const list : {&table.processes, &table.other_holders})
      for (Process& process : *list) name_relations(users, process);
    table.zombies = std::move(zombies_);
    for (Zombie& zombie : table.zombies) zombie.parent_name = name_of(zombie.parent);
  }

 private:
  [[nodiscard]] std::string name_of(std::int64_t pid) const {
    const auto found = names_.find(pid);
    return found == names_.end() ? "" : found->second;
  }
  void name_relations(const UserNames& users, Process& process) const {
    process.owner_name = process.owner ? users.name_of(*process.owner) : Known<std::string>(process.owner.as_unknown());
    const std::string parent = name_of(process.parent);
    process.parent_name =
        parent.empty() ? Known<std::string>(unknown("its parent could not be read")) : as_read(parent);
  }

  std::unordered_map<std::int64_t, std::string> names_;
  std::vector<std::pair<Bytes, std::int64_t>> by_weight_;
  std::vector<Zombie> zombies_;
};

/// What was hidden from this scan, and which right would show it.
std::vector<std::string> describe_gaps(const Scan& scan, std::int64_t not_looked_at) {
  std::vector<std::string> gaps;
  if (not_looked_at > 0)
    gaps.push_back(fmt::format("{} process{}: the command line cannot be read and the name does not tell what runs",
                               not_looked_at, not_looked_at == 1 ? "" : "es"));
  if (scan.hidden_environments > 0) {
    gaps.push_back(fmt::format("environment of {} process{}: needs root or the same user", scan.hidden_environments,
                               scan.hidden_environments == 1 ? "" : "es"));
  }
  return gaps;
}

bool is_mounted_with_hidepid(const Root& root) {
  const Result<std::string> mounts = root.read("proc/mounts");
  if (!mounts) return false;
  for (const std::string_view line : split_lines(*mounts)) {
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() > 3 && words[2] == "proc" && contains(words[3], "hidepid=") && !contains(words[3], "hidepid=0") &&
        !contains(words[3], "hidepid=off"))
      return true;
  }
  return false;
}

Known<std::vector<std::int64_t>> without_process(const Known<std::vector<GpuProcess>>& gpu_processes,
                                                 const std::set<std::int64_t>& pids) {
  if (!gpu_processes) return gpu_processes.as_unknown();
  std::vector<std::int64_t> missing;
  for (const GpuProcess& process : *gpu_processes) {
    if (!pids.contains(process.pid)) missing.push_back(process.pid);
  }
  return as_derived(std::move(missing));
}

}  // namespace

Program program_of_name(std::string_view name) {
  if (name.empty()) return {};
  if (Program program = recognise_program({name}); program.role != LaunchRole::other) return program;
  if (name.starts_with("python")) return {};  // what it runs is not in its name
  constexpr std::array<std::string_view, 5> k_subcommands = {"serve", "server", "launch", "train", "run"};
  for (const std::string_view subcommand : k_subcommands)
    if (Program program = recognise_program({name, subcommand}); program.role != LaunchRole::other) return program;
  Program program;
  program.name = printable(name);
  if (!is_known_title(name)) return program;
  // Only the beginning of a long name is left; all long names of the table are servers'.
  program.role = LaunchRole::server;
  program.server = unknown("only the beginning of its name is known");
  return program;
}

ProcessTable read_processes(const Root& root, const Known<std::vector<GpuProcess>>& gpu_processes, Processes which) {
  ProcessTable table;
  const Result<std::vector<DirectoryEntry>> entries = root.list("proc");
  if (!entries) {
    table.process_count = unknown(entries.error());
    table.gpu_pids_without_process = unknown(entries.error());
    table.could_not.push_back("any process: " + entries.error().message);
    return table;
  }
  const Result<std::string> stat = root.read("proc/stat");
  Scan scan{root, stat ? parse_boot_time(*stat) : std::nullopt, {}, 0};
  if (gpu_processes) {
    for (const GpuProcess& process : *gpu_processes) scan.on_gpu[process.pid] = &process;
  }
  std::set<std::int64_t> pids;
  HolderScan holders;
  for (const DirectoryEntry& entry : *entries) {
    const std::optional<std::int64_t> pid = pid_of(entry);
    if (!pid) continue;
    if (which == Processes::with_holders) holders.look_at(scan, *pid);
    const Look look = look_at(scan, *pid);
    if (look == Look::gone) continue;
    pids.insert(*pid);
    if (look == Look::matters) table.processes.push_back(read_process(scan, *pid));
    if (look == Look::impossible) ++table.not_looked_at;
  }
  sort_by_weight(table.processes);
  if (which == Processes::with_holders) holders.fill(scan, table);
  if (pids.empty())
    table.process_count = unknown("proc lists no process");
  else
    table.process_count = as_read(static_cast<std::int64_t>(pids.size()));
  table.could_not = describe_gaps(scan, table.not_looked_at);
  if (is_mounted_with_hidepid(root)) {
    // Whoever sees process 1 sees them all.
    table.others_are_hidden = !pids.contains(1);
    table.could_not.emplace_back(
        "processes of other users: proc is mounted with hidepid; needs root or the group that it names");
  }
  table.gpu_pids_without_process = without_process(gpu_processes, pids);
  return table;
}

}  // namespace sparkops::facts
