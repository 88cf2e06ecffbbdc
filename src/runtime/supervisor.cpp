#include "runtime/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "runtime/keyboard.h"

namespace sparkops::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// What somebody sends to us is meant for the job.
constexpr std::array k_passed_on = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
/// A line of ours waits this long for a line end of the job.
constexpr int k_flush_after_ms = 1000;
/// Processes that the job left behind may hold its output open for ever.
constexpr std::chrono::milliseconds k_output_patience{1000};
constexpr int k_look_again_ms = 20;

sigset_t handled_signals(Child::Terminal terminal) {
  sigset_t signals{};
  ::sigemptyset(&signals);
  for (const int signal : k_passed_on) ::sigaddset(&signals, signal);
  ::sigaddset(&signals, SIGCHLD);
  if (terminal == Child::Terminal::own) {
    ::sigaddset(&signals, SIGWINCH);
    ::sigaddset(&signals, SIGTSTP);  // the keyboard's thread alone takes it
  }
  return signals;
}

}  // namespace

/// Our terminal while the job has its own, and the thread that passes the keys on.
class Supervisor::Terminal {
 public:
  Terminal(const Child& child, Console& console) : keyboard_(child, console) {
    thread_ = std::thread([this] { keyboard_.run(); });
  }
  ~Terminal() {
    keyboard_.finish();
    thread_.join();
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  void pass_on_size() const { keyboard_.pass_on_size(); }

 private:
  Keyboard keyboard_;
  std::thread thread_;
};

Supervisor::Supervisor(Console& console, OutputLog& log) : console_(console), log_(log) {}
Supervisor::~Supervisor() = default;

void Supervisor::prepare_signals(Child::Start& start) {
  const sigset_t handled = handled_signals(start.terminal);
  ::pthread_sigmask(SIG_BLOCK, &handled, &start.signal_mask);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &start.pipe_action);
  // Processes whose parent ends become ours, so that the tree can be seen as a whole.
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Result<void> Supervisor::start(const Child::Start& start) {
  sigset_t handled = handled_signals(start.terminal);
  ::sigdelset(&handled, SIGTSTP);
  signals_ = FileDescriptor(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return tl::unexpected(system_error("signalfd", errno));
  auto started = Child::start(start);
  if (!started) return tl::unexpected(started.error());
  child_ = std::make_unique<Child>(std::move(*started));
  try {
    if (child_->terminal() >= 0) {
      terminal_ = std::make_unique<Terminal>(*child_, console_);
      start_pump(FileDescriptor(::fcntl(child_->terminal(), F_DUPFD_CLOEXEC, 0)), STDOUT_FILENO);
    } else {
      start_pump(child_->take_output(), STDOUT_FILENO);
    }
    if (FileDescriptor errors = child_->take_errors(); errors.valid()) start_pump(std::move(errors), STDERR_FILENO);
  } catch (const std::system_error& error) {
    child_->signal(SIGKILL);
    return failure(ErrorKind::unsupported, std::string("no thread for the job's output: ") + error.what());
  }
  return {};
}

void Supervisor::start_pump(FileDescriptor from, int to) {
  const bool to_terminal = ::isatty(to) != 0;
  auto pump = std::make_shared<Pump>(std::move(from), to, log_, console_, to_terminal);
  pumps_.push_back(pump);
  std::thread([pump] { pump->run(); }).detach();
}

void Supervisor::handle_signal(int descriptor) {
  signalfd_siginfo info{};
  while (::read(descriptor, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGWINCH) {
      if (terminal_) terminal_->pass_on_size();
    } else if (signal == SIGCHLD) {
      // Orphans of the tree that became ours; the job itself is reaped at its end.
      siginfo_t ended{};
      while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 &&
             ended.si_pid != child_->pid()) {
        ::waitpid(ended.si_pid, nullptr, WNOHANG);
        ended = {};
      }
    } else if (info.ssi_code <= 0 || child_->terminal() >= 0) {
      // What the terminal sent to the whole group (code above 0) has reached the job already.
      child_->signal(signal);
    }
  }
}

/// The job has ended; what it wrote may still be on its way to a slow reader.
void Supervisor::wait_for_output() {
  std::int64_t seen = -1;
  auto last_change = Clock::now();
  while (true) {
    std::int64_t bytes = 0;
    bool all_done = true;
    bool writing = false;
    for (const auto& pump : pumps_) {
      bytes += pump->bytes();
      all_done = all_done && pump->state() == Pump::State::done;
      writing = writing || pump->state() == Pump::State::writing;
    }
    if (all_done) return;
    if (bytes != seen || writing) last_change = Clock::now();
    seen = bytes;
    if (Clock::now() - last_change >= k_output_patience) return;
    pollfd input{signals_.get(), POLLIN, 0};
    (void)::poll(&input, 1, k_look_again_ms);
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) > 0)
      if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) return;
  }
}

Child::End Supervisor::wait() {
  while (true) {
    std::array<pollfd, 2> events{{{signals_.get(), POLLIN, 0}, {child_->descriptor(), POLLIN, 0}}};
    const int ready = ::poll(events.data(), events.size(), k_flush_after_ms);
    if (ready == 0) console_.flush();
    if (ready <= 0) continue;
    if (events[0].revents != 0) handle_signal(signals_.get());
    if (events[1].revents != 0) break;
  }
  const Child::End end = child_->reap();
  wait_for_output();
  terminal_.reset();
  return end;
}

}  // namespace sparkops::runtime
