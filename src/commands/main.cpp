#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "commands/command.h"

namespace {

/// A standard descriptor that was closed must not become the number of a file of ours, which would then get what is
/// printed. What takes its place fails as a closed one does: nothing can be read from 0 or written to 1 and 2.
void occupy_closed_descriptors() {
  for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard)
    if (::fcntl(standard, F_GETFD) < 0) (void)::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argument_count, char** arguments) {
  occupy_closed_descriptors();
  const int code = sparkops::commands::run_program(argument_count, arguments);
  std::fflush(nullptr);
  // Not `return`: a reader thread may still hang in a driver call, and nobody waits for it.
  ::_exit(code);
}
