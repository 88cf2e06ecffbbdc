#include "verdicts/software/package_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "facts/software/version.h"
#include "verdicts/software/repair.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_verify = "sparkops preflight --only G9";
constexpr const char* k_system_packages = "/usr/lib/python3/dist-packages";
constexpr std::size_t k_shown_in_headline = 3;

Evidence read_evidence(std::string text) {
  return {std::move(text), {Origin::read, {}}};
}

std::string first_ones(const std::vector<std::string>& texts) {
  const std::vector<std::string> shown(
      texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), k_shown_in_headline)));
  std::string text = join(shown, ", ");
  if (texts.size() > shown.size()) text += fmt::format(" and {} more", texts.size() - shown.size());
  return text;
}

Fix environment_fix(std::string run, std::string instruction) {
  return {.run = std::move(run),
          .instruction = std::move(instruction),
          .needs_root = false,
          .changes = "the Python environment",
          .verify = k_verify};
}

std::string described(const facts::Distribution& distribution) {
  return printable(distribution.name + " " + distribution.version.value_or("(version unknown)"), 120);
}

/// The CUDA major that a package is tied to by its name or version.
std::optional<int> cuda_major_of(const facts::Distribution& distribution, const knowledge::Tables& tables) {
  if (const auto major = cuda_major_of_library_package(distribution)) return major;
  for (const auto& [part, major] :
       std::to_array<std::pair<std::string_view, int>>({{"cuda12", 12}, {"cuda11", 11}, {"cuda13", 13}}))
    if (contains(distribution.key, part)) return major;
  if (distribution.key == "torch" || distribution.key.starts_with("nvidia-")) return std::nullopt;
  const CudaBuild build = wheel_build(distribution, tables);
  return build.kind == CudaBuild::Kind::cuda && build.version && !build.is_ngc ? std::optional(build.version->major)
                                                                               : std::nullopt;
}

/// Packages that are installed without their requirements on purpose (the reference order of the stack table).
bool is_meant_without_dependencies(const std::string& key) {
  static const std::set<std::string, std::less<>> k_names{"unsloth", "unsloth-zoo", "bitsandbytes"};
  return k_names.contains(key);
}

/// Whether an installed version meets a requirement. NVIDIA's pre-release builds count as the release they become.
std::optional<bool> meets(const std::string& version, const std::string& specifiers) {
  auto parsed = facts::parse_version(version);
  const auto conditions = facts::VersionSpecifiers::parse(specifiers);
  if (!parsed || !conditions) return std::nullopt;
  return conditions->contains(is_ngc_version(version) ? parsed->base() : *parsed);
}

}  // namespace

std::vector<PackageProblem> two_cuda_majors(const facts::Software& software, const knowledge::Tables& tables) {
  const facts::PythonEnvironment& environment = *software.environment();
  std::map<int, std::vector<std::string>> by_major;
  if (const auto torch = torch_build(software, tables); torch && torch->version)
    by_major[torch->version->major].push_back("torch " + torch_version(environment).value_or(""));
  for (const facts::Distribution& distribution : environment.distributions)
    if (const auto major = cuda_major_of(distribution, tables)) by_major[*major].push_back(described(distribution));
  if (by_major.size() < 2) return {};
  PackageProblem problem;
  std::vector<std::string> parts;
  for (const auto& [major, names] : by_major) {
    parts.push_back(fmt::format("CUDA {}: {}", major, first_ones(names)));
    for (const std::string& name : names)
      problem.evidence.push_back(read_evidence(fmt::format("CUDA {}: {}", major, name)));
  }
  problem.headline = "packages of two CUDA majors in one environment (" + join(parts, "; ") + ")";
  std::vector<std::string> libraries_only;
  for (const facts::Distribution& distribution : environment.distributions)
    if (cuda_major_of_library_package(distribution) == by_major.begin()->first)
      libraries_only.push_back(distribution.key);
  const bool only_libraries = libraries_only.size() == by_major.begin()->second.size();
  problem.fixes.push_back(environment_fix(only_libraries ? uninstall_command(software, libraries_only) : "",
                                          only_libraries ? "they are left over from an older torch" + caution(software)
                                                         : "replace what is built for the older CUDA, or use a "
                                                           "container that was built as one piece: sparkops setup"));
  return {problem};
}

