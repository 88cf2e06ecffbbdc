#pragma once

#include "base/quantities.h"
#include "base/result.h"
#include "base/root.h"
#include "commands/command.h"
#include "facts/machine/file_walk.h"

namespace sparkops::commands {

/// The root that --root names, or this machine.
[[nodiscard]] Result<Root> root_from(const Arguments& arguments);

/// The value of a size or duration option, or `fallback` when it is not given. The message names the option.
[[nodiscard]] Result<Bytes> size_option(const Arguments& arguments, std::string_view name, Bytes fallback);
[[nodiscard]] Result<Seconds> duration_option(const Arguments& arguments, std::string_view name, Seconds fallback);

/// What a person should know about a walk: "3 symlinks not followed" …
[[nodiscard]] std::vector<std::string> notes_of(const facts::WalkedFiles& walked);

/// Usage errors end with code 2, everything else could not be found out.
[[nodiscard]] ExitCode report_error(const Error& error);

}  // namespace sparkops::commands
