#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/software/cuda_problems.h"
#include "verdicts/software/library_problems.h"
#include "verdicts/software/no_gpu.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

namespace {

Finding with_place(Finding finding) {
  finding.where = Where::environment;
  return finding;
}

/// Containers that hold a process which matters to a job: where the packages are, if not here.
std::vector<std::string> running_containers(const facts::Machine& machine) {
  std::set<std::string> names;
  constexpr std::size_t k_short_id = 12;
  if (machine.processes)
    for (const facts::Process& process : machine.processes->processes)
      if (process.container) names.insert(printable(process.container->substr(0, k_short_id), 60));
  return {names.begin(), names.end()};
}

/// No torch here: nothing to check, unless the work is in a container.
Finding without_torch(const PreflightFacts& facts, const std::string& why) {
  if (facts.software->declared) return with_place(skipped("G1", "torch is not in the list"));
  const auto containers = running_containers(facts.machine);
  if (containers.empty()) return with_place(not_applicable("G1", why));
  Finding finding =
      with_place(skipped("G1", fmt::format("{}, but containers are running: {}", why, join(containers, ", "))));
  finding.fixes.push_back({.run = "sudo sparkops preflight --container " + containers.front(),
                           .instruction = "looks into the container from here; the same program works inside it too",
                           .needs_root = true,
                           .changes = "nothing",
                           .verify = ""});
  return finding;
}

class Judgement {
 public:
  Judgement(const PreflightFacts& facts, CudaBuild torch)
      : facts_(facts), software_(*facts.software), torch_(std::move(torch)) {
    finding_.id = "G1";
    finding_.where = Where::environment;
  }

  Finding result() {
    std::vector<PackageProblem> problems = all_problems();
    describe();
    for (const PackageProblem& problem : problems) add(problem);
    if (!software_.declared)
      for (Evidence& evidence : no_gpu_hypotheses(facts_, torch_)) finding_.evidence.push_back(std::move(evidence));
    std::erase_if(problems, [](const PackageProblem& problem) { return problem.status == Status::info; });
    if (!problems.empty()) {
      finding_.status = problems.front().status;
      finding_.headline = problems.front().headline;
      if (problems.size() > 1) finding_.headline += fmt::format("; and {} more (--verbose)", problems.size() - 1);
      return finding_;
    }
    if (torch_.kind == CudaBuild::Kind::unknown) return undecided();
    if (!software_.declared && (native() == nullptr)) return libraries_unseen();
    finding_.status = Status::pass;
    finding_.headline = headline_of_pass();
    return finding_;
  }

 private:
  [[nodiscard]] const facts::NativeCode* native() const {
    return facts_.native_code != nullptr && *facts_.native_code ? &**facts_.native_code : nullptr;
  }

  /// Failures first; what the libraries say before what is only published of their wheels.
  std::vector<PackageProblem> all_problems() {
    std::vector<PackageProblem> problems;
    const auto take = [&](std::vector<PackageProblem> more) {
      std::move(more.begin(), more.end(), std::back_inserter(problems));
    };
    const Known<int> driver =
        facts_.machine.gpus ? facts_.machine.gpus->cuda_version : Known<int>(facts_.machine.gpus.as_unknown());
    if (native() != nullptr) {
      take(library_problems(software_, *native(), driver));
      take(leftover_runtimes(*native(), torch_));
    }
    take(cuda_problems(software_, torch_, facts_.knowledge));
    if (!software_.declared) {
      take(driver_problems(torch_, driver));
      take(visibility_problems(software_, facts_.machine.gpus));
    }
    std::stable_sort(problems.begin(), problems.end(), [](const PackageProblem& a, const PackageProblem& b) {
      return a.status == Status::fail && b.status != Status::fail;
    });
    return problems;
  }

  Finding libraries_unseen() {
    finding_.status = Status::skip;
    finding_.headline =
        fmt::format("{}, but its libraries could not be looked at: {}", headline_of_pass(),
                    facts_.native_code == nullptr ? "they were not read" : facts_.native_code->reason());
    return finding_;
  }

  void describe() {
    const facts::PythonEnvironment& environment = *software_.environment();
    finding_.evidence.push_back(
        {fmt::format("torch {} in {} ({})", printable(torch_version(environment).value_or(""), 60), environment.prefix,
                     environment.found_by),
         {Origin::read, {}}});
    if (!torch_.how.empty()) finding_.evidence.push_back({torch_.how, torch_.provenance});
    if (native() == nullptr) return;
    finding_.evidence.push_back(
        {fmt::format("{} libraries looked at", native()->libraries.size()), {Origin::read, {}}});
    constexpr std::size_t k_most = 5;
    for (std::size_t i = 0; i < std::min(native()->could_not.size(), k_most); ++i)
      finding_.evidence.push_back({"not read: " + printable(native()->could_not[i], 200), {Origin::read, {}}});
  }

  void add(const PackageProblem& problem) {
    finding_.evidence.push_back({problem.headline, {Origin::derived, {}}});
    finding_.evidence.insert(finding_.evidence.end(), problem.evidence.begin(), problem.evidence.end());
    finding_.fixes.insert(finding_.fixes.end(), problem.fixes.begin(), problem.fixes.end());
    finding_.sources.insert(finding_.sources.end(), problem.sources.begin(), problem.sources.end());
  }

  Finding undecided() {
    finding_.status = Status::skip;
    finding_.headline = fmt::format("for which CUDA torch {} is built cannot be told from {}",
                                    printable(torch_version(*software_.environment()).value_or(""), 60),
                                    software_.declared ? "the list" : "its files");
    return finding_;
  }

  [[nodiscard]] std::string headline_of_pass() const {
    const std::string version = printable(torch_version(*software_.environment()).value_or(""), 60);
    const std::string cuda = torch_.version && torch_.version->minor > 0 ? to_string(*torch_.version)
                             : torch_.version                            ? std::to_string(torch_.version->major)
                                                                         : "unknown";
    return torch_.is_ngc ? fmt::format("torch {} is NVIDIA's own build", version)
                         : fmt::format("torch {} is built for CUDA {}, and so is what stands beside it", version, cuda);
  }

  const PreflightFacts& facts_;
  const facts::Software& software_;
  CudaBuild torch_;
  Finding finding_;
};

}  // namespace

Finding check_g01_cuda_abi(const PreflightFacts& facts) {
  if (facts.software == nullptr) return with_place(skipped("G1", "installed packages were not looked at"));
  const facts::Software& software = *facts.software;
  if (!software.environments)
    return with_place(skipped("G1", "the Python environment: " + software.environments.reason()));
  if (software.environment() == nullptr) return without_torch(facts, "there is no Python here");
  auto torch = torch_build(software, facts.knowledge);
  if (!torch)
    return without_torch(
        facts, fmt::format("no torch in {} ({})", software.environment()->prefix, software.environment()->found_by));
  return Judgement(facts, std::move(*torch)).result();
}

}  // namespace sparkops::verdicts