std::vector<PackageProblem> shadowed_packages(const facts::Software& software) {
  const facts::PythonEnvironment& environment = *software.environment();
  std::map<std::string, const facts::Distribution*> imported;
  std::vector<PackageProblem> problems;
  std::vector<std::string> shadows, keys_of_user;
  PackageProblem others;
  std::set<std::string> user_sites;
  for (const facts::SiteDirectory& site : environment.sites)
    if (site.kind == facts::SiteDirectory::Kind::user) user_sites.insert(site.path);
  for (const facts::Distribution& distribution : environment.distributions) {
    const auto [known, is_first] = imported.emplace(distribution.key, &distribution);
    if (is_first || known->second->version.value_or("") == distribution.version.value_or("")) continue;
    const facts::Distribution& first = *known->second;
    const std::string where = software.declared ? first.metadata : first.site;
    const std::string where_not = software.declared ? distribution.metadata : distribution.site;
    const std::string told = fmt::format("{} from {} hides {} in {}", described(first), where,
                                         distribution.version.value_or("another"), where_not);
    if (distribution.key == "torch") {
      PackageProblem problem;
      problem.headline = "two copies of torch: " + told;
      problem.evidence.push_back(read_evidence(told));
      const bool users = user_sites.contains(first.site);
      problem.fixes.push_back(
          environment_fix(users ? "export PYTHONNOUSERSITE=1" : uninstall_command(software, {"torch"}),
                          users ? "or take the copy below ~/.local away with pip uninstall torch"
                                : "takes away the one that is imported; extensions built against the "
                                  "other one fit again"));
      problems.push_back(std::move(problem));
      continue;
    }
    others.evidence.push_back(read_evidence(told));
    if (user_sites.contains(first.site)) keys_of_user.push_back(distribution.key);
    shadows.push_back(described(first));
  }
  if (shadows.empty()) return problems;
  // Ubuntu's own packages are older everywhere; only the user's own directory surprises.
  others.status = keys_of_user.empty() ? Status::info : Status::warn;
  others.headline =
      keys_of_user.empty()
          ? fmt::format("{} packages are installed twice: {}", shadows.size(), first_ones(shadows))
          : fmt::format("packages below ~/.local hide those of the environment: {}", first_ones(keys_of_user));
  if (!keys_of_user.empty())
    others.fixes.push_back(environment_fix("export PYTHONNOUSERSITE=1", "leaves ~/.local out of the path"));
  problems.push_back(std::move(others));
  return problems;
}

std::vector<PackageProblem> unsatisfied_requirements(const facts::Software& software, const std::string& architecture) {
  const facts::PythonEnvironment& environment = *software.environment();
  const auto markers = facts::marker_environment(architecture, environment.python_version.value_or(""));
  PackageProblem problem, meant;
  std::vector<std::string> texts, wanted;
  std::set<std::string> seen;
  for (const facts::Distribution& distribution : environment.distributions) {
    // What the system's own packages want is the system's business; a hidden copy wants nothing.
    if (distribution.site == k_system_packages || !seen.insert(distribution.key).second) continue;
    for (const facts::Requirement& requirement : distribution.requirements) {
      if (facts::evaluate_marker(requirement.marker, markers) != facts::MarkerResult::holds) continue;
      const facts::Distribution* const installed = environment.find(requirement.name);
      const bool missing = installed == nullptr;
      const std::string have = missing ? "not installed" : installed->version.value_or("");
      if (!missing && (have.empty() || meets(have, requirement.specifiers).value_or(true))) continue;
      const std::string text = fmt::format("{} wants {}{} ({})", printable(distribution.name, 60), requirement.name,
                                           printable(requirement.specifiers, 60), printable(have, 60));
      if (is_meant_without_dependencies(distribution.key)) {
        meant.evidence.push_back(read_evidence(text));
        continue;
      }
      problem.evidence.push_back(read_evidence(text));
      texts.push_back(text);
      wanted.push_back(requirement.name + requirement.specifiers);
    }
  }
  std::vector<PackageProblem> problems;
  if (!texts.empty()) {
    problem.headline =
        fmt::format("{} of what installed packages require is not met: {}", texts.size(), first_ones(texts));
    problem.fixes.push_back(
        environment_fix(install_command(software, {wanted.front()}, WithDependencies::no),
                        (texts.size() > 1 ? "and so on for each of them" : "--no-deps keeps the torch that is there") +
                            caution(software)));
    problems.push_back(std::move(problem));
  }
  if (!meant.evidence.empty()) {
    meant.status = Status::info;
    meant.headline = "packages that are meant to be installed with --no-deps";
    problems.push_back(std::move(meant));
  }
  return problems;
}

