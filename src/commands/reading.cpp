#include "commands/reading.h"

namespace sparkops::commands {

namespace {

Error with_option(std::string_view name, Error error) {
  error.message = std::string(name) + ": " + error.message;
  return error;
}

}  // namespace

Result<Root> root_from(const Arguments& arguments) {
  if (!arguments.has("--root")) return Root::live();
  return Root::open(arguments.value("--root")).map_error([](Error error) {
    // The user named it: whatever is wrong with it is wrong input.
    return Error{ErrorKind::usage, std::move(error.message)};
  });
}

Result<Bytes> size_option(const Arguments& arguments, std::string_view name, Bytes fallback) {
  if (!arguments.has(name)) return fallback;
  return parse_size(arguments.value(name)).map_error([&](Error error) { return with_option(name, std::move(error)); });
}

Result<Seconds> duration_option(const Arguments& arguments, std::string_view name, Seconds fallback) {
  if (!arguments.has(name)) return fallback;
  return parse_duration(arguments.value(name)).map_error([&](Error error) {
    return with_option(name, std::move(error));
  });
}

std::vector<std::string> notes_of(const facts::WalkedFiles& walked) {
  std::vector<std::string> notes;
  const auto count = [](std::int64_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
  };
  if (walked.symlinks > 0)
    notes.push_back(
        count(walked.symlinks, "symlink", "symlinks") +
        " not followed: name the directory where the files themselves lie (of a Hugging Face cache: blobs)");
  if (walked.other_file_systems > 0)
    notes.push_back(count(walked.other_file_systems, "mount point", "mount points") + " not entered: name them");
  if (walked.unreadable > 0)
    notes.push_back(count(walked.unreadable, "directory", "directories") + " could not be read (needs root)");
  if (!walked.all)
    notes.push_back("only the first " + std::to_string(facts::k_most_walked_files) + " files, no deeper than " +
                    std::to_string(facts::k_deepest_walk) + " directories");
  return notes;
}

ExitCode report_error(const Error& error) {
  const bool usage = error.kind == ErrorKind::usage;
  return fail_with(usage ? ExitCode::usage : ExitCode::could_not_find_out, error.message);
}

}  // namespace sparkops::commands
