#include "verdicts/software/cuda_problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "facts/software/version.h"
#include "verdicts/software/repair.h"

namespace sparkops::verdicts {

namespace {

using Kind = CudaBuild::Kind;

constexpr const char* k_verify = "sparkops preflight --only G1";
constexpr CudaVersion k_first_with_sm120{12, 8};  // CUDA 12.8 is the first that compiles for this family of GPUs
constexpr const char* k_first_torch_on_cu130 = "2.9";

Evidence because(const CudaBuild& build) {
  return {build.how, build.provenance};
}

Fix environment_fix(std::string run, std::string instruction) {
  return {.run = std::move(run),
          .instruction = std::move(instruction),
          .needs_root = false,
          .changes = "the Python environment",
          .verify = k_verify};
}

std::string with_version(const facts::Distribution& distribution) {
  return printable(distribution.name + " " + distribution.version.value_or("(version unknown)"), 120);
}

/// torch and its companions from the index of CUDA 13: at the version that is there where that index has it.
Fix torch_from_cuda_13(const facts::Software& software) {
  const facts::PythonEnvironment& environment = *software.environment();
  const auto version = facts::parse_version(torch_version(environment).value_or(""));
  const bool there = version && !version->is_pre_release() && *version >= *facts::parse_version(k_first_torch_on_cu130);
  std::string torch = "torch";
  if (there) {
    std::vector<std::string> numbers;
    for (const std::uint64_t number : version->release) numbers.push_back(std::to_string(number));
    torch += "==" + join(numbers, ".");
  }
  std::vector<std::string> packages{"--force-reinstall", torch};
  for (const char* const companion : {"torchvision", "torchaudio"})
    if (environment.find(companion) != nullptr) packages.emplace_back(companion);
  return environment_fix(
      install_command(software, packages, WithDependencies::yes, k_cuda_13_index),
      "or use a container that was built as one piece (sparkops setup); install what comes later with "
      "--no-deps or a constraints file, so that it cannot replace torch" +
          caution(software));
}

/// Packages that need torch, for the sentence that says who will fail.
std::string who_needs_torch(const facts::PythonEnvironment& environment) {
  std::vector<std::string> names;
  for (const char* const known : {"vllm", "unsloth", "sglang", "trl", "peft", "transformers", "accelerate"})
    if (const facts::Distribution* const package = environment.find(known)) names.push_back(with_version(*package));
  constexpr std::size_t k_most = 2;
  names.resize(std::min(names.size(), k_most));
  return join(names, " and ");
}

PackageProblem cpu_only(const facts::Software& software, const CudaBuild& torch) {
  const facts::PythonEnvironment& environment = *software.environment();
  const std::string version = torch_version(environment).value_or("");
  const std::string above = who_needs_torch(environment);
  PackageProblem problem;
  problem.status = Status::fail;
  problem.headline = fmt::format("torch {} is built without CUDA{}: torch.cuda.is_available() is False",
                                 printable(version, 60), above.empty() ? "" : ", under " + above);
  problem.evidence.push_back(because(torch));
  problem.fixes.push_back(torch_from_cuda_13(software));
  problem.sources = {"https://github.com/pytorch/pytorch/issues/160162",
                     "https://github.com/vllm-project/vllm/issues/36099"};
  return problem;
}

/// torch itself for another CUDA than this machine's.
std::vector<PackageProblem> other_cuda(const facts::Software& software, const CudaBuild& torch, int platform_major) {
  if (!torch.version || torch.version->major >= platform_major || torch.is_ngc) return {};
  const std::string version = printable(torch_version(*software.environment()).value_or(""), 60);
  const bool can_run = torch.version->major == k_first_with_sm120.major &&
                       (torch.version->minor >= k_first_with_sm120.minor || torch.version->minor == 0);
  PackageProblem problem;
  problem.status = can_run ? Status::warn : Status::fail;
  problem.headline =
      can_run
          ? fmt::format(
                "torch {} is built for CUDA {} on a CUDA {} system: it runs with its own libraries, beside "
                "everything built for CUDA {}",
                version, torch.version->minor == 0 ? std::to_string(torch.version->major) : to_string(*torch.version),
                platform_major, platform_major)
          : fmt::format("torch {} is built for CUDA {}, which has no code for this GPU (12.8 is the first)", version,
                        to_string(*torch.version));
  problem.evidence.push_back(because(torch));
  problem.fixes.push_back(torch_from_cuda_13(software));
  return {problem};
}

bool has_runtime_of(const facts::PythonEnvironment& environment, int major) {
  return std::any_of(environment.distributions.begin(), environment.distributions.end(),
                     [&](const facts::Distribution& distribution) {
                       return distribution.key.starts_with("nvidia-cuda-runtime") &&
                              cuda_major_of_library_package(distribution) == major;
                     });
}

/// What repairs a wheel for another CUDA: the version from which its wheels are right, or the place that has it built.
Fix wheel_fix(const facts::Software& software, const facts::Distribution& package, const knowledge::Tables& tables) {
  for (const auto& entry : tables.wheels())
    if (facts::normalized_name(entry.name) == package.key && !entry.cuda_13_from.empty())
      return environment_fix(
          install_command(software, {package.key + ">=" + entry.cuda_13_from}, WithDependencies::yes),
          entry.note + caution(software));
  const bool companion = package.key == "torchvision" || package.key == "torchaudio";
  if (companion) return torch_from_cuda_13(software);
  return environment_fix("sparkops setup", "no wheel of " + package.name +
                                               " for CUDA 13 is known: use a container that has it, or build it "
                                               "with TORCH_CUDA_ARCH_LIST=12.0 against this torch");
}

/// One package that is built for another CUDA major than torch.
std::optional<PackageProblem> other_than_torch(const facts::Software& software, const facts::Distribution& package,
                                               const CudaBuild& torch, const knowledge::Tables& tables) {
  const bool is_library = package.key.starts_with("nvidia-");
  if (package.key == "torch" || is_library || !torch.version) return std::nullopt;
  const CudaBuild build = wheel_build(package, tables);
  const bool companion = package.key == "torchvision" || package.key == "torchaudio";
  PackageProblem problem;
  if (build.kind == Kind::cpu_only && companion) {
    problem.headline = fmt::format("{} is built without CUDA beside a torch for CUDA {}: its operators fail on the GPU",
                                   with_version(package), to_string(*torch.version));
  } else if (build.kind != Kind::cuda || !build.version || build.is_ngc ||
             build.version->major == torch.version->major) {
    return std::nullopt;
  } else {
    const int major = build.version->major;
    const bool runtime = has_runtime_of(*software.environment(), major);
    problem.status = runtime && !companion ? Status::warn : Status::fail;
    problem.headline = fmt::format("{} is built for CUDA {}, torch for CUDA {}: {}", with_version(package), major,
                                   to_string(*torch.version),
                                   companion ? "it refuses to be imported"
                                   : runtime ? fmt::format("two CUDA runtimes in one process")
                                             : fmt::format("libcudart.so.{} is not there", major));
  }
  problem.evidence.push_back({with_version(package) + ": " + build.how, build.provenance});
  problem.evidence.push_back({"torch: " + torch.how, torch.provenance});
  problem.fixes.push_back(wheel_fix(software, package, tables));
  return problem;
}

}  // namespace

std::vector<PackageProblem> cuda_problems(const facts::Software& software, const CudaBuild& torch,
                                          const knowledge::Tables& tables) {
  if (torch.kind == Kind::cpu_only) {
    std::vector<PackageProblem> problems{cpu_only(software, torch)};
    // Beside it, what is built for a CUDA whose runtime is nowhere: a second thing to repair.
    for (const facts::Distribution& package : software.environment()->distributions) {
      const CudaBuild build = package.key == "torch" ? CudaBuild{} : wheel_build(package, tables);
      if (build.kind == Kind::cuda && build.version && build.version->major < tables.gb10().cuda_major)
        problems.front().evidence.push_back({with_version(package) + ": " + build.how, build.provenance});
    }
    return problems;
  }
  std::vector<PackageProblem> problems = other_cuda(software, torch, tables.gb10().cuda_major);
  for (const facts::Distribution& package : software.environment()->distributions)
    if (auto problem = other_than_torch(software, package, torch, tables)) problems.push_back(std::move(*problem));
  return problems;
}

std::vector<PackageProblem> driver_problems(const CudaBuild& torch, const Known<int>& cuda_of_driver) {
  constexpr int k_major = 1000;
  if (!torch.version || !cuda_of_driver || torch.version->major <= *cuda_of_driver / k_major) return {};
  PackageProblem problem;
  problem.status = Status::fail;
  problem.headline = fmt::format("torch is built for CUDA {} and the driver supports {}.{}", to_string(*torch.version),
                                 *cuda_of_driver / k_major, *cuda_of_driver % k_major / 10);
  problem.evidence.push_back(because(torch));
  problem.evidence.push_back({"CUDA of the driver (NVML)", cuda_of_driver.provenance()});
  problem.fixes.push_back(
      {.run = "",
       .instruction = "update DGX OS (its driver comes with it), or install a torch for the driver's CUDA",
       .needs_root = true,
       .changes = "the driver",
       .verify = k_verify});
  return {problem};
}

}  // namespace sparkops::verdicts