std::vector<PackageProblem> replaced_image_torch(const facts::Software& software,
                                                 const Known<facts::Container>& container) {
  const facts::PythonEnvironment& environment = *software.environment();
  if (software.declared) return {};
  const auto version = torch_version(environment);
  std::vector<PackageProblem> problems;
  const bool image_has_torch = container && container->ngc_product && *container->ngc_product == "PyTorch";
  if (image_has_torch && version && !version->empty() && !is_ngc_version(*version)) {
    PackageProblem problem;
    const std::string image = container->image.value_or("an NVIDIA image");
    problem.headline = fmt::format("torch {} has replaced the one of the image {}", printable(*version, 60), image);
    problem.evidence.push_back(read_evidence("the image's own build carries .nv in its version"));
    problem.fixes.push_back({.run = "",
                             .instruction = "start the image anew and install further packages with --no-deps or with "
                                            "PIP_CONSTRAINT=/etc/pip/constraint.txt, so that torch stays",
                             .needs_root = false,
                             .changes = "the container",
                             .verify = k_verify});
    problems.push_back(std::move(problem));
  }
  if (!version && !environment.torch_elsewhere.empty()) {
    const facts::TorchBuild& elsewhere = environment.torch_elsewhere.front();
    PackageProblem problem;
    problem.headline = fmt::format("{} (Python {}) does not see the torch in {}", environment.prefix,
                                   environment.python_version.value_or("unknown"), elsewhere.directory);
    for (const facts::TorchBuild& build : environment.torch_elsewhere)
      problem.evidence.push_back(
          read_evidence(fmt::format("torch {} in {}", build.version.value_or("of unknown version"), build.directory)));
    problem.fixes.push_back(
        {.run = "python3 -m venv --system-site-packages " + shell_quoted({environment.prefix + "-with-torch"}),
         .instruction = "made with the Python that torch belongs to; an environment without "
                        "--system-site-packages or of another Python never sees it",
         .needs_root = false,
         .changes = "makes a new environment",
         .verify = "sparkops preflight --only G1,G9 --env " + shell_quoted({environment.prefix + "-with-torch"})});
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<PackageProblem> package_problems(const facts::Software& software, const knowledge::Tables& tables,
                                             const Known<facts::Container>& container,
                                             const std::string& architecture) {
  std::vector<PackageProblem> problems;
  const auto add = [&](std::vector<PackageProblem> more) {
    std::move(more.begin(), more.end(), std::back_inserter(problems));
  };
  add(known_combinations(software, tables));
  add(replaced_image_torch(software, container));
  add(shadowed_packages(software));
  add(two_cuda_majors(software, tables));
  add(stack_drift(software, tables));
  add(unsatisfied_requirements(software, architecture));
  const auto rank = [](Status status) { return status == Status::fail ? 0 : status == Status::warn ? 1 : 2; };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const PackageProblem& a, const PackageProblem& b) { return rank(a.status) < rank(b.status); });
  return problems;
}

}  // namespace sparkops::verdicts
