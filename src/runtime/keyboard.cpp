#include "runtime/keyboard.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace sparkops::runtime {

namespace {

/// How often the end, and a return to the foreground, are looked for while nobody types.
constexpr int k_look_ms = 100;

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

Keyboard::Keyboard(const Child& child, Console& console) : child_(child), console_(console) {
  has_saved_ = ::tcgetattr(STDIN_FILENO, &saved_) == 0;
  if (in_foreground()) enter_raw();
}

Keyboard::~Keyboard() {
  leave_raw();
}

bool Keyboard::in_foreground() {
  return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

void Keyboard::enter_raw() {
  if (!has_saved_ || raw_) return;
  termios raw = saved_;
  ::cfmakeraw(&raw);
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) return;
  raw_ = true;
  console_.set_raw(true);
}

void Keyboard::leave_raw() {
  if (!raw_) return;
  // From the background this must not stop us: we are about to end or to stop anyway.
  sigset_t output_stop{};
  sigset_t before{};
  ::sigemptyset(&output_stop);
  ::sigaddset(&output_stop, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &output_stop, &before);
  (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  raw_ = false;
  console_.set_raw(false);
}

void Keyboard::pass_on_size() const {
  winsize size{};
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) (void)::ioctl(child_.terminal(), TIOCSWINSZ, &size);
}

/// The job is the only one in its session, so the kernel ignores SIGTSTP there: it is stopped with SIGSTOP. Then our
/// own process group stops as it would without us; the shell's fg lets us go on from here.
void Keyboard::suspend() {
  const pid_t group = ::tcgetpgrp(child_.terminal());
  if (group <= 1) return;
  ::kill(-group, SIGSTOP);
  leave_raw();
  ::kill(0, SIGTSTP);
  if (in_foreground()) enter_raw();
  pass_on_size();
  ::kill(-group, SIGCONT);
}

void Keyboard::run() {
  sigset_t stop{};
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  std::array<char, 4096> buffer{};
  while (!finished_) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (!in_foreground()) {
      ::poll(nullptr, 0, k_look_ms);
      continue;
    }
    enter_raw();  // after `bg` and `fg`
    if (::poll(&input, 1, k_look_ms) <= 0) continue;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the terminal is gone
    std::string_view keys(buffer.data(), static_cast<std::size_t>(count));
    termios theirs{};
    const bool stops = ::tcgetattr(child_.terminal(), &theirs) == 0 && (theirs.c_lflag & ISIG) != 0;
    const std::size_t stop_key = stops ? keys.find(static_cast<char>(theirs.c_cc[VSUSP])) : std::string_view::npos;
    if (!write_all(child_.terminal(), keys.substr(0, stop_key))) return;
    if (stop_key == std::string_view::npos) continue;
    suspend();
    if (!write_all(child_.terminal(), keys.substr(stop_key + 1))) return;
  }
}

}  // namespace sparkops::runtime
