#pragma once

#include <sys/utsname.h>

#include <fstream>
#include <string>

namespace sparkops {

/// Whether this program runs under a user-mode emulator (qemu-aarch64), which reports another processor than the
/// kernel's own and redirects "/" to the libraries of that processor, so that nothing of this machine can be read.
inline bool under_emulation() {
  std::ifstream file("/proc/sys/kernel/arch");
  std::string of_kernel;
  utsname name{};
  return (file >> of_kernel) && ::uname(&name) == 0 && of_kernel != name.machine;
}

}  // namespace sparkops

/// Ends a test that looks at this machine itself.
#define SPARKOPS_NEEDS_THIS_KERNEL() \
  if (sparkops::under_emulation()) GTEST_SKIP() << "an emulator shows nothing of this machine"
