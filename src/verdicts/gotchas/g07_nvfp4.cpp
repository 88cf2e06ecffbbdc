#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "facts/workload/options.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/gotchas/workload_reading.h"
#include "verdicts/sm121_code.h"

namespace sparkops::verdicts {

namespace {

/// Distributions whose libraries hold kernels for FP4 weights (normalised names).
constexpr std::array<std::string_view, 16> k_kernel_distributions = {"vllm",
                                                                     "sgl-kernel",
                                                                     "sglang-kernel",
                                                                     "flashinfer-jit-cache",
                                                                     "flashinfer-cubin",
                                                                     "tensorrt-llm",
                                                                     "torchao",
                                                                     "transformer-engine",
                                                                     "transformer-engine-torch",
                                                                     "transformer-engine-cu12",
                                                                     "transformer-engine-cu13",
                                                                     "llama-cpp-python",
                                                                     "nunchaku",
                                                                     "qutlass",
                                                                     "fbgemm-gpu",
                                                                     "fbgemm-gpu-genai"};

constexpr const char* k_measured =
    "measured on GB10: NVFP4 27 % ahead of FP8 at one request and level at sixteen; FP8 7 to 9 % ahead on long prefill";

/// One place of the work that asks for FP4.
struct Use {
  std::string name;
  std::string format;  ///< "nvfp4"
  Provenance told_by;  ///< read: a setting says so; derived: the model's name does
  bool trains = false;
  std::string image;  ///< it runs in a container whose files were not looked at
};

/// NF4 and bitsandbytes' own FP4 are tables that software looks up: no FP4 hardware is involved.
bool is_hardware_fp4(const std::string& format, const std::vector<facts::Setting>& settings) {
  if (!contains(format, "fp4")) return false;
  constexpr std::array<std::string_view, 1> k_software_type = {"bnb_4bit_quant_type"};
  return format != "fp4" || facts::find_setting(settings, k_software_type) == nullptr;
}

std::vector<Use> uses_of_fp4(const facts::Workload& workload) {
  std::vector<Use> uses;
  for (const facts::Launch& launch : workload.launches) {
    if (!launch.quantization || !is_hardware_fp4(*launch.quantization, launch.settings)) continue;
    uses.push_back({launch.name.empty() ? launch.where : launch.name, *launch.quantization,
                    launch.quantization.provenance(), launch.role == facts::LaunchRole::trainer,
                    launch.image.value_or("")});
  }
  if (workload.quantization && is_hardware_fp4(*workload.quantization, workload.settings))
    uses.push_back({workload.name, *workload.quantization, workload.quantization.provenance(),
                    workload.trains.value_or(false), ""});
  return uses;
}

Finding training_in_fp4(const Use& use) {
  Finding finding;
  finding.id = "G7";
  finding.status = Status::fail;
  finding.where = Where::workload;
  finding.headline = fmt::format("{} trains in {}: FP4 training is not supported on SM121 (GB10)",
                                 printable(use.name, 120), use.format);
  finding.fixes.push_back({.run = "",
                           .instruction = "train in bf16 (LoRA over frozen FP4 weights is something else and works): "
                                          "remove the FP4 recipe from the command or configuration",
                           .needs_root = false,
                           .changes = "the workload",
                           .verify = "sparkops preflight --only G7"});
  finding.sources = {"https://github.com/NVIDIA/TransformerEngine/pull/3195"};
  return finding;
}

/// One library and whether its code may use the conversion instructions.
struct Kernels {
  std::string distribution, path;
  Sm121Code code;
};

std::vector<Kernels> kernels_in(const facts::NativeCode& native, const Known<int>& driver_cuda) {
  std::vector<Kernels> kernels;
  for (const facts::NativeLibrary& library : native.libraries) {
    const bool counts = std::find(k_kernel_distributions.begin(), k_kernel_distributions.end(), library.distribution) !=
                        k_kernel_distributions.end();
    if (!counts || !library.code || !library.code->has_code()) continue;
    kernels.push_back({library.distribution, library.path, judge_sm121_code(*library.code, driver_cuda)});
  }
  return kernels;
}

Known<int> driver_cuda(const facts::Machine& machine) {
  return machine.gpus ? machine.gpus->cuda_version : Known<int>(machine.gpus.as_unknown());
}

std::string targets_of(const Sm121Code& code) {
  std::vector<std::string> targets = code.native;
  targets.insert(targets.end(), code.compiled.begin(), code.compiled.end());
  targets.insert(targets.end(), code.others.begin(), code.others.end());
  return join(targets, ", ");
}

Finding judge_kernels(const std::vector<Kernels>& kernels, const Use& use) {
  Finding finding;
  finding.id = "G7";
  finding.where = Where::environment;
  const Kernels* with_conversion = nullptr;
  for (const Kernels& kernel : kernels) {
    const bool converts = !kernel.code.with_fp4_conversion.empty();
    finding.evidence.push_back(
        {fmt::format("{}: {} holds {}", kernel.distribution, printable(kernel.path, 300),
                     converts ? "FP4-capable code (" + join(kernel.code.with_fp4_conversion, ", ") + ")"
                              : targets_of(kernel.code)),
         {Origin::read, {}}});
    if (converts && with_conversion == nullptr) with_conversion = &kernel;
  }
  finding.evidence.push_back({k_measured, {Origin::knowledge, "2026-11-30"}});
  if (with_conversion != nullptr) {
    finding.status = Status::pass;
    finding.headline =
        fmt::format("{} in {}: {} holds code for {}", use.format, printable(use.name, 100),
                    with_conversion->distribution, join(with_conversion->code.with_fp4_conversion, ", "));
    return finding;
  }
  finding.status = Status::warn;
  finding.headline = fmt::format(
      "{} in {}: no installed kernel library targets sm_121a or the sm_120f family ({} holds {}), "
      "so the FP4 conversion falls back",
      use.format, printable(use.name, 100), kernels.front().distribution, targets_of(kernels.front().code));
  finding.fixes.push_back({.run = "",
                           .instruction = "use the FP8 weights of the model, or a build of " +
                                          kernels.front().distribution +
                                          " for 12.0f or 12.1a (TORCH_CUDA_ARCH_LIST=12.1a when compiling)",
                           .needs_root = false,
                           .changes = "the environment",
                           .verify = "sparkops preflight --only G7"});
  return finding;
}

Finding judge_inference(const PreflightFacts& facts, const Use& use) {
  const auto skip = [&](const std::string& why) {
    Finding finding = skipped("G7", fmt::format("{} in {}: {}", use.format, printable(use.name, 100), why));
    finding.where = Where::environment;
    finding.evidence.push_back({k_measured, {Origin::knowledge, "2026-11-30"}});
    return finding;
  };
  if (!use.image.empty())
    return skip("runs in " + printable(use.image, 120) + ", whose kernel libraries were not looked at");
  if (facts.judged == JudgedPlatform::gb10 || facts.native_code == nullptr)
    return skip("no kernel library was looked at");
  if (!*facts.native_code) return skip("kernel libraries are unknown: " + facts.native_code->reason());
  const auto kernels = kernels_in(**facts.native_code, driver_cuda(facts.machine));
  if (kernels.empty())
    return skip("no library with FP4 kernels is installed in the Python environment that was looked at");
  return judge_kernels(kernels, use);
}

/// Kernels for 12.1 are of interest only on such a GPU.
std::optional<std::string> other_gpu(const PreflightFacts& facts) {
  if (facts.judged == JudgedPlatform::gb10) return std::nullopt;
  const facts::Gpu* const gpu = facts.machine.gpu();
  if (gpu == nullptr || !gpu->compute_capability_major || !gpu->compute_capability_minor) return std::nullopt;
  const int major = *gpu->compute_capability_major;
  const int minor = *gpu->compute_capability_minor;
  if (major == 12 && minor == 1) return std::nullopt;
  return fmt::format("the GPU has compute capability {}.{}, not 12.1", major, minor);
}

}  // namespace

Finding check_g07_nvfp4(const PreflightFacts& facts) {
  if (facts.workload == nullptr) return not_applicable("G7", "no workload: nothing is known to use FP4");
  const std::vector<Use> uses = uses_of_fp4(*facts.workload);
  if (uses.empty()) return not_applicable("G7", "the workload names no FP4 format");
  if (const auto other = other_gpu(facts)) return not_applicable("G7", *other);
  Finding worst;
  for (const Use& use : uses) {
    const bool asks_for_arithmetic = use.trains && use.told_by.origin == Origin::read;
    Finding finding = asks_for_arithmetic ? training_in_fp4(use) : judge_inference(facts, use);
    const auto severity = [](Status status) {
      switch (status) {
        case Status::fail: return 4;
        case Status::warn: return 3;
        case Status::skip: return 2;
        case Status::pass: return 1;
        case Status::info: return 0;
      }
      return 0;
    };
    if (worst.id.empty() || severity(finding.status) > severity(worst.status)) worst = std::move(finding);
  }
  for (const Evidence& evidence : reading_evidence(*facts.workload)) worst.evidence.push_back(evidence);
  return worst;
}

}  // namespace sparkops::verdicts
