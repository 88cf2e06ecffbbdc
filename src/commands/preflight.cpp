#include "verdicts/preflight.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan_subject.h"
#include "commands/reading.h"
#include "commands/software_source.h"
#include "facts/machine/machine.h"
#include "facts/workload/playbook_clone.h"
#include "facts/workload/playbook_issues.h"
#include "facts/workload/workload.h"
#include "store/report_file.h"
#include "views/preflight_json.h"
#include "views/preflight_text.h"

namespace sparkops::commands {

namespace {

constexpr Seconds k_default_settle{1.0};
constexpr Seconds k_longest_settle{600.0};
constexpr std::chrono::seconds k_online_timeout{5};

/// Everything the command line asks for.
struct Request {
  Root root;
  verdicts::CheckSelection only;
  SoftwareSource software;
  std::optional<facts::Workload> workload;
  std::optional<facts::PlaybookClone> playbook;
  std::optional<Known<std::vector<facts::Issue>>> open_issues;  ///< only with --online
  std::string work_arguments;                                   ///< how the work was named, for commands in the answer
  std::string platform;                                         ///< "", "gb10" or "this"
  Bytes reserve;
  Seconds settle, wait_headroom;
};

Result<verdicts::CheckSelection> parse_only(const Arguments& arguments) {
  verdicts::CheckSelection selection;
  for (const std::string& list : arguments.values("--only")) {
    for (const std::string_view piece : split(list, ',')) {
      std::string id = to_lower(trim(piece));
      if (id.starts_with('g')) id.erase(0, 1);
      const auto number = parse_integer(id);
      const auto count = static_cast<std::int64_t>(verdicts::gotcha_checks().size());
      if (!number || *number < 1 || *number > count)
        return failure(ErrorKind::usage, "--only: '" + printable(piece, 32) + "' is none of G1 to G10");
      selection.push_back("G" + std::to_string(*number));
    }
  }
  return selection;
}

Result<void> read_work(const Arguments& arguments, Request& request) {
  if (arguments.has("--workload") && !arguments.command.empty())
    return failure(ErrorKind::usage, "--workload and -- CMD both name the work: give one of them");
  if (arguments.has("--workload")) {
    auto workload = facts::read_workload(arguments.value("--workload"));
    if (!workload) return tl::unexpected(workload.error());
    request.workload = std::move(*workload);
    request.work_arguments = "--workload " + shell_quoted({arguments.value("--workload")});
  } else if (!arguments.command.empty()) {
    request.workload = facts::read_command(arguments.command);
    request.work_arguments = "-- " + shell_quoted(arguments.command);
  }
  if (arguments.has("--playbook")) {
    auto clone = facts::read_playbook_clone(arguments.value("--playbook"));
    if (!clone) return tl::unexpected(clone.error());
    request.playbook = std::move(*clone);
  } else if (arguments.has("--workload")) {
    if (auto clone = facts::find_playbook_clone(arguments.value("--workload"))) request.playbook = std::move(*clone);
  }
  return {};
}

/// The only use of the network, and only with --online.
Result<void> ask_online(const Arguments& arguments, Request& request) {
  if (!arguments.has("--online")) return {};
  if (!request.playbook)
    return failure(ErrorKind::usage, "--online asks for a playbook's open issues: name a clone with --playbook DIR");
  request.open_issues = as_read(facts::fetch_open_issues(k_online_timeout));
  return {};
}

Result<Request> parse_request(const Arguments& arguments) {
  auto root = root_from(arguments);
  if (!root) return tl::unexpected(root.error());
  Request request{.root = *root,
                  .only = {},
                  .software = {},
                  .workload = {},
                  .playbook = {},
                  .open_issues = {},
                  .work_arguments = "",
                  .platform = "",
                  .reserve = {},
                  .settle = {},
                  .wait_headroom = {}};
  const auto reserve = size_option(arguments, "--reserve", verdicts::k_default_reserve);
  if (!reserve) return tl::unexpected(reserve.error());
  if (reserve->value < 0) return failure(ErrorKind::usage, "--reserve: a size that is not negative");
  const auto settle = duration_option(arguments, "--settle", k_default_settle);
  if (!settle) return tl::unexpected(settle.error());
  if (*settle > k_longest_settle) return failure(ErrorKind::usage, "--settle: at most 600 s");
  const auto wait = duration_option(arguments, "--wait-headroom", Seconds{0});
  if (!wait) return tl::unexpected(wait.error());
  const auto only = parse_only(arguments);
  if (!only) return tl::unexpected(only.error());
  request.reserve = *reserve;
  request.settle = *settle;
  request.wait_headroom = *wait;
  request.only = *only;
  request.platform = arguments.value("--platform");
  if (!request.platform.empty() && request.platform != "gb10" && request.platform != "this")
    return failure(ErrorKind::usage, "--platform: gb10 or this");
  if (const auto work = read_work(arguments, request); !work) return tl::unexpected(work.error());
  auto software = software_source_from(arguments, request.root);
  if (!software) return tl::unexpected(software.error());
  request.software = std::move(*software);
  if (request.workload) aim_at_work(request.software, *request.workload, arguments.command);
  if (request.software.was_named())
    request.work_arguments =
        request.software.arguments + (request.work_arguments.empty() ? "" : " " + request.work_arguments);
  if (request.platform == "gb10" && !request.workload && !request.software.was_named())
    return failure(ErrorKind::usage,
                   "--platform gb10 judges a workload or packages: name them with --workload, --packages or -- CMD");
  if (const auto asked = ask_online(arguments, request); !asked) return tl::unexpected(asked.error());
  return request;
}

/// A workload file or a list of packages is judged for a GB10 wherever it is read, unless this machine is one: then the
/// machine itself is.
bool judges_as_gb10(const Request& request, const Arguments& arguments, const facts::Machine& machine) {
  if (!request.platform.empty()) return request.platform == "gb10";
  const bool is_file = arguments.has("--workload") || arguments.has("--packages");
  return is_file && verdicts::judge_platform(machine).is_gb10 != verdicts::IsGb10::yes;
}

/// The checks to run: those asked for, of those the input can answer.
verdicts::CheckSelection select_checks(const Request& request, const verdicts::PreflightFacts& facts) {
  if (!request.only.empty() || facts.judged == verdicts::JudgedPlatform::this_machine) return request.only;
  return verdicts::checks_named_by_input(facts);
}

facts::Machine read_now(const Request& request) {
  facts::MachineReadOptions options;
  options.gpu.settle = std::chrono::milliseconds(static_cast<std::int64_t>(request.settle.value * 1000.0));
  // The GPU part may take its settling time on top of what its calls may take.
  options.deadline += options.gpu.settle;
  return facts::read_machine(request.root, options);
}

struct Outcome {
  verdicts::PreflightResult result;
  bool judged_as_gb10 = false;
  Known<Timestamp> taken;
};

/// Bytes that a server's fraction counts from.
double pool_of(const facts::Machine& machine, const knowledge::Tables& tables, bool as_gb10) {
  if (!as_gb10 && machine.memory && machine.memory->info.total)
    return static_cast<double>(machine.memory->info.total->value);
  return static_cast<double>(tables.gb10().pool.value);
}

Outcome run_once(const Request& request, const Arguments& arguments, const knowledge::Tables& tables) {
  const auto reading = start_reading(request.software, request.root);
  const facts::Machine machine = read_now(request);
  Outcome outcome;
  outcome.taken = machine.taken;
  outcome.judged_as_gb10 = judges_as_gb10(request, arguments, machine);
  const Known<verdicts::Footprint> footprint =
      request.workload ? footprint_of_work(arguments, tables, pool_of(machine, tables, outcome.judged_as_gb10))
                       : Known<verdicts::Footprint>(unknown("no workload was named"));
  const SoftwareReading installed = finish_reading(reading);
  // What is installed here is none of a workload's business that is judged for another machine.
  const bool looks_at_software = !outcome.judged_as_gb10 || request.software.was_named();
  const verdicts::PreflightFacts facts{
      .machine = machine,
      .knowledge = tables,
      .now = Timestamp::now(),
      .judged = outcome.judged_as_gb10 ? verdicts::JudgedPlatform::gb10 : verdicts::JudgedPlatform::this_machine,
      .work_arguments = request.work_arguments,
      .workload = request.workload ? &*request.workload : nullptr,
      .software = looks_at_software ? &installed.software : nullptr,
      .playbook = request.playbook ? &*request.playbook : nullptr,
      .open_issues = request.open_issues ? &*request.open_issues : nullptr,
      .native_code = looks_at_software ? &installed.native_code : nullptr,
      .reserve = request.reserve,
      .with_swap = arguments.has("--with-swap"),
      .footprint = footprint ? &*footprint : nullptr,
      .footprint_unknown = footprint.reason()};
  outcome.result = verdicts::run_preflight(facts, select_checks(request, facts));
  return outcome;
}

/// Whether waiting can still help: memory of a stopped server comes back late.
bool memory_is_short(const verdicts::PreflightResult& result) {
  const auto& budget = result.budget;
  if (budget && budget->headroom_after_flush && *budget->headroom_after_flush < verdicts::k_small_headroom) return true;
  return std::any_of(result.findings.begin(), result.findings.end(), [](const Finding& finding) {
    return (finding.id == "G3" || finding.id == "G6") &&
           (finding.status == Status::warn || finding.status == Status::fail);
  });
}

Outcome run_until_headroom(const Request& request, const Arguments& arguments, const knowledge::Tables& tables) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds k_pause{1000};
  const auto end = Clock::now() + std::chrono::duration<double>(request.wait_headroom.value);
  Outcome outcome = run_once(request, arguments, tables);
  bool told = false;
  while (request.root.is_live() && memory_is_short(outcome.result) && Clock::now() < end) {
    if (!told)
      std::fprintf(stderr, "sparkops: memory is short, waiting up to %s for it to come back\n",
                   format_duration(request.wait_headroom).c_str());
    told = true;
    std::this_thread::sleep_until(std::min(Clock::now() + k_pause, std::chrono::time_point_cast<Clock::duration>(end)));
    outcome = run_once(request, arguments, tables);
  }
  return outcome;
}

ExitCode code_of(const verdicts::PreflightVerdict& verdict, bool strict) {
  if (verdict.not_a_spark || verdict.found_out_nothing) return ExitCode::could_not_find_out;
  if (verdict.readiness == verdicts::Readiness::blocked) return ExitCode::answer_is_no;
  if (strict && verdict.readiness == verdicts::Readiness::ready_with_warnings) return ExitCode::answer_is_no;
  return ExitCode::done;
}

/// The verdict is printed whether or not its file can be written.
ExitCode write_report(const Arguments& arguments, const verdicts::PreflightResult& result) {
  if (!arguments.has("--report")) return ExitCode::done;
  const std::string path = arguments.value("--report", "env-report.json");
  const auto written = store::write_report_file(path, views::env_report_json(result, Timestamp::now()));
  if (!written) return report_error(Error{written.error().kind, "--report " + written.error().message});
  std::fprintf(stderr, "sparkops: wrote %s\n", printable(path).c_str());
  return ExitCode::done;
}

ExitCode run_preflight_command(const Arguments& arguments) {
  const auto request = parse_request(arguments);
  if (!request) return report_error(request.error());
  if (arguments.has("--image")) {
    const bool has_gpu = Root::live().exists("proc/driver/nvidia/version");
    return report_error(run_in_image(arguments, arguments.value("--image"), has_gpu));
  }
  const knowledge::Tables tables;
  const Outcome outcome = run_until_headroom(*request, arguments, tables);
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);

