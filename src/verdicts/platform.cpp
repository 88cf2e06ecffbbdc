#include "verdicts/platform.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

constexpr std::string_view k_gb10_name = "NVIDIA GB10";
constexpr int k_gb10_capability_major = 12;
constexpr int k_gb10_capability_minor = 1;
constexpr int k_cuda_13 = 13000;  // 1000·major + 10·minor
constexpr std::string_view k_gb10_architecture = "aarch64";

bool has_gb10_on_pci(const facts::Identity& identity) {
  if (!identity.nvidia_devices) return false;
  return std::any_of(identity.nvidia_devices->begin(), identity.nvidia_devices->end(),
                     [](const facts::PciDevice& device) { return device.id == facts::k_gb10_pci_id; });
}

bool is_gb10(const facts::Gpu& gpu) {
  return gpu.name == k_gb10_name || gpu.pci_id.value_or("") == facts::k_gb10_pci_id ||
         (gpu.compute_capability_major.value_or(0) == k_gb10_capability_major &&
          gpu.compute_capability_minor.value_or(0) == k_gb10_capability_minor);
}

IsGb10 decide(const facts::Machine& machine) {
  if (machine.identity && has_gb10_on_pci(*machine.identity)) return IsGb10::yes;
  if (machine.gpus)
    for (const facts::Gpu& gpu : machine.gpus->gpus)
      if (is_gb10(gpu)) return IsGb10::yes;
  if (machine.gpus && !machine.gpus->gpus.empty()) return IsGb10::no;
  if (machine.identity && machine.identity->nvidia_devices) return IsGb10::no;
  if (machine.identity && machine.identity->architecture && *machine.identity->architecture != k_gb10_architecture)
    return IsGb10::no;
  return IsGb10::unknown;
}

/// "x86_64 Linux with NVIDIA H200", "aarch64 Linux without an NVIDIA GPU".
std::string describe_other(const facts::Machine& machine) {
  const std::string architecture =
      machine.identity ? machine.identity->architecture.value_or("unknown architecture") : "unknown architecture";
  if (const facts::Gpu* const gpu = machine.gpu()) return fmt::format("{} Linux with {}", architecture, gpu->name);
  if (machine.identity && machine.identity->nvidia_devices && !machine.identity->nvidia_devices->empty())
    return fmt::format("{} Linux with NVIDIA device {}", architecture, machine.identity->nvidia_devices->front().id);
  if (machine.identity && machine.identity->nvidia_devices)
    return fmt::format("{} Linux without an NVIDIA GPU", architecture);
  return fmt::format("{} Linux, GPU unknown", architecture);
}

std::string product(const facts::Identity& identity) {
  std::string name = identity.product_name.value_or("");
  std::replace(name.begin(), name.end(), '_', ' ');
  return name.empty() ? "DGX Spark or OEM twin" : name;
}

std::string describe_spark(const facts::Machine& machine) {
  std::vector<std::string> parts;
  if (machine.identity) {
    const facts::Identity& identity = *machine.identity;
    parts.push_back(product(identity) + " (GB10)");
    parts.push_back(identity.architecture.value_or("architecture unknown"));
    if (identity.dgx_release) parts.push_back("DGX OS " + *identity.dgx_release);
    parts.push_back("kernel " + identity.kernel_release.value_or("unknown"));
  } else {
    parts.emplace_back("GB10");
  }
  const Known<std::string> driver = machine.gpus && machine.gpus->driver_version ? machine.gpus->driver_version
                                    : machine.identity                           ? machine.identity->driver_version
                                                       : Known<std::string>(unknown("identity not read"));
  parts.push_back("driver " + driver.value_or("unknown"));
  return join(parts, ", ");
}

std::string why_gpu_does_not_answer(const facts::Machine& machine) {
  if (!machine.gpu_was_asked) return "";
  if (!machine.gpus) return machine.gpus.reason();
  if (machine.gpus->gpus.empty()) return "NVML lists no GPU";
  const facts::GpuSample& sample = machine.gpu()->latest();
  const bool silent = !sample.temperature && !sample.power && !sample.sm_clock && !sample.utilization;
  return silent ? sample.utilization.reason() : "";
}

