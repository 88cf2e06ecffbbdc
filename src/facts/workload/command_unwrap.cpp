#include "facts/workload/command_unwrap.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "facts/workload/shell_expansion.h"
#include "facts/workload/shell_reader.h"

namespace sparkops::facts {

namespace {

constexpr int k_max_wrappers = 8;
constexpr std::string_view k_command_line = "command line";

/// A program that runs another one given behind its own options.
struct Wrapper {
  std::string_view name;
  std::string_view subcommand;     ///< must follow; empty: none
  std::string_view value_options;  ///< blank-separated options that take the next word
  int positionals = 0;             ///< words of its own before the command
};

constexpr std::array<Wrapper, 30> k_wrappers = {{
    {"exec", "", "-a", 0},
    {"command", "", "", 0},
    {"nohup", "", "", 0},
    {"time", "", "-f -o", 0},
    {"setsid", "", "", 0},
    {"sudo", "", "-u -g -C -h -p", 0},
    {"nice", "", "-n", 0},
    {"ionice", "", "-c -n", 0},
    {"chrt", "", "", 1},
    {"timeout", "", "-s -k --signal --kill-after", 1},
    {"stdbuf", "", "-i -o -e", 0},
    {"taskset", "", "", 1},
    {"numactl", "", "-N -m -C -i -p", 0},
    {"env", "", "-u -C -S", 0},
    {"tini", "", "-p", 0},
    {"dumb-init", "", "", 0},
    {"catchsegv", "", "", 0},
    {"systemd-run", "", "-p -u -E --unit --property --slice", 0},
    {"uv", "run", "--with --python -p --extra --group --env-file --project --directory --index-url", 0},
    {"poetry", "run", "", 0},
    {"pipenv", "run", "", 0},
    {"pixi", "run", "-e", 0},
    {"conda", "run", "-n -p --name --prefix --cwd", 0},
    {"nsys", "profile", "-o -t -w -s --output --trace --sample --duration --delay", 0},
    {"ncu", "", "-o -k -c --set --target-processes", 0},
    {"trtllm-llmapi-launch", "", "", 0},
    {"nvidia_entrypoint.sh", "", "", 0},
    {"docker-entrypoint.sh", "", "", 0},
    {"sparkops", "run", "--workload --floor --grace --run-dir --only", 0},
    {"ssh", "", "-p -i -o -l -F -J", 1},
}};

bool is_listed(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> list = split_words(words);
  return std::find(list.begin(), list.end(), word) != list.end();
}

void drop_front(std::vector<std::string>& words, std::size_t count) {
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(count, words.size())));
}

/// Takes NAME=value words at the front into the environment.
std::size_t take_assignments(PlainCommand& command, std::size_t at) {
  for (; at < command.words.size(); ++at) {
    const std::string& word = command.words[at];
    const std::size_t length = identifier_length(word);
    if (length == 0 || length >= word.size() || word[length] != '=') break;
    command.environment.push_back({word.substr(0, length), word.substr(length + 1), std::string(k_command_line)});
  }
  return at;
}

bool strip_wrapper(PlainCommand& command) {
  const std::string name = base_name(command.words.front());
  const auto wrapper =
      std::find_if(k_wrappers.begin(), k_wrappers.end(), [&name](const Wrapper& w) { return w.name == name; });
  if (wrapper == k_wrappers.end()) return false;
  std::size_t at = 1;
  if (!wrapper->subcommand.empty()) {
    if (at >= command.words.size() || command.words[at] != wrapper->subcommand) return false;
    ++at;
  }
  while (at < command.words.size() && command.words[at].starts_with('-')) {
    const std::string& option = command.words[at];
    ++at;
    if (option == "--") break;
    if (is_listed(wrapper->value_options, option)) ++at;
  }
  at += static_cast<std::size_t>(wrapper->positionals);
  at = take_assignments(command, std::min(at, command.words.size()));
  drop_front(command.words, at);
  if (name == "ssh") {  // the rest is one text for the shell of another machine
    command.words = {"sh", "-c", join(command.words, " ")};
    command.order = LaunchOrder::in_turn;
  }
  return true;
}

