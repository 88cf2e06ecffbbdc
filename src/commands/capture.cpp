#include "store/capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "store/capture_output.h"
#include "store/json_form.h"

namespace sparkops::commands {

namespace {

constexpr std::string_view k_extension = ".machine";
constexpr Seconds k_default_duration{3};
constexpr Seconds k_longest_duration{600};

std::string summary(const std::string& path, const store::Capture& capture) {
  std::vector<std::string> redacted;
  for (const auto& [kind, count] : capture.redacted)
    if (count > 0) redacted.push_back(fmt::format("{} {}", count, kind));
  std::string text = fmt::format("captured {} files and links in {}\nredacted: {}\n", capture.entries.size(), path,
                                 redacted.empty() ? "nothing was found" : join(redacted, ", "));
  for (const std::string& what : capture.left_out) text += "left out: " + what + "\n";
  return text + fmt::format("read it before you pass it on; look at it with: sparkops preflight --root {}\n",
                            shell_quoted({path}));
}

std::string summary_json(const std::string& path, const store::Capture& capture) {
  store::Json document;
  document["schema"] = "sparkops.capture/1";
  document["path"] = printable(path);
  document["entries"] = capture.entries.size();
  document["redacted"] = store::Json::object();
  for (const auto& [kind, count] : capture.redacted) document["redacted"][kind] = count;
  document["left_out"] = capture.left_out;
  constexpr int k_indent = 2;
  return document.dump(k_indent, ' ', false, store::Json::error_handler_t::replace) + "\n";
}

/// A person waiting for seconds is told why; a pipe is not.
void show_progress(std::string_view what) {
  if (::isatty(STDERR_FILENO) == 0) return;
  const std::string line = fmt::format("sparkops: {} …\n", what);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// One line on stderr, also where stdout goes to a file or is JSON: nobody should find hundreds of files by accident.
void say_what_was_written(const std::string& path, const store::Written& written, std::string_view as_typed) {
  const std::string size = format_size(written.size);
  const bool as_file = path.ends_with(k_extension);
  // With a slash behind it a name says that a directory is wanted.
  const std::string_view why =
      as_typed.ends_with('/') ? "" : ", because the name does not end in .machine (that would be one file)";
  fail_with(ExitCode::done,
            as_file ? fmt::format("wrote {} ({})", path, size)
                    : fmt::format("wrote a directory tree{}: {} ({} files, {})", why, path, written.files, size));
}

ExitCode run_capture(const Arguments& arguments) {
  if (arguments.positionals.size() != 1 || arguments.positionals[0].empty())
    return fail_with(ExitCode::usage, "capture: name the file to write, e.g. sparkops capture spark.machine");
  std::string path = arguments.positionals[0];
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto duration = duration_option(arguments, "--seconds", k_default_duration);
  if (!duration) return report_error(duration.error());
  if (duration->value > k_longest_duration.value) return fail_with(ExitCode::usage, "--seconds: at most 600");
  if (const auto usable = store::check_capture_name(path); !usable) return report_error(usable.error());
  const auto root = root_from(arguments);
  if (!root) return report_error(root.error());

  const store::Capture capture = store::take_capture(*root, {*duration, show_progress});
  const bool as_file = path.ends_with(k_extension);
  const auto written =
      as_file ? store::write_capture_file(path, capture.entries) : store::write_capture_tree(path, capture.entries);
  if (!written) return report_error(written.error());
  const ExitCode code = write_output(arguments.has("--json") ? summary_json(path, capture) : summary(path, capture));
  say_what_was_written(path, *written, arguments.positionals[0]);
  return code;
}

}  // namespace

CommandSpec capture_command() {
  CommandSpec command;
  command.name = "capture";
  command.moment = Moment::always;
  command.summary = "this machine as one file, for a bug report or to look at elsewhere";
  command.description =
      "Writes what sparkops reads about this machine into one text file (NAME.machine) or, under any other name, into "
      "a directory tree of hundreds of files. Every command takes it with --root and gives the answers it would have "
      "given here.\n\n"
      "User and host names, addresses, serial numbers, UUIDs and secrets in command lines and environments are "
      "replaced by placeholders, always; the same value gets the same placeholder. Of processes that have nothing to "
      "do "
      "with the GPU only the name, the state and the program are kept; of PID 1 and of sparkops itself also the cgroup "
      "and the environment (values only of variables that sparkops uses). None of your files is read. Read the file "
      "before you pass it on.\n\n"
      "The GPU is sampled twice a second for the time that --seconds gives. An existing file is never overwritten.";
  command.positional = "NAME.machine|DIR";
  command.positional_help = "the file or directory to write; it must not exist";
  command.positional_max = 1;
  command.options = {{"--seconds", "N", "sample the GPU and the memory counters for so long (default 3)",
                      OptionSpec::Takes::value, false},
                     k_root_option,
                     k_json_option};
  command.examples = {"sparkops capture spark.machine", "sparkops capture --seconds 20 under-load.machine",
                      "sparkops preflight --root spark.machine"};
  command.run = run_capture;
  return command;
}

}  // namespace sparkops::commands
