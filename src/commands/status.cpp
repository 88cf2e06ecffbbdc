#include "verdicts/status.h"

#include <unistd.h>

#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "facts/machine/machine.h"
#include "views/status.h"

namespace sparkops::commands {

namespace {

ExitCode run_status(const Arguments& arguments) {
  const auto root = root_from(arguments);
  if (!root) return report_error(root.error());
  facts::MachineReadOptions options;
  options.gpu.settle = std::chrono::milliseconds(0);  // a glance does not wait
  options.kernel_log = false;
  options.network_links = false;
  options.cached_files = false;
  const facts::Machine machine = facts::read_machine(*root, options);
  const verdicts::BoxStatus status = verdicts::summarize(machine);
  const ExitCode written =
      write_output(arguments.has("--json") ? views::status_json(status, root->name())
                                           : views::status_text(status, views::style_for_descriptor(STDOUT_FILENO)));
  if (written != ExitCode::done) return written;
  return status.budget || status.gpu ? ExitCode::done : ExitCode::could_not_find_out;
}

}  // namespace

CommandSpec status_command() {
  return {
      .name = "status",
      .moment = Moment::any_time,
      .shown_first = true,
      .summary = "the box at a glance: pool, GPU clock state, who holds it, what next",
      .description = "At most ten lines. This is also what sparkops prints without a command.",
      .positional = "",
      .positional_help = "",
      .positional_max = 0,
      .takes_command = false,
      .options = {k_root_option, k_json_option},
      .examples = {"sparkops", "sparkops status --json"},
      .run = run_status,
  };
}

}  // namespace sparkops::commands