/// In the order in which they cost least. A driver that hangs may come back; a lost GPU needs a boot.
std::vector<Fix> ways_to_a_gpu_that_answers() {
  return {
      {.run = "",
       .instruction = "in a container: start it with --gpus all; on the box: sudo modprobe nvidia after a kernel or "
                      "driver update",
       .needs_root = true,
       .changes = "",
       .verify = "sparkops preflight"},
      {.run = "sudo dmesg | grep -E 'NVRM|Xid' | tail",
       .instruction =
           "shows what the driver said last; when it hangs or lost the GPU, stop GPU jobs and reboot, and if "
           "it comes back, take the power away for a minute",
       .needs_root = true,
       .changes = "nothing",
       .verify = "sparkops preflight"}};
}

void note_mismatches(const facts::Machine& machine, PlatformJudgement& judgement) {
  if (machine.identity && machine.identity->architecture && *machine.identity->architecture != k_gb10_architecture)
    judgement.mismatches.push_back(*machine.identity->architecture + " instead of aarch64");
  const facts::Gpu* const gpu = machine.gpu();
  if (gpu != nullptr && gpu->compute_capability_major && gpu->compute_capability_minor &&
      (*gpu->compute_capability_major != k_gb10_capability_major ||
       *gpu->compute_capability_minor != k_gb10_capability_minor)) {
    judgement.mismatches.push_back(fmt::format("compute capability {}.{} instead of 12.1",
                                               *gpu->compute_capability_major, *gpu->compute_capability_minor));
  }
  if (machine.gpus && machine.gpus->cuda_version && *machine.gpus->cuda_version < k_cuda_13)
    judgement.mismatches.push_back(fmt::format("a driver for CUDA {}.{}, before 13", *machine.gpus->cuda_version / 1000,
                                               *machine.gpus->cuda_version % 1000 / 10));
}

void add_evidence(const facts::Machine& machine, PlatformJudgement& judgement) {
  const auto add = [&](const char* what, const Known<std::string>& value) {
    if (value)
      judgement.evidence.push_back({fmt::format("{}: {}", what, *value), value.provenance()});
    else
      judgement.evidence.push_back({fmt::format("{}: unknown ({})", what, value.reason()), {Origin::read, {}}});
  };
  if (machine.identity) {
    const facts::Identity& identity = *machine.identity;
    add("architecture", identity.architecture);
    add("kernel", identity.kernel_release);
    add("product", identity.product_name);
    add("DGX release", identity.dgx_release);
    add("kernel driver", identity.driver_version);
    add("NVIDIA devices", identity.nvidia_devices.derive([](const std::vector<facts::PciDevice>& devices) {
      std::vector<std::string> texts;
      for (const facts::PciDevice& device : devices) texts.push_back(device.address + " " + device.id);
      return texts.empty() ? std::string("none") : join(texts, ", ");
    }));
  }
  if (!machine.gpus) {
    add("NVML", Known<std::string>(machine.gpus.as_unknown()));
    return;
  }
  add("NVML driver version", machine.gpus->driver_version);
  if (const facts::Gpu* const gpu = machine.gpu()) {
    add("GPU", as_read(gpu->name));
    const auto& major = gpu->compute_capability_major;
    const auto& minor = gpu->compute_capability_minor;
    add("compute capability", !major   ? Known<std::string>(major.as_unknown())
                              : !minor ? Known<std::string>(minor.as_unknown())
                                       : as_read(fmt::format("{}.{}", *major, *minor)));
  }
}

}  // namespace

PlatformJudgement judge_platform(const facts::Machine& machine) {
  PlatformJudgement judgement;
  judgement.is_gb10 = decide(machine);
  if (judgement.is_gb10 == IsGb10::yes) {
    judgement.id = "dgx-spark";
    judgement.headline = describe_spark(machine);
    note_mismatches(machine, judgement);
    judgement.gpu_does_not_answer = why_gpu_does_not_answer(machine);
    if (!judgement.gpu_does_not_answer.empty()) judgement.fixes = ways_to_a_gpu_that_answers();
  } else {
    judgement.id = describe_other(machine);
    judgement.headline = judgement.id;
  }
  add_evidence(machine, judgement);
  return judgement;
}

}  // namespace sparkops::verdicts