/// mpirun, srun: what they say about nodes and processes, then the command.
struct Launcher {
  std::string_view value_options;
  std::string_view two_value_options;
  std::string_view process_options, node_options, host_options, environment_options;
};

constexpr Launcher k_mpirun = {
    "-np -n --np -H --host -host --hostfile -hostfile -machinefile --machinefile -x --map-by --bind-to -map-by "
    "-bind-to -N --npernode -npernode --prefix --wdir -wdir -wd --rankfile --report-bindings -env -genv",
    "--mca -mca --gmca",
    "-np -n --np",
    "",
    "-H --host -host",
    "-x"};
constexpr Launcher k_srun = {
    "-N --nodes -n --ntasks -c -p --partition -A -w --nodelist -t --time -J -o -e -G -D --mpi --container-image "
    "--container-mounts --container-workdir --ntasks-per-node --gpus-per-node --cpus-per-task --job-name --output "
    "--error --export --gres",
    "",
    "-n --ntasks",
    "-N --nodes",
    "-w --nodelist",
    ""};

void note_launcher_option(PlainCommand& command, const Launcher& launcher, std::string_view option,
                          const std::string& value) {
  const auto add = [&command](const std::string& key, const std::string& figure) {
    command.wrapper_settings.push_back({key, figure, std::string(k_command_line)});
  };
  if (is_listed(launcher.process_options, option)) add("mpi_processes", value);
  if (is_listed(launcher.node_options, option)) add("num_nodes", value);
  if (is_listed(launcher.host_options, option) && !contains(value, "["))
    add("num_hosts", std::to_string(split(value, ',').size()));
  if (is_listed(launcher.environment_options, option)) {
    const std::size_t equals = value.find('=');
    if (equals != std::string::npos)
      command.environment.push_back({value.substr(0, equals), value.substr(equals + 1), std::string(k_command_line)});
  }
}

void strip_launcher(PlainCommand& command, const Launcher& launcher) {
  std::size_t at = 1;
  const std::vector<std::string> words = command.words;
  while (at < words.size() && words[at].starts_with('-')) {
    const std::string& word = words[at];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      note_launcher_option(command, launcher, word.substr(0, equals), word.substr(equals + 1));
      at += 1;
    } else if (is_listed(launcher.two_value_options, word)) {
      if (at + 2 < words.size())
        command.environment.push_back({"OMPI_MCA_" + words[at + 1], words[at + 2], std::string(k_command_line)});
      at += 3;
    } else if (is_listed(launcher.value_options, word)) {
      if (at + 1 < words.size()) note_launcher_option(command, launcher, word, words[at + 1]);
      at += 2;
    } else {
      at += 1;
    }
  }
  drop_front(command.words, at);
}

/// Options of `docker run` that stand alone; all others take a value.
constexpr std::string_view k_docker_flags =
    "--detach --interactive --tty --rm --privileged --init --read-only --publish-all --no-healthcheck "
    "--oom-kill-disable --quiet --replace --sig-proxy --help";

bool is_docker_flag(const std::string& option) {
  if (option.starts_with("--")) return option.find('=') != std::string::npos || is_listed(k_docker_flags, option);
  // "-itd" and the like; "-p8000:8000" carries its value itself
  const bool letters_alone = option.find_first_not_of("itdPq", 1) == std::string::npos;
  return letters_alone || option.size() > 2;
}

void note_docker_option(PlainCommand& command, const std::string& option, const std::string& value,
                        std::string& entrypoint) {
  if (option == "-e" || option == "--env") {
    const std::size_t equals = value.find('=');
    if (equals != std::string::npos)
      command.environment.push_back({value.substr(0, equals), value.substr(equals + 1), std::string(k_command_line)});
  } else if (option == "--env-file") {
    command.environment_files.push_back(value);
  } else if (option == "--name") {
    command.container_name = value;
  } else if (option == "-m" || option == "--memory") {
    command.container_limits.push_back({"docker --memory", value, std::string(k_command_line)});
  } else if (option == "--entrypoint") {
    entrypoint = value;
  }
}

