#include "facts/software/environment_variables.h"

#include <algorithm>
#include <array>

#include "facts/machine/process_files.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_environment_cap = std::size_t{1} << 20;

}  // namespace

const std::string* SoftwareVariables::find(std::string_view name) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  return found == values.end() ? nullptr : &found->second;
}

bool is_software_variable(std::string_view name) {
  static constexpr std::array<std::string_view, 15> k_names{
      "LD_LIBRARY_PATH", "LD_PRELOAD",  "PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONUSERBASE",
      "PYTHONHOME",      "VIRTUAL_ENV", "PATH",       "CONDA_PREFIX",     "PYENV_VERSION",
      "PYENV_ROOT",      "HOME",        "HF_HOME",    "PIP_CONSTRAINT",   "PYTORCH_BUILD_VERSION"};
  // Nothing that may hold a credential: an index's address may, and HF_TOKEN does.
  static constexpr std::array<std::string_view, 9> k_prefixes{
      "CUDA_", "NVIDIA_", "TORCH_", "PYTORCH_", "TRITON_", "FLASHINFER_", "UNSLOTH_", "HF_HUB_", "HF_XET_"};
  return std::find(k_names.begin(), k_names.end(), name) != k_names.end() ||
         std::any_of(k_prefixes.begin(), k_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Known<SoftwareVariables> read_software_variables(const Root& root, std::string_view process) {
  const std::string path = "proc/" + std::string(process) + "/environ";
  const auto text = root.read(path, k_environment_cap);
  if (!text && text.error().kind == ErrorKind::permission_denied)
    return unknown(text.error().message + "; only its owner and root may read it");
  if (!text) return unknown(text.error());
  SoftwareVariables variables;
  variables.of = process != "self" ? "PID " + std::string(process)
                 : root.is_live()  ? "this shell"
                                   : "the captured shell";
  for (auto& variable : parse_environment(*text))
    if (is_software_variable(variable.first)) variables.values.push_back(std::move(variable));
  return as_read(std::move(variables));
}

}  // namespace sparkops::facts
