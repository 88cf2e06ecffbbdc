#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "base/version.h"
#include "commands/command.h"
#include "commands/plan_subject.h"
#include "commands/reading.h"
#include "commands/software_source.h"
#include "facts/machine/machine.h"
#include "facts/workload/workload.h"
#include "knowledge/tables.h"
#include "runtime/console.h"
#include "runtime/predecessor.h"
#include "runtime/run_record.h"
#include "runtime/supervisor.h"
#include "store/report_file.h"
#include "store/run_directory.h"
#include "verdicts/preflight.h"
#include "views/preflight_json.h"

namespace sparkops::commands {

namespace {

/// What `run` ends with besides the job's own code (docs/architecture.md).
enum class RunCode : int { not_started = 91, sparkops_failed = 92, cannot_be_executed = 126, not_found = 127 };

ExitCode exit_code(int code) {
  return static_cast<ExitCode>(code);
}
ExitCode exit_code(RunCode code) {
  return static_cast<ExitCode>(code);
}

struct Preflight {
  facts::Machine machine;
  verdicts::PreflightResult result;
  Known<verdicts::Footprint> footprint;
};

/// What the job takes at most, of the pool of this machine.
Known<verdicts::Footprint> footprint_of_job(const Arguments& arguments, const facts::Machine& machine,
                                            const knowledge::Tables& tables) {
  if (!machine.memory || !machine.memory->info.total) return unknown("the size of the pool could not be read");
  return footprint_of_work(arguments, tables, static_cast<double>(machine.memory->info.total->value));
}

Preflight look(const Arguments& arguments, const knowledge::Tables& tables) {
  const std::vector<std::string>& command = arguments.command;
  const Root root = Root::live();
  const facts::Workload workload = facts::read_command(command);
  SoftwareSource source;
  aim_at_work(source, workload, command);
  const auto reading = start_reading(source, root);
  Preflight preflight;
  preflight.machine = facts::read_machine(root);
  preflight.footprint = footprint_of_job(arguments, preflight.machine, tables);
  const SoftwareReading installed = finish_reading(reading);
  const verdicts::PreflightFacts facts{.machine = preflight.machine,
                                       .knowledge = tables,
                                       .now = Timestamp::now(),
                                       .judged = verdicts::JudgedPlatform::this_machine,
                                       .work_arguments = "-- " + shell_quoted(command),
                                       .workload = &workload,
                                       .software = &installed.software,
                                       .playbook = nullptr,
                                       .open_issues = nullptr,
                                       .native_code = &installed.native_code,
                                       .reserve = verdicts::k_default_reserve,
                                       .with_swap = false,
                                       .footprint = preflight.footprint ? &*preflight.footprint : nullptr,
                                       .footprint_unknown = preflight.footprint.reason()};
  preflight.result = verdicts::run_preflight(facts, {});
  return preflight;
}

/// A failed check stops a run; that this is no Spark does not, nor that nothing could be found out.
bool is_refused(const verdicts::PreflightResult& result) {
  if (!result.platform.gpu_does_not_answer.empty()) return true;
  for (const Finding& finding : result.findings)
    if (finding.status == Status::fail) return true;
  return false;
}

bool asked_and_agreed() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return false;
  std::fprintf(stderr, "sparkops: start all the same? [y/N] ");
  std::array<char, 16> answer{};
  const bool read = std::fgets(answer.data(), answer.size(), stdin) != nullptr;
  return read && (answer[0] == 'y' || answer[0] == 'Y');
}

/// ^C while preflight looked: the job is not started.
std::optional<int> asked_to_end() {
  sigset_t pending{};
  if (::sigpending(&pending) != 0) return std::nullopt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (::sigismember(&pending, signal) == 1) return signal;
  return std::nullopt;
}

/// At the prompt ^C ends this program as any other.
bool agreed_at_prompt(const sigset_t& original_mask) {
  sigset_t ours{};
  ::pthread_sigmask(SIG_SETMASK, &original_mask, &ours);
  const bool agreed = asked_and_agreed();
  ::pthread_sigmask(SIG_SETMASK, &ours, nullptr);
  return agreed;
}

store::RunRecord new_record(const Arguments& arguments, const Preflight& preflight, bool terminal) {
  store::RunRecord record;
  record.command = arguments.command;
  std::array<char, 4096> directory{};
  record.working_directory = ::getcwd(directory.data(), directory.size()) != nullptr ? directory.data() : "";
  record.program_version = std::string(version());
  record.boot_id = preflight.machine.identity ? preflight.machine.identity->boot_id
                                              : Known<std::string>(preflight.machine.identity.as_unknown());
  record.supervisor_pid = ::getpid();
  if (const auto mark = runtime::own_mark(); mark)
    record.supervisor_start_ticks = as_read(std::int64_t{mark->start_ticks});
  else
    record.supervisor_start_ticks = unknown(mark.error());
  record.started = Timestamp::now();
  record.utc_offset_s = store::utc_offset_at(record.started);
  record.preflight = verdicts::to_string(preflight.result.verdict);
  record.gpu = preflight.machine.gpu() != nullptr ? as_read(std::string(preflight.machine.gpu()->name))
                                                  : Known<std::string>(unknown("there was none at the start"));
  record.terminal = terminal;
  return record;
}

std::string plan_words(const Known<verdicts::Footprint>& footprint) {
  if (!footprint) return "plan unknown (" + footprint.reason() + ")";
  const auto gibibytes_of = [](double bytes) { return bytes / static_cast<double>(gibibytes(1).value); };
  return fmt::format("plan peak {:.0f}-{:.0f} GiB at {}", gibibytes_of(footprint->system.low),
                     gibibytes_of(footprint->system.high), to_string(footprint->peak().kind));
}

std::string memory_left(const facts::Machine& machine) {
  if (!machine.memory || !machine.memory->info.available) return "free memory unknown";
  return format_size(*machine.memory->info.available) + " available";
}

/// The directory of this run, or "" with the reason said: the job matters more than its record.
std::string make_directory(const Arguments& arguments, const store::RunRecord& record, const Preflight& preflight,
                           runtime::Console& console) {
  const auto directory = store::create_run_directory(store::run_root(arguments.value("--run-dir")), record.started,
                                                     store::slug_of(record.command));
  if (!directory) {
    console.say("this run is not recorded: " + directory.error().message);
    return "";
  }
  const auto report = store::write_report_file(*directory + "/env-report.json",
                                               views::env_report_json(preflight.result, record.started));
  if (!report) console.say(report.error().message);
  return *directory;
}

std::string time_of_day(Timestamp time) {
  const std::int64_t seconds = time.unix_ms / 1000 + store::utc_offset_at(time);
  constexpr std::int64_t k_day = 86400;
  const std::int64_t of_day = ((seconds % k_day) + k_day) % k_day;
  return fmt::format("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
}

std::string end_line(const runtime::Child::End& end, double seconds, const runtime::RunRecorder& recorder,
                     const std::string& directory) {
  std::string line = end.signal != 0 ? fmt::format("ended by signal {} ({})", end.signal, ::strsignal(end.signal))
                                     : fmt::format("exit {}", end.exit_code);
  line += ", " + format_duration({seconds});
  if (const auto lowest = recorder.lowest_available())
    line += ", " + format_size({*lowest}) + " available at the lowest";
  if (!recorder.problems().empty())
    line += fmt::format(", {} trouble{} with the record", recorder.problems().size(),
                        recorder.problems().size() == 1 ? "" : "s");
  if (!directory.empty()) line += " | " + directory;
  return line;
}

/// --json FILE: the same as run.json of the run.
void copy_result(const Arguments& arguments, const std::string& directory, runtime::Console& console) {
  if (!arguments.has("--json")) return;
  if (directory.empty()) return console.say("--json " + arguments.value("--json") + ": there is no record to write");
  auto root = Root::open(directory);
  const auto text = root ? root->read("run.json") : Result<std::string>(tl::unexpected(root.error()));
  const auto written = text ? store::write_report_file(arguments.value("--json"), *text) : tl::unexpected(text.error());
  if (!written) console.say("--json " + written.error().message);
}

ExitCode supervise(const Arguments& arguments, const Preflight& preflight, const runtime::Child::Start& start) {
  runtime::Console console;
  const bool terminal = start.terminal == runtime::Child::Terminal::own;
  store::RunRecord record = new_record(arguments, preflight, terminal);
  const std::string directory = make_directory(arguments, record, preflight, console);
  // Of the reasons to be blocked only this one is left, or one that somebody overruled.
  const verdicts::PreflightVerdict& verdict = preflight.result.verdict;
  console.say(verdict.readiness == verdicts::Readiness::blocked ? "started all the same, although " + verdict.why
                                                                : verdicts::to_string(verdict));
  console.say(fmt::format("{} | {}{}", plan_words(preflight.footprint), memory_left(preflight.machine),
                          directory.empty() ? "" : " | record: " + directory));
  runtime::RunRecorder recorder(directory, std::move(record), [&](const Finding& finding) {
    if (finding.status == Status::warn || finding.status == Status::fail)
      console.say(time_of_day(Timestamp::now()) + " " + finding.headline);
  });
  runtime::Supervisor supervisor(console, recorder.output());
  store::RunRecord::End end;
  const auto begin = std::chrono::steady_clock::now();
  // The job first: it is forked while this program has no more threads than it needs.
  if (const auto started = supervisor.start(start); !started) {
    const RunCode code =
        started.error().kind == ErrorKind::not_found ? RunCode::not_found : RunCode::cannot_be_executed;
    end.at = Timestamp::now();
    end.exit_code = static_cast<int>(code);
    recorder.finish(end);
    return fail_with(exit_code(code), started.error().message);
  }
  if (const auto started = recorder.start(); !started) console.say(started.error().message);
  const runtime::Child::End ended = supervisor.wait();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  end.at = Timestamp::now();
  end.exit_code = ended.exit_code;
  if (ended.signal != 0) end.signal = ended.signal;
  recorder.finish(end);
  console.say(end_line(ended, seconds, recorder, directory));
  copy_result(arguments, directory, console);
  console.flush();
  return exit_code(ended.exit_code);
}

Result<runtime::Child::Terminal> terminal_for(const Arguments& arguments) {
  using Terminal = runtime::Child::Terminal;
  if (arguments.has("--pty") && arguments.has("--no-pty"))
    return failure(ErrorKind::usage, "--pty and --no-pty exclude each other");
  if (arguments.has("--no-pty")) return Terminal::none;
  const bool keys = ::isatty(STDIN_FILENO) != 0;
  if (arguments.has("--pty") && !keys) return failure(ErrorKind::usage, "--pty needs a terminal on standard input");
  return arguments.has("--pty") || (keys && ::isatty(STDOUT_FILENO) != 0) ? Terminal::own : Terminal::none;
}

ExitCode run_run(const Arguments& arguments) {
  if (arguments.command.empty())
    return fail_with(ExitCode::usage, "name the command behind --: sparkops run -- python3 train.py");
  const auto terminal = terminal_for(arguments);
  if (!terminal) return report_error(terminal.error());
  runtime::Child::Start start;
  start.command = arguments.command;
  start.terminal = *terminal;
  runtime::Supervisor::prepare_signals(start);

  const knowledge::Tables tables;
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);
  const Preflight preflight = look(arguments, tables);
  if (const auto signal = asked_to_end()) {
    constexpr int k_died_by_signal = 128;
    return exit_code(k_died_by_signal + *signal);
  }
  if (is_refused(preflight.result) && !arguments.has("--force")) {
    fail_with(ExitCode::done, verdicts::to_string(preflight.result.verdict));
    if (!agreed_at_prompt(start.signal_mask))
      return fail_with(exit_code(RunCode::not_started), "not started: see sparkops preflight -- " +
                                                            shell_quoted(arguments.command) +
                                                            ", or start all the same with --force");
  }
  return supervise(arguments, preflight, start);
}

}  // namespace

