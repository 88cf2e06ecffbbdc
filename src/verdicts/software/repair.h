#pragma once

#include <string>
#include <vector>

#include "facts/software/software.h"

namespace sparkops::verdicts {

/// Whether what a package requires is installed along with it, which may replace torch.
enum class WithDependencies { yes, no };

/// The command that installs `requirements` into the environment that was checked: by its own pip, by uv where it has
/// no pip, inside the container where it lies in one. `index` empty: PyPI.
[[nodiscard]] std::string install_command(const facts::Software& software, const std::vector<std::string>& requirements,
                                          WithDependencies dependencies, const std::string& index = {});

/// The command that takes packages away from it.
[[nodiscard]] std::string uninstall_command(const facts::Software& software, const std::vector<std::string>& packages);

/// "; this Python is the system's own and refuses pip: make an environment first (sparkops setup)", where that is so.
[[nodiscard]] std::string caution(const facts::Software& software);

inline constexpr const char* k_cuda_13_index = "https://download.pytorch.org/whl/cu130";

}  // namespace sparkops::verdicts
