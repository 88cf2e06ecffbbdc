#include "actions/flush.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "facts/machine/file_walk.h"
#include "facts/machine/machine.h"
#include "knowledge/tables.h"
#include "verdicts/memory/flush.h"
#include "verdicts/memory/pool.h"
#include "views/flush.h"

namespace sparkops::commands {

namespace {

constexpr const char* k_own_words = "sudo sparkops flush --all";

facts::Machine read_quickly() {
  facts::MachineReadOptions options;
  options.gpu.settle = std::chrono::milliseconds(0);
  options.kernel_log = false;
  options.network_links = false;
  options.cached_files = false;
  return facts::read_machine(Root::live(), options);
}

void read_pool(const facts::Machine& machine, verdicts::Budget& budget, verdicts::PoolAttribution& pool) {
  if (machine.memory) {
    budget = verdicts::memory_budget(machine.memory->info);
  } else {
    const Unknown why = machine.memory.as_unknown();
    budget.free = budget.headroom_now = why;
  }
  pool = verdicts::attribute_pool(machine);
}

void read_after(views::FlushReport& report) {
  facts::Machine machine;
  machine.memory = as_read(facts::read_memory(Root::live()));
  read_pool(machine, report.after, report.pool_after);
}

/// On a terminal, and only once it takes long enough for a person to wonder.
class Progress {
 public:
  explicit Progress(std::size_t files) : files_(files), shown_(::isatty(STDERR_FILENO) != 0) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (any_) std::fputs("\r\x1b[K", stderr);
  }
  void done(std::size_t count) {
    constexpr std::chrono::milliseconds k_patience{500}, k_between{100};
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - start_ < k_patience || now - last_ < k_between) return;
    last_ = now;
    any_ = true;
    std::fprintf(stderr, "\rsparkops: %zu of %zu files …\x1b[K", count, files_);
    std::fflush(stderr);
  }

 private:
  std::size_t files_;
  bool shown_, any_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

/// Who maps what is still there (or, before a dry run, what is there now).
facts::FileMappings mappings_of_rest(const std::vector<actions::FlushedFile>& flushed) {
  std::vector<facts::FileIdentity> files;
  files.reserve(flushed.size());
  for (const actions::FlushedFile& file : flushed) {
    const bool something_stays = file.after.cached && file.after.cached->value > 0;
    files.push_back({file.after.device, something_stays ? file.after.inode : 0, file.path});
  }
  return facts::read_mappings(Root::live(), files);
}

void flush_named(const std::vector<std::string>& files, views::FlushReport& report) {
  const bool dry = report.mode == verdicts::FlushMode::dry_run;
  const auto live = actions::live_actions();
  actions::RecordingActions recording;
  Progress progress(files.size());
  const auto flushed = actions::flush_files(dry ? static_cast<actions::MachineActions&>(recording) : *live, files,
                                            [&](std::size_t count) { progress.done(count); });
  std::vector<verdicts::FlushReading> readings;
  readings.reserve(flushed.size());
  for (const actions::FlushedFile& file : flushed) readings.push_back({file.path, file.before, file.after, file.error});
  report.files = verdicts::judge_flush(readings, mappings_of_rest(flushed), report.mode);
}

void flush_machine(actions::Compact compact, views::FlushReport& report) {
  const auto live = actions::live_actions();
  actions::RecordingActions recording;
  const bool dry = report.mode == verdicts::FlushMode::dry_run;
  for (actions::FlushStep& step :
       actions::flush_everything(dry ? static_cast<actions::MachineActions&>(recording) : *live, compact))
    report.steps.push_back({step.name, step.error});
}

/// The files that hold most of the cache, as a command that needs no root.
void propose_files(views::FlushReport& report) {
  constexpr std::size_t k_most = 5;
  const auto memory =
      facts::read_memory(Root::live(), facts::likely_cached_files(Root::live(), facts::LikelyFiles::thorough));
  std::vector<std::string> words{"sparkops", "flush"};
  if (memory.cached_files)
    for (const facts::CachedFile& file : *memory.cached_files)
      if (words.size() < 2 + k_most && file.cached.value > 0) words.push_back(file.path);
  report.instead.emplace_back(k_own_words);
  if (words.size() > 2) report.instead.push_back(shell_quoted(words));
}

/// Whether a flush may start; otherwise the report says why not, and this is the exit code.
ExitCode check_jobs(const facts::Machine& machine, const Arguments& arguments, views::FlushReport& report) {
  const knowledge::Tables tables;
  const auto jobs = verdicts::gpu_jobs(machine, tables);
  const bool forced = arguments.has("--force");
  const bool dry = report.mode == verdicts::FlushMode::dry_run;
  std::string trouble;
  if (!jobs)
    trouble = "whether a job computes on the GPU could not be found out (" + jobs.reason() + ")";
  else if (!jobs->empty())
    trouble = "a job computes on the GPU: " + join(*jobs, "; ");
  if (trouble.empty()) return ExitCode::done;
  if (dry || forced) {
    report.notes.push_back(trouble + (forced ? "; done anyway (--force)" : "; without --force this would be refused"));
    return ExitCode::done;
  }
  report.refused = trouble + "; a flush takes from it what it reads or is about to read: wait until it has ended";
  std::vector<std::string> words{"sparkops", "flush", "--force"};
  if (report.everything) words.emplace_back("--all");
  words.insert(words.end(), arguments.positionals.begin(), arguments.positionals.end());
  report.instead.push_back(shell_quoted(words));
  return jobs ? ExitCode::answer_is_no : ExitCode::could_not_find_out;
}

ExitCode check_rights(const Arguments& arguments, views::FlushReport& report) {
  if (!report.everything || ::geteuid() == 0) return ExitCode::done;
  if (report.mode == verdicts::FlushMode::dry_run) {
    report.notes.emplace_back("this would need root");
    return ExitCode::done;
  }
  report.refused = std::string(
                       "--all needs root: it gives back the page cache of everyone, also of files that nobody "
                       "named") +
                   (arguments.has("--compact") ? ", and compacts memory" : "") +
                   "; files that you may read need no root when you name them";
  propose_files(report);
  return ExitCode::answer_is_no;
}

ExitCode code_of(const views::FlushReport& report) {
  for (const views::FlushStepShown& step : report.steps)
    if (!step.error.empty()) return ExitCode::answer_is_no;
  if (report.mode == verdicts::FlushMode::dry_run) return ExitCode::done;
  const verdicts::FlushTotals totals = verdicts::totals_of(report.files);
  const auto files = static_cast<std::int64_t>(report.files.size());
  if (files > 0 && totals.unknown_files == files) return ExitCode::could_not_find_out;
  return totals.stays.value > 0 && totals.freed.value == 0 ? ExitCode::answer_is_no : ExitCode::done;
}

ExitCode print(const views::FlushReport& report, const Arguments& arguments, ExitCode code) {
  const auto detail = arguments.has("--verbose") ? views::Detail::verbose : views::Detail::brief;
  const ExitCode written = write_output(
      arguments.has("--json") ? views::flush_json(report)
                              : views::flush_text(report, detail, views::style_for_descriptor(STDOUT_FILENO)));
  return written == ExitCode::done ? code : written;
}

ExitCode run_flush(const Arguments& arguments) {
  views::FlushReport report;
  report.everything = arguments.has("--all");
  report.mode = arguments.has("--dry-run") ? verdicts::FlushMode::dry_run : verdicts::FlushMode::done;
  if (report.everything && !arguments.positionals.empty())
    return fail_with(ExitCode::usage, "--all is everything already: name paths or give --all, not both");
  if (!report.everything && arguments.positionals.empty())
    return fail_with(ExitCode::usage,
                     "flush: name files or directories, or give --all (sparkops memory shows what holds the cache)");
  if (arguments.has("--compact") && !report.everything) return fail_with(ExitCode::usage, "--compact goes with --all");
  const auto walked = facts::walk_files(arguments.positionals);
  if (!walked) return fail_with(ExitCode::usage, walked.error().message);
  report.notes = notes_of(*walked);

  const facts::Machine machine = read_quickly();
  read_pool(machine, report.before, report.pool_before);
  report.after = report.before;
  report.pool_after = report.pool_before;
  ExitCode code = check_rights(arguments, report);
  if (code == ExitCode::done) code = check_jobs(machine, arguments, report);
  if (code != ExitCode::done) return print(report, arguments, code);
  if (report.everything)
    flush_machine(arguments.has("--compact") ? actions::Compact::yes : actions::Compact::no, report);
  else
    flush_named(walked->files, report);
  if (report.mode == verdicts::FlushMode::done) read_after(report);
  return print(report, arguments, code_of(report));
}

}  // namespace

