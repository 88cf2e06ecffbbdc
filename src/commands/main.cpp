#include <unistd.h>

#include <cstdio>

#include "commands/command.h"

int main(int argument_count, char** arguments) {
  const int code = sparkops::commands::run_program(argument_count, arguments);
  std::fflush(nullptr);
  // Not `return`: a reader thread may still hang in a driver call, and nobody waits for it.
  ::_exit(code);
}
