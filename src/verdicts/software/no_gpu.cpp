#include "verdicts/software/no_gpu.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_visible = "CUDA_VISIBLE_DEVICES";

/// Why a list of visible devices shows none of `count` GPUs; empty when it shows one. CUDA reads the list up to the
/// first entry that names no device.
std::string why_nothing_is_visible(const std::string& value, std::size_t count) {
  if (trim(value).empty()) return "is set to nothing";
  const std::string first(trim(split(value, ',').front()));
  const auto index = parse_integer(first);
  if (first.starts_with("GPU-") || first.starts_with("MIG-")) return "";
  if (!index || *index < 0) return "is " + printable(value, 40);
  if (count > 0 && static_cast<std::size_t>(*index) >= count)
    return fmt::format("is {}, and there {} {} GPU{}", printable(value, 40), count == 1 ? "is" : "are", count,
                       count == 1 ? "" : "s");
  return "";
}

Evidence numbered(int number, const std::string& what, const std::string& known, const Provenance& provenance) {
  return {fmt::format("no GPU, hypothesis {}: {}: {}", number, what, known), provenance};
}

}  // namespace

std::vector<PackageProblem> visibility_problems(const facts::Software& software,
                                                const Known<facts::GpuInventory>& gpus) {
  if (!software.variables) return {};
  const std::string* const value = software.variables->find(k_visible);
  if (value == nullptr) return {};
  const std::string why = why_nothing_is_visible(*value, gpus ? gpus->gpus.size() : 0);
  if (why.empty()) return {};
  PackageProblem problem;
  problem.headline =
      fmt::format("{} {} in {}: no CUDA program started there sees a GPU", k_visible, why, software.variables->of);
  problem.evidence.push_back({fmt::format("{}={}", k_visible, printable(*value, 80)), software.variables.provenance()});
  problem.fixes.push_back({.run = std::string("unset ") + k_visible,
                           .instruction = "in the shell or service that starts the job",
                           .needs_root = false,
                           .changes = "nothing on the disk",
                           .verify = "sparkops preflight --only G1"});
  return {problem};
}

std::vector<Evidence> no_gpu_hypotheses(const PreflightFacts& facts, const CudaBuild& torch) {
  const facts::Machine& machine = facts.machine;
  const Provenance read{Origin::read, {}};
  std::vector<Evidence> evidence;
  const bool answers = machine.gpus && !machine.gpus->gpus.empty();
  evidence.push_back(numbered(1, "flags of the container (nvidia-smi fails too)",
                              answers        ? "ruled out, NVML lists " + machine.gpus->gpus.front().name
                              : machine.gpus ? "NVML lists no GPU"
                                             : machine.gpus.reason(),
                              answers ? machine.gpus.provenance() : read));
  const std::string* const visible = facts.software->variables ? facts.software->variables->find(k_visible) : nullptr;
  const std::string why =
      visible == nullptr ? "" : why_nothing_is_visible(*visible, answers ? machine.gpus->gpus.size() : 0);
  evidence.push_back(numbered(2, "device visibility",
                              !facts.software->variables ? "unknown (" + facts.software->variables.reason() + ")"
                              : visible == nullptr       ? std::string("ruled out, ") + k_visible + " is not set"
                              : why.empty() ? std::string(k_visible) + "=" + printable(*visible, 80) + " shows one"
                                            : std::string(k_visible) + " " + why,
                              read));
  evidence.push_back(numbered(3, "permissions on /dev/nvidia*",
                              answers ? "NVML could open them as this user" : "not read; ls -l /dev/nvidia*", read));
  evidence.push_back(numbered(4, "a CUDA state that is stuck",
                              "cannot be told from files; a fresh shell or container shows it", read));
  evidence.push_back(numbered(5, "the build of torch", torch.how.empty() ? "unknown" : torch.how, torch.provenance));
  return evidence;
}

}  // namespace sparkops::verdicts
