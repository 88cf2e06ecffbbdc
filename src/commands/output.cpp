#include "commands/output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/text.h"

namespace sparkops::commands {

ExitCode write_output(std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return ExitCode::done;
  return fail_with(ExitCode::could_not_find_out, std::string("stdout: ") + std::strerror(errno));
}

ExitCode fail_with(ExitCode code, std::string_view message) {
  std::fprintf(stderr, "sparkops: %s\n", printable(message).c_str());
  return code;
}

}  // namespace sparkops::commands
