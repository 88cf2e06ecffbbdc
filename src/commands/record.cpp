#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "runtime/recorder.h"

namespace sparkops::commands {

namespace {

using runtime::Recorder;
using std::chrono::milliseconds;

constexpr Seconds k_default_interval{30};
constexpr Seconds k_shortest_interval{0.1};
constexpr Seconds k_longest_interval{24 * 3600.0};
constexpr std::string_view k_default_log = "thermal.log";

milliseconds in_milliseconds(Seconds seconds) {
  constexpr double k_ms_per_s = 1000;
  return milliseconds(std::llround(seconds.value * k_ms_per_s));
}

Result<Seconds> interval_of(const Arguments& arguments) {
  auto interval = duration_option(arguments, "--interval", k_default_interval);
  if (!arguments.positionals.empty()) {
    if (arguments.has("--interval"))
      return failure(ErrorKind::usage, "INTERVAL and --interval name the same: give one of them");
    interval = parse_duration(arguments.positionals[0]);
  }
  if (interval && (*interval < k_shortest_interval || *interval > k_longest_interval))
    return failure(ErrorKind::usage, "the interval lies between 0.1 s and 24 h");
  return interval;
}

Result<Recorder::Options> options_of(const Arguments& arguments) {
  const auto interval = interval_of(arguments);
  if (!interval) return tl::unexpected(interval.error());
  Recorder::Options options;
  options.interval = in_milliseconds(*interval);
  if (arguments.has("--duration")) {
    const auto duration = duration_option(arguments, "--duration", Seconds{0});
    if (!duration) return tl::unexpected(duration.error());
    constexpr Seconds k_year{366 * 24 * 3600.0};
    if (*duration > k_year) return failure(ErrorKind::usage, "--duration: at most a year");
    options.duration = in_milliseconds(*duration);
  }
  if (arguments.positionals.size() > 1)
    options.log = arguments.positionals[1];
  else if (!arguments.has("--json"))
    options.log = k_default_log;
  for (const std::string& list : arguments.values("--columns")) {
    const auto columns = store::parse_columns(list);
    if (!columns) return tl::unexpected(columns.error());
    options.columns.insert(options.columns.end(), columns->begin(), columns->end());
  }
  options.textfile_directory = arguments.value("--textfile");
  if (arguments.has("--json") && arguments.has("--background"))
    return failure(ErrorKind::usage, "--json writes to stdout, which --background closes: give one of them");
  return options;
}

/// What is said once, when the recorder stands.
std::string announcement(const Recorder& recorder, const Recorder::Options& options) {
  std::string text;
  if (recorder.predecessor()) text += fmt::format("Stopped the sampler before (pid {})\n", *recorder.predecessor());
  constexpr double k_ms_per_s = 1000;
  if (!options.log.empty())
    text += fmt::format("Sampling every {:g} s into {} (pid {})\n",
                        static_cast<double>(options.interval.count()) / k_ms_per_s, printable(options.log), ::getpid());
  if (!recorder.gpu_name())
    text += fmt::format("No GPU readings ({}); memory is recorded, GPU columns say [N/A]\n",
                        printable(recorder.gpu_name().reason()));
  return text;
}

ExitCode run_here(Recorder::Options options, bool as_json) {
  if (as_json) {
    std::signal(SIGPIPE, SIG_IGN);
    store::Columns columns = store::samples_columns();
    for (std::size_t i = store::thermal_columns().size(); i < options.columns.size(); ++i)
      if (std::find(columns.begin(), columns.end(), options.columns[i]) == columns.end())
        columns.push_back(options.columns[i]);
    options.on_sample = [columns](const store::Sample& sample, const Known<facts::GpuSample>& gpu) {
      // A reader that went away ends the recorder as it would end any program.
      if (write_output(store::json_line(sample, columns, gpu.reason())) != ExitCode::done) std::raise(SIGTERM);
    };
  }
  options.tell = [](std::string_view problem) { std::fprintf(stderr, "sparkops: %s\n", std::string(problem).c_str()); };
  const auto recorder = Recorder::open(options);
  if (!recorder) return report_error(recorder.error());
  const std::string said = announcement(**recorder, options);
  std::fprintf(as_json ? stderr : stdout, "%s", said.c_str());
  std::fflush(stdout);
  (*recorder)->run();
  return ExitCode::done;
}

/// The recorder's process of --background: says through `report` how it went and then belongs to nobody.
[[noreturn]] void run_detached(const Recorder::Options& options, FileDescriptor report) {
  ::setsid();
  std::signal(SIGHUP, SIG_IGN);
  const auto recorder = Recorder::open(options);
  const std::string said =
      recorder ? "\n" + announcement(**recorder, options)
               : std::string(1, recorder.error().kind == ErrorKind::usage ? '2' : '3') + recorder.error().message;
  const bool told = ::write(report.get(), said.data(), said.size()) == static_cast<ssize_t>(said.size());
  report = FileDescriptor();
  if (!recorder || !told) ::_exit(static_cast<int>(ExitCode::could_not_find_out));
  const FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), standard);
  (*recorder)->run();
  ::_exit(0);
}

