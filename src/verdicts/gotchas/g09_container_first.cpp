#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/software/package_problems.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

namespace {

/// The images that the launches of a workload name; a file alone says nothing about packages.
Finding judge_images(const PreflightFacts& facts) {
  Finding finding;
  finding.id = "G9";
  finding.where = Where::workload;
  std::vector<std::string> images;
  for (const facts::Launch& launch : facts.workload->launches) {
    const std::string name = launch.name.empty() ? launch.where : launch.name;
    const std::string image = launch.image ? *launch.image : "no image named";
    if (launch.image) images.push_back(name + ": " + image);
    finding.evidence.push_back({printable(name + ": " + image, 200), {Origin::read, {}}});
  }
  if (images.empty()) return not_applicable("G9", "the workload names no container image");
  finding.status = Status::info;
  finding.headline = fmt::format("runs in {}; what is inside it is seen by --image or in the container",
                                 printable(images.front(), 120));
  return finding;
}

/// The newest date of the stack table.
std::string table_date(const knowledge::Tables& tables) {
  std::string date;
  for (const auto& row : tables.stack()) date = std::max(date, row.last_verified);
  return date;
}

class Judgement {
 public:
  explicit Judgement(const PreflightFacts& facts) : facts_(facts), software_(*facts.software) {
    finding_.id = "G9";
    finding_.where = Where::environment;
  }

  Finding result() {
    describe_container();
    if (!software_.environments) return unreadable_environment();
    if (software_.environment() == nullptr) return without_environment("there is no Python here");
    describe_environment();
    const auto problems = package_problems(software_, facts_.knowledge, facts_.machine.container, architecture());
    for (const PackageProblem& problem : problems) add(problem);
    const auto worst = problems.empty() || problems.front().status == Status::info ? problems.end() : problems.begin();
    if (worst != problems.end()) {
      finding_.status = worst->status;
      finding_.headline = worst->headline;
      const auto more = std::count_if(problems.begin(), problems.end(),
                                      [](const PackageProblem& problem) { return problem.status != Status::info; });
      if (more > 1) finding_.headline += fmt::format("; and {} more (--verbose)", more - 1);
      return finding_;
    }
    return content(problems);
  }

 private:
  [[nodiscard]] std::string architecture() const {
    if (software_.declared || facts_.judged == JudgedPlatform::gb10) return facts_.knowledge.gb10().architecture;
    return facts_.machine.identity ? facts_.machine.identity->architecture.value_or("") : "";
  }

  [[nodiscard]] bool is_inside() const {
    return !software_.declared && facts_.machine.container && facts_.machine.container->inside.value_or(false);
  }

  [[nodiscard]] std::string container_words() const {
    const facts::Container& container = *facts_.machine.container;
    return fmt::format("inside {} ({})", container.image.value_or("a container, image unknown"),
                       container.runtime.value_or("runtime unknown"));
  }

  void describe_container() {
    if (software_.declared) return;
    if (!facts_.machine.container) {
      finding_.evidence.push_back(
          {"container: unknown (" + facts_.machine.container.reason() + ")", {Origin::read, {}}});
      return;
    }
    const facts::Container& container = *facts_.machine.container;
    for (const std::string& sign : container.signs) finding_.evidence.push_back({sign, {Origin::read, {}}});
    if (container.cuda_version)
      finding_.evidence.push_back(
          {"CUDA of the image: " + *container.cuda_version, container.cuda_version.provenance()});
    if (!container.inside)
      finding_.evidence.push_back({"container: unknown (" + container.inside.reason() + ")", {Origin::read, {}}});
  }

  void describe_environment() {
    const facts::PythonEnvironment& environment = *software_.environment();
    finding_.evidence.push_back(
        {fmt::format("{} ({}), Python {}, {} packages", environment.prefix, environment.found_by,
                     environment.python_version.value_or("unknown"), environment.distributions.size()),
         {Origin::read, {}}});
    constexpr std::size_t k_most = 5;
    for (std::size_t i = 0; i < std::min(environment.could_not.size(), k_most); ++i)
      finding_.evidence.push_back({"not read: " + printable(environment.could_not[i], 200), {Origin::read, {}}});
  }

  void add(const PackageProblem& problem) {
    finding_.evidence.push_back({problem.headline, {Origin::derived, {}}});
    finding_.evidence.insert(finding_.evidence.end(), problem.evidence.begin(), problem.evidence.end());
    finding_.fixes.insert(finding_.fixes.end(), problem.fixes.begin(), problem.fixes.end());
    finding_.sources.insert(finding_.sources.end(), problem.sources.begin(), problem.sources.end());
  }

  Finding unreadable_environment() {
    finding_.status = Status::skip;
    finding_.headline = "the Python environment: " + software_.environments.reason();
    return finding_;
  }

  Finding without_environment(const std::string& why) {
    finding_.status = is_inside() && facts_.machine.container->image ? Status::pass : Status::info;
    finding_.headline = is_inside() ? container_words() + "; " + why : "not known to run in a container; " + why;
    if (!is_inside()) finding_.fixes.push_back(setup_fix());
    return finding_;
  }

  /// Nothing to complain about: inside a known image that is a pass, elsewhere a reading.
  Finding content(const std::vector<PackageProblem>& problems) {
    const facts::PythonEnvironment& environment = *software_.environment();
    const bool has_torch = torch_version(environment).has_value();
    const std::string compared =
        has_torch ? fmt::format("torch {} and what stands beside it contradict nothing in the stack table of {}",
                                printable(torch_version(environment).value_or(""), 60), table_date(facts_.knowledge))
                  : fmt::format("no torch among {} packages", environment.distributions.size());
    const std::string newer = problems.empty() ? "" : "; " + problems.front().headline;
    const bool ngc_list = software_.declared && is_ngc_version(torch_version(environment).value_or(""));
    if (is_inside() || ngc_list) {
      const bool named = ngc_list || facts_.machine.container->image.known();
      finding_.status = named ? Status::pass : Status::info;
      finding_.headline = (ngc_list ? "packages of an NVIDIA image" : container_words()) + "; " + compared + newer;
      return finding_;
    }
    finding_.status = Status::info;
    finding_.headline = (software_.declared ? "" : "not known to run in a container; ") + compared + newer;
    if (!software_.declared) finding_.fixes.push_back(setup_fix());
    return finding_;
  }

  static Fix setup_fix() {
    return {.run = "sparkops setup",
            .instruction = "container first: the known images, their flags, and the order for bare pip",
            .needs_root = false,
            .changes = "nothing",
            .verify = ""};
  }

  const PreflightFacts& facts_;
  const facts::Software& software_;
  Finding finding_;
};

}  // namespace

Finding check_g09_container_first(const PreflightFacts& facts) {
  if (facts.software != nullptr) return Judgement(facts).result();
  if (facts.judged == JudgedPlatform::gb10)
    return facts.workload != nullptr ? judge_images(facts) : not_applicable("G9", "no workload");
  return skipped("G9", "installed packages were not looked at");
}

}  // namespace sparkops::verdicts
