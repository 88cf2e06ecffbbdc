#include "views/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "facts/machine/file_walk.h"
#include "facts/machine/machine.h"
#include "facts/machine/memory_cached_files.h"
#include "knowledge/tables.h"
#include "verdicts/memory/picture.h"

namespace sparkops::commands {

namespace {

/// The files that were named and what is worth knowing about the way they were found.
struct Named {
  std::vector<facts::NamedFile> files;
  std::vector<std::string> notes;
};

Result<Named> read_named(const Root& root, const std::vector<std::string>& paths,
                         const Known<std::vector<facts::CachedFile>>& cached) {
  if (!root.is_live()) return Named{facts::captured_named_files(cached, paths), {}};
  auto walked = facts::walk_files(paths);
  // The person named it: whatever is wrong with it is wrong input.
  if (!walked) return failure(ErrorKind::usage, walked.error().message);
  return Named{facts::read_named_files(walked->files), notes_of(*walked)};
}

ExitCode run_memory(const Arguments& arguments) {
  const auto root = root_from(arguments);
  if (!root) return report_error(root.error());
  const auto reserve = size_option(arguments, "--reserve", verdicts::k_default_reserve);
  if (!reserve) return report_error(reserve.error());
  if (reserve->value < 0) return fail_with(ExitCode::usage, "--reserve: a size that is not negative");

  facts::MachineReadOptions options;
  options.gpu.settle = std::chrono::milliseconds(0);
  options.kernel_log = false;
  options.network_links = false;
  options.memory_picture = true;
  const facts::Machine machine = facts::read_machine(*root, options);
  const knowledge::Tables tables;
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);
  const verdicts::MemoryPicture picture = verdicts::picture_memory(machine, tables, *reserve);

  views::MemorySubject subject{root->name(), !root->is_live(), nullptr, {}};
  std::optional<Named> named;
  if (!arguments.positionals.empty()) {
    auto reading = read_named(*root, arguments.positionals, picture.files);
    if (!reading) return report_error(reading.error());
    named = std::move(*reading);
    subject.named = &named->files;
    subject.named_notes = named->notes;
  }
  const auto detail = arguments.has("--verbose") ? views::Detail::verbose : views::Detail::brief;
  const ExitCode written =
      write_output(arguments.has("--json")
                       ? views::memory_json(picture, subject)
                       : views::memory_text(picture, subject, detail, views::style_for_descriptor(STDOUT_FILENO)));
  if (written != ExitCode::done) return written;
  return picture.budget && picture.budget->total ? ExitCode::done : ExitCode::could_not_find_out;
}

}  // namespace

CommandSpec memory_command() {
  return {
      .name = "memory",
      .moment = Moment::any_time,
      .shown_first = true,
      .summary = "who holds the memory pool, which files fill its cache, what a flush gives",
      .description =
          "CPU and GPU share one pool. This shows all of it: a bar and a table whose parts add up, the headroom now "
          "and "
          "after a flush, the processes that hold it with owner, container and cap, memory that nobody living answers "
          "for, and the files that hold the page cache.\n"
          "\n"
          "With FILE or DIR also how much of each of those files is cached; symlinks inside a directory are not "
          "followed. Of files that are not yours the kernel does not tell without root; they are unknown, not zero. "
          "Changes nothing, reads none of the files.",
      .positional = "[FILE|DIR…]",
      .positional_help = "files, or directories with everything below them, to look at in the page cache",
      .positional_max = k_most_positionals,
      .takes_command = false,
      .options = {{"--reserve", "SIZE", "memory left to the system (default 6GiB)", OptionSpec::Takes::value, false},
                  k_root_option,
                  k_json_option,
                  k_verbose_option},
      .examples = {"sparkops memory", "sparkops memory ~/models/model.safetensors",
                   "sparkops memory --root spark.machine --verbose"},
      .run = run_memory,
  };
}

}  // namespace sparkops::commands
