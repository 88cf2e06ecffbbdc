#include "views/inspect.h"

#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/reading.h"
#include "facts/machine/identity.h"
#include "facts/software/cuda_runtimes.h"
#include "facts/software/inspected_file.h"
#include "facts/workload/model.h"
#include "verdicts/sm121_code.h"
#include "views/inspect_model.h"

namespace sparkops::commands {

namespace {

/// As the root wants it: absolute, where the file of this machine was named relative to where we stand.
std::string path_in(const Root& root, const std::string& path) {
  if (!root.is_live()) return path;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

/// The CUDA of the loaded driver, by its version: asking NVML would cost more than the whole listing.
Known<int> driver_cuda(const Root& root) {
  const Known<std::string> driver = facts::read_identity(root).driver_version;
  if (!driver) return driver.as_unknown();
  const Known<std::string> cuda = facts::cuda_version_of_driver(*driver);
  if (!cuda) return cuda.as_unknown();
  const auto major = parse_integer(std::string_view(*cuda).substr(0, cuda->find('.')));
  const auto minor = parse_integer(std::string_view(*cuda).substr(cuda->find('.') + 1));
  if (!major || !minor) return unknown("no version: " + *cuda);
  return Known<int>(static_cast<int>(1000 * *major + 10 * *minor), cuda.provenance());
}

ExitCode inspect_code(const Root& root, const std::shared_ptr<const RandomAccessFile>& file,
                      const Arguments& arguments) {
  const auto objects = arguments.has("--verbose") ? facts::ObjectList::every_object : facts::ObjectList::groups_only;
  const auto inspection = facts::inspect_file(file, objects);
  if (!inspection) {
    const bool other_kind = inspection.error().kind == ErrorKind::unsupported;
    return fail_with(other_kind ? ExitCode::usage : ExitCode::could_not_find_out, inspection.error().message);
  }
  views::InspectedCode inspected{*inspection, {}, driver_cuda(root)};
  const bool is_archive = inspection->file.kind == facts::InspectedKind::archive;
  if (!is_archive) inspected.code.push_back(verdicts::judge_inspected(inspection->file, inspected.driver_cuda));
  for (const facts::InspectedFile& member : inspection->members)
    inspected.code.push_back(verdicts::judge_inspected(member, inspected.driver_cuda));
  return write_output(arguments.has("--json")
                          ? views::inspect_json(inspected)
                          : views::inspect_text(inspected, views::style_for_descriptor(STDOUT_FILENO)));
}

/// A directory, or a file whose name is one of a model's.
bool names_model(const Root& root, const std::string& path) {
  const auto status = root.status(path);
  if (status && status->kind == FileKind::directory) return true;
  return path.ends_with(".safetensors") || path.ends_with(".gguf") || path.ends_with(".json");
}

ExitCode inspect_model(const Root& root, const std::string& path, const Arguments& arguments) {
  const auto model = facts::read_model(root, path);
  if (!model) {
    const bool is_absent = model.error().kind == ErrorKind::not_found;
    return fail_with(is_absent ? ExitCode::usage : ExitCode::could_not_find_out, model.error().message);
  }
  return write_output(arguments.has("--json")
                          ? views::inspect_model_json(*model)
                          : views::inspect_model_text(*model, views::style_for_descriptor(STDOUT_FILENO)));
}

ExitCode run_inspect(const Arguments& arguments) {
  if (arguments.positionals.empty())
    return fail_with(ExitCode::usage, "inspect needs a FILE, e.g. sparkops inspect libcublas.so.13");
  const auto root = root_from(arguments);
  if (!root) return report_error(root.error());
  const std::string path = path_in(*root, arguments.positionals[0]);
  if (names_model(*root, path)) return inspect_model(*root, path, arguments);
  const auto file = root->open_file(path);
  // The user named it: that it is not there, or is no file, is a wrong command line.
  if (!file) return fail_with(ExitCode::usage, file.error().message);
  return inspect_code(*root, *file, arguments);
}

}  // namespace

CommandSpec inspect_command() {
  return {
      .name = "inspect",
      .moment = Moment::always,
      .shown_first = false,
      .summary = "a library, cubin, wheel or model file: what it needs, for which GPUs its code was built",
      .description =
          "Reads headers only, also of a library of two gigabytes, and leaves the page cache as it was. Of a shared "
          "library: soname, what it needs, search paths, and every group of CUDA code objects with whether it runs on "
          "a "
          "GB10 (compute capability 12.1): as machine code, compiled by the driver from PTX at the first start, or not "
          "at all. Of a wheel or other zip archive: the same for each library inside, without unpacking it to disk. "
          "--verbose lists every single code object. Of a model (a directory, config.json, safetensors or GGUF file): "
          "the "
          "facts that a plan starts from.",
      .positional = "FILE",
      .positional_help = "a library (.so), program, cubin, fat binary, PTX text, wheel, or a model's file or directory",
      .positional_max = 1,
      .takes_command = false,
      .options = {k_root_option,
                  k_json_option,
                  {"--verbose", "", "list every single code object", OptionSpec::Takes::nothing, false}},
      .examples = {"sparkops inspect libcublasLt.so.13",
                   "sparkops inspect --json bitsandbytes-0.49.2-py3-none-any.whl"},
      .run = run_inspect,
  };
}

}  // namespace sparkops::commands