/// The command inside a container: false when this docker command starts none.
bool strip_docker(PlainCommand& command) {
  const std::vector<std::string> words = command.words;
  std::size_t at = 1;
  while (at < words.size() && words[at].starts_with('-')) at += words[at].find('=') == std::string::npos ? 2 : 1;
  if (at < words.size() && words[at] == "container") ++at;
  if (at >= words.size() || (words[at] != "run" && words[at] != "create" && words[at] != "exec")) return false;
  const bool is_exec = words[at] == "exec";
  ++at;
  std::string entrypoint;
  bool detached = false;
  while (at < words.size() && words[at].starts_with('-')) {
    const std::string& option = words[at];
    const std::size_t equals = option.find('=');
    detached = detached || option == "--detach" ||
               (!option.starts_with("--") && option.find('d') != std::string::npos &&
                option.find_first_not_of("itdPq", 1) == std::string::npos);
    if (equals != std::string::npos)
      note_docker_option(command, option.substr(0, equals), option.substr(equals + 1), entrypoint);
    const bool alone = is_docker_flag(option);
    if (!alone && at + 1 < words.size()) note_docker_option(command, option, words[at + 1], entrypoint);
    at += alone ? 1 : 2;
  }
  if (at >= words.size()) return false;
  if (is_exec)
    command.container_name = words[at];
  else
    command.image = as_read(words[at]);
  if (detached) command.order = LaunchOrder::together;
  drop_front(command.words, at + 1);
  if (!entrypoint.empty()) {
    const std::vector<std::string> entry = split_command(entrypoint);
    command.words.insert(command.words.begin(), entry.begin(), entry.end());
  }
  return true;
}

bool is_shell(const std::string& name) {
  return name == "bash" || name == "sh" || name == "dash" || name == "zsh" || name == "ash";
}

/// The text behind -c, or nullptr.
const std::string* shell_text(const std::vector<std::string>& words) {
  for (std::size_t at = 1; at + 1 < words.size() && words[at].starts_with('-'); ++at)
    if (!words[at].starts_with("--") && words[at].find('c') != std::string::npos) return &words[at + 1];
  return nullptr;
}

void unwrap(PlainCommand command, int depth, std::vector<PlainCommand>& found);

/// The commands of bash -c '…'. A text that cannot be read stays one opaque command.
void unwrap_shell(const PlainCommand& command, const std::string& text, int depth, std::vector<PlainCommand>& found) {
  ShellVariables known;
  for (const Setting& setting : command.environment) known.emplace_back(setting.key, setting.value);
  const auto script = parse_shell(text, ShellForm::script, known);
  if (!script) {
    found.push_back(command);
    return;
  }
  for (const ShellCommand& inner : script->commands) {
    PlainCommand next = command;
    next.words = inner.words;
    for (const ShellAssignment& assignment : script->assignments)
      if (assignment.exported)
        next.environment.push_back({assignment.name, join(assignment.words, " "), std::string(k_command_line)});
    for (const auto& [name, value] : inner.environment)
      next.environment.push_back({name, value, std::string(k_command_line)});
    if (script->commands.size() > 1 && !inner.in_background) next.order = LaunchOrder::in_turn;
    unwrap(std::move(next), depth + 1, found);
  }
}

void unwrap(PlainCommand command, int depth, std::vector<PlainCommand>& found) {
  while (depth < k_max_wrappers) {
    drop_front(command.words, take_assignments(command, 0));
    if (command.words.empty()) break;
    const std::string name = base_name(command.words.front());
    const std::string* const text = is_shell(name) ? shell_text(command.words) : nullptr;
    if (text != nullptr) return unwrap_shell(command, *text, depth, found);
    if (name == "mpirun" || name == "mpiexec" || name == "horovodrun") {
      strip_launcher(command, k_mpirun);
    } else if (name == "srun") {
      strip_launcher(command, k_srun);
    } else if (name == "docker" || name == "podman" || name == "nerdctl") {
      if (!strip_docker(command)) break;
    } else if (!strip_wrapper(command)) {
      break;
    }
    ++depth;
  }
  found.push_back(std::move(command));
}

}  // namespace

std::string base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::vector<PlainCommand> unwrap_command(PlainCommand command) {
  std::vector<PlainCommand> found;
  unwrap(std::move(command), 0, found);
  return found;
}

}  // namespace sparkops::facts