CommandSpec flush_command() {
  return {
      .name = "flush",
      .moment = Moment::before,
      .shown_first = true,
      .summary = "gives back the page cache of named files without root, or all of it with root",
      .description =
          "With PATH: writes what is changed to disk (fdatasync) and gives back the cached pages "
          "(posix_fadvise DONTNEED) of the file, or of every file below the directory. Needs no root, only the right "
          "to "
          "read. Tells by readings before and after what was freed, and of what stays why: mapped by a process, "
          "locked, "
          "changed again, in memory (tmpfs).\n"
          "\n"
          "With --all, as root: sync, then the whole page cache (drop_caches), then with --compact large free blocks. "
          "Refuses while a job computes on the GPU, also for its own files, unless --force. The next reading of a file "
          "comes from the disk: flush between runs, not in the middle of one.\n"
          "\n"
          "Exit 1: nothing could be given back, or it was refused; 3: what was cached could not be found out. Changes "
          "nothing else.",
      .positional = "[PATH…]",
      .positional_help = "files, or directories: everything below them on the same file system, no symlinks followed",
      .positional_max = k_most_positionals,
      .takes_command = false,
      .options = {{"--all", "", "the page cache of the whole machine (root)", OptionSpec::Takes::nothing, false},
                  {"--compact", "", "with --all: also compact memory; the box may stall for seconds",
                   OptionSpec::Takes::nothing, false},
                  {"--dry-run", "", "show what is cached and would be done; change nothing", OptionSpec::Takes::nothing,
                   false},
                  {"--force", "", "also while a job computes on the GPU", OptionSpec::Takes::nothing, false},
                  k_json_option,
                  {"--verbose", "", "show every file, and whole paths", OptionSpec::Takes::nothing, false}},
      .examples = {"sparkops flush ~/.cache/huggingface/hub/models--Qwen--Qwen3-32B",
                   "sparkops flush --dry-run model.safetensors", "sudo sparkops flush --all --compact"},
      .run = run_flush,
  };
}

}  // namespace sparkops::commands
