#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/sm121_code.h"
#include "verdicts/software/library_problems.h"
#include "verdicts/software/repair.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_package = "flash-attn";
constexpr const char* k_verify = "sparkops preflight --only G2";
constexpr const char* k_override = "import unsloth.models._utils as u; u.HAS_FLASH_ATTENTION = False";

/// Whether anything that is about to run asks for flash-attn by name.
std::string who_asks_for_it(const PreflightFacts& facts) {
  if (facts.workload == nullptr) return "";
  const auto asks = [](const facts::Setting& setting) {
    return contains(setting.value, "flash_attention_2") || contains_ignoring_case(setting.value, "FLASH_ATTN") ||
           (contains(setting.key, "flash_attn") && (setting.value == "true" || setting.value == "True"));
  };
  for (const facts::Setting& setting : facts.workload->settings)
    if (asks(setting)) return printable(setting.key + "=" + setting.value + " in " + setting.where, 200);
  for (const facts::Launch& launch : facts.workload->launches) {
    for (const facts::Setting& setting : launch.settings)
      if (asks(setting)) return printable(setting.key + "=" + setting.value + " in " + setting.where, 200);
    for (const facts::Setting& setting : launch.environment)
      if (asks(setting)) return printable(setting.key + "=" + setting.value, 200);
  }
  return "";
}

/// Whether the work already switches Unsloth's preference off.
bool overrides_unsloth(const PreflightFacts& facts) {
  if (facts.workload == nullptr) return false;
  const auto mentions = [](const std::vector<facts::Setting>& settings) {
    return std::any_of(settings.begin(), settings.end(), [](const facts::Setting& setting) {
      return contains(setting.key, "HAS_FLASH_ATTENTION") || contains(setting.value, "HAS_FLASH_ATTENTION");
    });
  };
  return mentions(facts.workload->settings) ||
         std::any_of(
             facts.workload->launches.begin(), facts.workload->launches.end(),
             [&](const facts::Launch& launch) { return mentions(launch.settings) || mentions(launch.environment); });
}

class Judgement {
 public:
  Judgement(const PreflightFacts& facts, const facts::Distribution* flash, const facts::Distribution* unsloth)
      : facts_(facts), software_(*facts.software), flash_(flash), unsloth_(unsloth) {
    finding_.id = "G2";
    finding_.where = Where::environment;
    if (flash != nullptr)
      told("flash-attn " + version_of(*flash) + " in " + (software_.declared ? flash->metadata : flash->site));
    if (unsloth != nullptr) told("unsloth " + version_of(*unsloth));
  }

  Finding result() {
    if (flash_ == nullptr) return absent();
    const auto problems = flash_problems();
    if (!problems.empty()) return broken(problems.front());
    if (unsloth_ != nullptr && !overrides_unsloth(facts_)) return taken_by_unsloth();
    return works();
  }

 private:
  static std::string version_of(const facts::Distribution& distribution) {
    return printable(distribution.version.value_or("(version unknown)"), 60);
  }

  void told(std::string text) { finding_.evidence.push_back({std::move(text), {Origin::read, {}}}); }

  Finding absent() {
    // A line of a list that could not be read may have been flash-attn.
    if (facts_.software->declared && !facts_.software->environment()->could_not.empty())
      return skipped("G2", "no flash-attn among the packages that could be read; not read: " +
                               printable(facts_.software->environment()->could_not.front(), 160));
    finding_.status = Status::pass;
    const std::string asks = who_asks_for_it(facts_);
    if (asks.empty()) {
      finding_.headline = unsloth_ == nullptr ? "no flash-attn: attention is PyTorch's SDPA"
                                              : "no flash-attn beside unsloth " + version_of(*unsloth_) +
                                                    ": attention is PyTorch's SDPA";
      return finding_;
    }
    finding_.status = Status::fail;
    finding_.headline = "flash-attn is not installed, and the work asks for it: " + asks;
    finding_.fixes.push_back(sdpa_fix());
    return finding_;
  }

  [[nodiscard]] Known<int> driver_cuda() const {
    return facts_.machine.gpus ? facts_.machine.gpus->cuda_version : Known<int>(facts_.machine.gpus.as_unknown());
  }

  /// What its libraries say; of a list what its tag says.
  [[nodiscard]] std::vector<PackageProblem> flash_problems() const {
    if (!libraries().empty()) {
      auto problems = problems_of_distribution(software_, **facts_.native_code, k_package, driver_cuda());
      std::erase_if(problems, [](const PackageProblem& problem) { return problem.status == Status::info; });
      return problems;
    }
    const CudaBuild build = wheel_build(*flash_, facts_.knowledge);
    const auto torch = torch_build(software_, facts_.knowledge);
    const bool other = build.version && torch && torch->version && build.version->major != torch->version->major;
    if (!other) return {};
    PackageProblem problem;
    problem.headline = fmt::format("flash-attn {} is built for CUDA {}, torch for CUDA {}", version_of(*flash_),
                                   build.version->major, to_string(*torch->version));
    problem.evidence.push_back({build.how, build.provenance});
    return {problem};
  }