CommandSpec run_command() {
  return {
      .name = "run",
      .moment = Moment::during,
      .shown_first = true,
      .summary = "start a job with preflight before it and a record beside it",
      .description =
          "Looks at the box as preflight does, then runs the command as if you had started it yourself: same output, "
          "same exit code, same signals, a terminal where you have one. Where a check fails it is not started (91), "
          "unless you agree at the terminal or say --force; that this is no DGX Spark is no reason.\n"
          "\n"
          "Beside it a record is kept in sparkops-runs/<date>-<name>/: run.json, env-report.json, thermal.csv, "
          "samples.csv (memory and GPU, every second), output.log with the times of its lines in output.idx, "
          "events.jsonl, and ring.bin with the last minutes. All of it is on disk within a second.\n"
          "\n"
          "What happens meanwhile (GPU clock states, memory that falls or swaps, a driver that does not answer, a full "
          "disk) is said on stderr, between two lines of the job. A record that cannot be written never ends the job.\n"
          "\n"
          "Exit code: the job's own; 128+n when it died by signal n; 126 and 127 when it cannot be executed or found; "
          "91 not started; 2 for a wrong command line.",
      .positional = "",
      .positional_help = "",
      .positional_max = 0,
      .takes_command = true,
      .options = {{"--force", "", "start although a check fails", OptionSpec::Takes::nothing, false},
                  {"--run-dir", "DIR", "where runs are recorded (default $SPARKOPS_RUNS, else ./sparkops-runs)",
                   OptionSpec::Takes::value, false},
                  {"--json", "FILE", "also write the result there when the job has ended (stdout is the job's)",
                   OptionSpec::Takes::value, false},
                  {"--pty", "", "give the job a terminal although stdout is none", OptionSpec::Takes::nothing, false},
                  {"--no-pty", "", "give the job no terminal of its own", OptionSpec::Takes::nothing, false}},
      .examples = {"sparkops run -- python3 train.py --lr 1e-4",
                   "sparkops run --run-dir runs -- torchrun --nproc_per_node 1 train.py"},
      .run = run_run,
  };
}

}  // namespace sparkops::commands