  const views::PreflightSubject subject{request->root.name(), outcome.taken, outcome.judged_as_gb10,
                                        request->workload ? request->workload->name : ""};
  const auto detail = arguments.has("--verbose") ? views::Detail::verbose : views::Detail::brief;
  const ExitCode output =
      write_output(arguments.has("--json")
                       ? views::preflight_json(outcome.result, subject)
                       : views::preflight_text(outcome.result, detail, views::style_for_descriptor(STDOUT_FILENO)));
  const ExitCode report = write_report(arguments, outcome.result);
  if (output != ExitCode::done) return output;
  return report == ExitCode::done ? code_of(outcome.result.verdict, arguments.has("--strict")) : report;
}

}  // namespace

CommandSpec preflight_command() {
  return {
      .name = "preflight",
      .moment = Moment::before,
      .shown_first = true,
      .summary = "is this box ready? the ten gotchas G1 to G10, one verdict",
      .description =
          "Looks at this machine (and at the work, when you name it) and prints one line for each gotcha, the headroom "
          "of the memory pool, and one verdict: ready, ready-with-warnings or blocked. Takes milliseconds on an idle "
          "box and about a second on a busy one. Changes nothing, needs no root, runs nothing of yours.\n"
          "\n"
          "PASS: looked, and it is right. FAIL: this will break or has broken the run. WARN: will probably cost you. "
          "INFO: a reading, or not applicable. SKIP: should have looked and could not; the line says why.",
      .positional = "",
      .positional_help = "",
      .positional_max = 0,
      .takes_command = true,
      .options =
          {{"--workload", "FILE|DIR",
            "the work: a configuration, compose file, launch script, env file, or a folder of them; read, never run",
            OptionSpec::Takes::value, false},
           k_packages_option,
           k_python_option,
           k_env_option,
           k_pid_option,
           k_container_option,
           k_image_option,
           {"--only", "LIST", "only these checks, e.g. G3,G6", OptionSpec::Takes::value, true},
           {"--platform", "gb10|this",
            "judge the workload or list for a GB10 or for this machine (default: gb10 with --workload or --packages on "
            "a machine that is none)",
            OptionSpec::Takes::value, false},
           {"--report", "FILE", "also write env-report.json (or FILE)", OptionSpec::Takes::optional_value, false},
           {"--playbook", "DIR", "a clone of NVIDIA's playbooks, or one playbook in it, that you follow",
            OptionSpec::Takes::value, false},
           {"--online", "", "ask GitHub for the playbook's open issues (the only use of the network; at most 5s)",
            OptionSpec::Takes::nothing, false},
           {"--wait-headroom", "DURATION", "wait this long for memory of a stopped server to come back, e.g. 2m",
            OptionSpec::Takes::value, false},
           {"--settle", "DURATION", "how long to watch a busy GPU (default 1s)", OptionSpec::Takes::value, false},
           {"--reserve", "SIZE", "memory left to the system (default 6GiB)", OptionSpec::Takes::value, false},
           {"--with-swap", "", "count free swap as available memory", OptionSpec::Takes::nothing, false},
           {"--strict", "", "exit 1 on warnings too", OptionSpec::Takes::nothing, false},
           k_root_option,
           k_json_option,
           k_verbose_option},
      .examples = {"sparkops preflight", "sparkops preflight --only G3,G6 --verbose",
                   "sparkops preflight --workload compose.yaml", "sparkops preflight --only G1,G9 --env ~/venv",
                   "sparkops preflight --packages freeze.txt",
                   "sparkops preflight --report -- torchrun --nnodes 2 train.py"},
      .run = run_preflight_command,
  };
}

}  // namespace sparkops::commands
