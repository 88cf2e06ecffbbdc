#pragma once

#include "base/result.h"
#include "commands/command.h"
#include "verdicts/memory/resolve_run.h"

namespace sparkops::commands {

/// The options of `plan` that describe a run.
[[nodiscard]] std::vector<OptionSpec> plan_run_options();

/// Reads them. Errors: usage, naming the option and what it takes.
[[nodiscard]] Result<verdicts::RunOverrides> parse_run_overrides(const Arguments& arguments);

/// "8e9", "8B", "30.5b", "950M" as a count of parameters. Errors: usage.
[[nodiscard]] Result<double> parse_parameter_count(std::string_view text);

}  // namespace sparkops::commands