ExitCode run_in_background(const Recorder::Options& options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return report_error(system_error("pipe2", errno));
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return report_error(system_error("fork", errno));
  if (child == 0) run_detached(options, std::move(writing));
  writing = FileDescriptor();
  std::string said;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(reading.get(), buffer.data(), buffer.size())) > 0;)
    said.append(buffer.data(), static_cast<std::size_t>(count));
  if (said.starts_with('\n')) return write_output(said.substr(1));
  if (said.empty()) return fail_with(ExitCode::could_not_find_out, "the recorder ended before it began");
  return fail_with(said[0] == '2' ? ExitCode::usage : ExitCode::could_not_find_out, said.substr(1));
}

ExitCode run_record(const Arguments& arguments) {
  const auto options = options_of(arguments);
  if (!options) return report_error(options.error());
  return arguments.has("--background") ? run_in_background(*options) : run_here(*options, arguments.has("--json"));
}

}  // namespace

CommandSpec record_command() {
  return {
      .name = "record",
      .moment = Moment::during,
      .shown_first = false,
      .summary = "temperature, power and memory as a log, beside whatever runs",
      .description =
          "Writes a line every INTERVAL seconds (30) into LOGFILE (thermal.log), in nvidia-smi's own form:\n"
          "timestamp,temperature.gpu,power.draw and what --columns adds. A reading that fails is [N/A]; a driver that "
          "hangs does not stop the clock.\n"
          "An older log is kept as LOGFILE.1; a second recorder on the same LOGFILE ends the first. Lines are on disk "
          "within a second. Ends with --duration, Ctrl-C or SIGTERM.\n"
          "With --json samples go to stdout, one object a line, and to LOGFILE only where one is named.",
      .positional = "[INTERVAL] [LOGFILE]",
      .positional_help = "seconds between two samples (0.1 or more; also 500ms, 2m), and the file",
      .positional_max = 2,
      .takes_command = false,
      .options = {{"--interval", "TIME", "the same as INTERVAL", OptionSpec::Takes::value, false},
                  {"--columns", "LIST", "further columns: clocks.sm,utilization.gpu,mem.available,…",
                   OptionSpec::Takes::value, true},
                  {"--duration", "TIME", "end after this time", OptionSpec::Takes::value, false},
                  {"--background", "", "go on after this command has ended", OptionSpec::Takes::nothing, false},
                  {"--textfile", "DIR", "also write DIR/sparkops.prom for node_exporter", OptionSpec::Takes::value,
                   false},
                  k_json_option},
      .examples = {"sparkops record 5 thermal.log --background", "sparkops record --interval 1 --json --duration 10s",
                   "sparkops record 1 run.csv --columns clocks.sm,utilization.gpu,mem.available"},
      .run = run_record,
  };
}

}  // namespace sparkops::commands
