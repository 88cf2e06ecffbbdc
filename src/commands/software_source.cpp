#include "commands/software_source.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "facts/software/package_list.h"
#include "facts/software/process_environment.h"

namespace sparkops::commands {

namespace {

constexpr std::chrono::seconds k_deadline{10};
constexpr std::array<std::string_view, 5> k_naming{"--packages", "--python", "--env", "--pid", "--container"};

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto whole = std::filesystem::absolute(path, ignored);
  return ignored ? path : whole.lexically_normal().string();
}

bool runs_no_python(facts::ServerKind server) {
  return server == facts::ServerKind::ollama || server == facts::ServerKind::llama_cpp ||
         server == facts::ServerKind::lm_studio;
}

Result<void> name_process(const Arguments& arguments, const Root& root, SoftwareSource& source) {
  if (!root.is_live()) return failure(ErrorKind::usage, "--pid and --container look at this machine: leave --root out");
  if (arguments.has("--pid")) {
    const auto pid = parse_integer(arguments.value("--pid"));
    if (!pid || *pid <= 0) return failure(ErrorKind::usage, "--pid: the number of a process");
    if (!root.exists("proc/" + std::to_string(*pid)))
      return failure(ErrorKind::usage, "--pid: there is no process " + std::to_string(*pid));
    source.pid = *pid;
    return {};
  }
  const auto pid = facts::find_container_process(root, arguments.value("--container"));
  if (!pid && pid.error().kind == ErrorKind::not_found)
    return failure(ErrorKind::usage, "--container: " + pid.error().message);
  if (pid)
    source.pid = *pid;
  else
    source.not_there = pid.error().message;
  return {};
}

/// Only where torch is: without it nothing here needs CUDA, and reading libraries costs time.
Known<facts::NativeCode> native_code_of(const Root& root, const facts::Software& software) {
  const facts::PythonEnvironment* const environment = software.environment();
  if (environment == nullptr)
    return unknown(software.environments ? "there is no Python here" : software.environments.reason());
  if (environment->torch.empty() && environment->find("torch") == nullptr)
    return unknown("no torch in " + environment->prefix);
  if (!root.is_live() && root.exists("sparkops/capture.json") && !root.exists("sparkops/libraries.json"))
    return unknown("this capture holds no libraries");
  facts::Libraries libraries(root);
  return as_read(facts::read_native_code(libraries, *environment, software.variables));
}

}  // namespace

Result<SoftwareSource> software_source_from(const Arguments& arguments, const Root& root) {
  SoftwareSource source;
  std::string_view named;
  for (const std::string_view option : k_naming) {
    if (!arguments.has(option)) continue;
    if (!named.empty())
      return failure(ErrorKind::usage,
                     std::string(named) + " and " + std::string(option) + " both name packages: give one of them");
    named = option;
  }
  if (named.empty()) return source;
  const std::string value = arguments.value(named);
  source.arguments = std::string(named) + " " + shell_quoted({value});
  if (named == "--packages") {
    auto list = facts::read_package_list(value);
    if (!list) return tl::unexpected(list.error());
    source.declared = std::move(*list);
    return source;
  }
  if (named == "--pid" || named == "--container") {
    if (const auto process = name_process(arguments, root, source); !process) return tl::unexpected(process.error());
    return source;
  }
  const std::string path = root.is_live() ? absolute(value) : value;
  (named == "--python" ? source.request.python : source.request.directory) = path;
  const bool there = root.exists(path) || root.read_link(path).has_value();
  if (!there)
    return failure(ErrorKind::usage, std::string(named) + " " + value + ": there is no such file or directory");
  return source;
}

void aim_at_work(SoftwareSource& source, const facts::Workload& workload, const std::vector<std::string>& command) {
  if (source.was_named()) return;
  for (const facts::Launch& launch : workload.launches) {
    if (launch.image)
      source.not_there = "the work runs in the image " + printable(*launch.image, 120) +
                         ", which is looked into by sparkops preflight --image";
    else if (launch.server && runs_no_python(*launch.server))
      source.not_there = std::string(facts::to_string(*launch.server)) + " runs no Python";
  }
  if (command.empty() || !contains(command.front(), "/")) return;
  const std::string program = absolute(command.front());
  const bool is_python = std::filesystem::path(program).filename().string().starts_with("python");
  if (is_python && Root::live().exists(program)) source.request = {program, "", "the command"};
}

facts::TimedPart<SoftwareReading> start_reading(const SoftwareSource& source, const Root& root) {
  return {"the reading of installed packages", [source, root]() -> Known<SoftwareReading> {
            SoftwareReading reading;
            Root seen = root;
            if (source.declared) {
              reading.software = *source.declared;
              reading.native_code = unknown("a list of packages holds no libraries");
              return as_read(std::move(reading));
            }
            if (!source.not_there.empty()) {
              reading.software.environments = unknown(source.not_there);
            } else if (source.pid > 0) {
              reading.software = facts::read_software_of_process(source.pid);
              if (auto of_process = Root::of_process(source.pid)) seen = *of_process;
            } else {
              auto read = facts::read_software(root, source.request);
              if (read)
                reading.software = std::move(*read);
              else
                reading.software.environments = unknown(read.error());
            }
            reading.native_code = native_code_of(seen, reading.software);
            return as_read(std::move(reading));
          }};
}

SoftwareReading finish_reading(const facts::TimedPart<SoftwareReading>& part) {
  auto reading = part.wait_until(std::chrono::steady_clock::now() + k_deadline);
  if (reading) return *reading;
  SoftwareReading unread;
  unread.software.environments = unknown(reading.reason());
  unread.native_code = unknown(reading.reason());
  return unread;
}

Error run_in_image(const Arguments& arguments, const std::string& image, bool has_gpu) {
  if (image.empty() || image.starts_with('-')) return {ErrorKind::usage, "--image: the name of an image that is here"};
  std::error_code problem;
  const auto self = std::filesystem::read_symlink(Root::own_program_link(), problem);
  if (problem)
    return {ErrorKind::input_output, "--image: the path of this program is not known (" + problem.message() + ")"};
  std::vector<std::string> words{"docker", "run", "--rm", "--network=none", "--pull=never"};
  if (has_gpu) words.insert(words.end(), {"--runtime=nvidia", "--gpus", "all"});
  words.insert(words.end(),
               {"--volume", self.string() + ":/sparkops:ro", "--entrypoint", "/sparkops", image, "preflight"});
  for (const auto& [name, values] : arguments.options) {
    if (name == "--image" || name == "--report") continue;
    for (const std::string& value : values) {
      words.push_back(name);
      if (!value.empty()) words.back() += "=" + value;
    }
  }
  if (!arguments.has("--only")) words.emplace_back("--only=G1,G2,G7,G9");
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp("docker", pointers.data());
  return system_error("--image: docker could not be started", errno);
}

}  // namespace sparkops::commands