  Finding broken(const PackageProblem& problem) {
    const std::string asks = who_asks_for_it(facts_);
    finding_.status = asks.empty() ? Status::warn : Status::fail;
    finding_.headline = problem.headline + (asks.empty() ? "" : "; the work asks for it: " + asks);
    finding_.evidence.insert(finding_.evidence.end(), problem.evidence.begin(), problem.evidence.end());
    finding_.fixes.push_back({.run = uninstall_command(software_, {"flash-attn"}),
                              .instruction = "without it attention is PyTorch's SDPA, the safe choice here",
                              .needs_root = false,
                              .changes = "the Python environment",
                              .verify = k_verify});
    finding_.fixes.insert(finding_.fixes.end(), problem.fixes.begin(), problem.fixes.end());
    return finding_;
  }

  Finding taken_by_unsloth() {
    finding_.status = Status::warn;
    finding_.headline =
        fmt::format("unsloth {} takes flash-attn {} wherever it finds it, also where SDPA was asked for",
                    version_of(*unsloth_), version_of(*flash_));
    finding_.fixes.push_back(
        {.run = "",
         .instruction = "before from_pretrained: " + std::string(k_override) +
                        " (seen in Unsloth 2026.7.2, llama family); the start banner must then show FA2 = False",
         .needs_root = false,
         .changes = "the training script",
         .verify = k_verify});
    finding_.sources.emplace_back("https://github.com/wshobson/agents");
    return finding_;
  }

  Finding works() {
    finding_.status = Status::pass;
    std::string code;
    for (const facts::NativeLibrary* const library : libraries())
      if (library->code && library->code->has_code()) code = judge_sm121_code(*library->code, driver_cuda()).sentence;
    const bool looked = !libraries().empty();
    if (!looked) {
      finding_.status = software_.declared ? Status::info : Status::skip;
      finding_.headline = fmt::format(
          "flash-attn {} is installed; its libraries {}", version_of(*flash_),
          software_.declared ? "cannot be seen in a list" : "could not be looked at: " + why_not_looked_at());
      return finding_;
    }
    finding_.headline = fmt::format("flash-attn {} resolves{}{}", version_of(*flash_), code.empty() ? "" : ": " + code,
                                    unsloth_ != nullptr ? "; the work switches Unsloth's preference off" : "");
    return finding_;
  }

  /// Its libraries, where they were looked at.
  [[nodiscard]] std::vector<const facts::NativeLibrary*> libraries() const {
    if (facts_.native_code == nullptr || !*facts_.native_code) return {};
    return (*facts_.native_code)->of(k_package);
  }

  [[nodiscard]] std::string why_not_looked_at() const {
    if (facts_.native_code == nullptr) return "they were not read";
    return *facts_.native_code ? "none of them is known" : facts_.native_code->reason();
  }

  static Fix sdpa_fix() {
    return {
        .run = "",
        .instruction = "ask for attn_implementation=\"sdpa\": there is no official flash-attn wheel for this machine",
        .needs_root = false,
        .changes = "the training configuration",
        .verify = k_verify};
  }

  const PreflightFacts& facts_;
  const facts::Software& software_;
  const facts::Distribution* flash_;
  const facts::Distribution* unsloth_;
  Finding finding_;
};

Finding with_place(Finding finding) {
  finding.where = Where::environment;
  return finding;
}

}  // namespace

Finding check_g02_flash_attention(const PreflightFacts& facts) {
  if (facts.software == nullptr) return with_place(skipped("G2", "installed packages were not looked at"));
  const facts::Software& software = *facts.software;
  if (!software.environments)
    return with_place(skipped("G2", "the Python environment: " + software.environments.reason()));
  const facts::PythonEnvironment* const environment = software.environment();
  if (environment == nullptr) return with_place(not_applicable("G2", "there is no Python here"));
  const facts::Distribution* const flash = environment->find("flash-attn");
  if (flash == nullptr && !torch_version(*environment))
    return with_place(software.declared ? skipped("G2", "neither torch nor flash-attn is in the list")
                                        : not_applicable("G2", "no torch in " + environment->prefix));
  return Judgement(facts, flash, environment->find("unsloth")).result();
}

}  // namespace sparkops::verdicts
