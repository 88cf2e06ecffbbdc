#include "runtime/child.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/text.h"

namespace sparkops::runtime {

namespace {

/// As large as an unprivileged process may have it: a job that prints in bursts does not wait for us.
constexpr int k_pipe_size = 1 << 20;

struct Pipe {
  FileDescriptor reading, writing;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(system_error("pipe2", errno));
  (void)::fcntl(ends[0], F_SETPIPE_SZ, k_pipe_size);
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool same_file(int one, int other) {
  struct stat first{};
  struct stat second{};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

struct TerminalPair {
  FileDescriptor ours, theirs;
};

/// A new terminal with the settings and the size of ours.
Result<TerminalPair> make_terminal() {
  TerminalPair pair{FileDescriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), {}};
  if (!pair.ours.valid() || ::grantpt(pair.ours.get()) != 0 || ::unlockpt(pair.ours.get()) != 0)
    return tl::unexpected(system_error("a terminal for the job", errno));
  std::array<char, 64> name{};
  if (::ptsname_r(pair.ours.get(), name.data(), name.size()) != 0)
    return tl::unexpected(system_error("a terminal for the job", errno));
  pair.theirs = FileDescriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!pair.theirs.valid()) return tl::unexpected(system_error(name.data(), errno));
  termios settings{};
  winsize size{};
  if (::tcgetattr(STDIN_FILENO, &settings) == 0) (void)::tcsetattr(pair.theirs.get(), TCSANOW, &settings);
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) (void)::ioctl(pair.theirs.get(), TIOCSWINSZ, &size);
  return pair;
}

/// Everything the new process does before it is the job. Only calls that are safe after fork().
[[noreturn]] void become_job(const Child::Start& start, char* const* words, int own_terminal, int output, int errors,
                             int report) {
  if (own_terminal >= 0) {
    ::setsid();
    (void)::ioctl(own_terminal, TIOCSCTTY, 0);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(own_terminal, standard);
  } else {
    ::dup2(output, STDOUT_FILENO);
  }
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  ::sigaction(SIGPIPE, &start.pipe_action, nullptr);
  ::sigprocmask(SIG_SETMASK, &start.signal_mask, nullptr);
  ::execvp(words[0], words);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

Error start_error(const std::string& name, int code) {
  Error error = system_error(printable(name, 256), code);
  if (code == ENOENT) error = {ErrorKind::not_found, printable(name, 256) + ": command not found"};
  return error;
}

}  // namespace

Result<Child> Child::start(const Start& start) {
  std::vector<char*> words;
  for (const std::string& word : start.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  Child child;
  TerminalPair pair;
  Pipe output, errors;
  if (start.terminal == Terminal::own) {
    auto made = make_terminal();
    if (!made) return tl::unexpected(made.error());
    pair = std::move(*made);
  } else {
    auto made = make_pipe();
    if (!made) return tl::unexpected(made.error());
    output = std::move(*made);
  }
  // With a terminal: where stderr goes into a file of its own. Without: unless it is the same file as stdout.
  if (pair.ours.valid() ? ::isatty(STDERR_FILENO) == 0 : !same_file(STDOUT_FILENO, STDERR_FILENO)) {
    auto made = make_pipe();
    if (!made) return tl::unexpected(made.error());
    errors = std::move(*made);
  }
  auto report = make_pipe();
  if (!report) return tl::unexpected(report.error());

  child.pid_ = ::fork();
  if (child.pid_ < 0) return tl::unexpected(system_error("fork", errno));
  const int error_end = errors.writing.valid() ? errors.writing.get() : output.writing.get();
  if (child.pid_ == 0)
    become_job(start, words.data(), pair.theirs.get(), output.writing.get(), error_end, report->writing.get());

  report->writing = FileDescriptor();
  int code = 0;
  if (::read(report->reading.get(), &code, sizeof code) == static_cast<ssize_t>(sizeof code)) {
    ::waitpid(child.pid_, nullptr, 0);
    return tl::unexpected(start_error(start.command.front(), code));
  }
  child.process_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
  child.terminal_ = std::move(pair.ours);
  child.output_ = std::move(output.reading);
  child.errors_ = std::move(errors.reading);
  return child;
}

void Child::signal(int number) const {
  if (terminal_.valid()) {
    const pid_t group = ::tcgetpgrp(terminal_.get());
    if (group > 1 && ::kill(-group, number) == 0) return;
  }
  ::kill(pid_, number);
}

Child::End Child::reap() const {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int k_died_by_signal = 128;
  if (WIFSIGNALED(status)) return {k_died_by_signal + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace sparkops::runtime
