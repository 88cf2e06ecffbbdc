#include "run_program.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>

namespace sparkops::testing {

namespace {

constexpr std::chrono::seconds k_time_limit{30};

[[noreturn]] void become_program(const std::vector<std::string>& arguments, const Environment& environment,
                                 const RunAs& who, int out, int err) {
  ::close(STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::setenv("NO_COLOR", "1", 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words{const_cast<char*>("sparkops")};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  if (who.user && (::setgroups(0, nullptr) != 0 || ::setgid(*who.user) != 0 || ::setuid(*who.user) != 0)) ::_exit(126);
  ::execv(who.program.empty() ? SPARKOPS_PROGRAM : who.program.c_str(), words.data());
  ::_exit(127);
}

/// Reads both pipes to their ends; false when the time limit passed first.
bool drain(int out, int err, ProgramResult& result) {
  std::array<pollfd, 2> pipes{{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&result.out, &result.err};
  const auto end = std::chrono::steady_clock::now() + k_time_limit;
  int open = 2;
  while (open > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    ::poll(pipes.data(), pipes.size(), static_cast<int>(left.count()));
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (pipes[i].fd < 0 || pipes[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = ::read(pipes[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        pipes[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

}  // namespace

ProgramResult run_sparkops(const std::vector<std::string>& arguments, const Environment& environment,
                           const RunAs& who) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  ProgramResult result;
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) return result;
  const pid_t child = ::fork();
  if (child == 0) become_program(arguments, environment, who, out[1], err[1]);
  ::close(out[1]);
  ::close(err[1]);
  const bool ended = drain(out[0], err[0], result);
  if (!ended) ::kill(child, SIGKILL);
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.exit_code = !ended ? 200 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::string machine_path(const std::string& name) {
  return std::string(SPARKOPS_FIXTURES "/machines/") + name + ".machine";
}

std::string line_after(const std::string& text, const std::string& start) {
  const std::string padded = "\n" + text;
  const std::size_t at = padded.find("\n" + start);
  if (at == std::string::npos) return "";
  const std::size_t from = at + 1 + start.size();
  return padded.substr(from, padded.find('\n', from) - from);
}

}  // namespace sparkops::testing
