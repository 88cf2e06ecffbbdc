#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "facts/software/version.h"
#include "verdicts/software/package_problems.h"
#include "verdicts/software/repair.h"
#include "verdicts/software/torch_build.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_verify = "sparkops preflight --only G9";
constexpr std::size_t k_shown_in_headline = 4;

/// The package of a name; Triton is called pytorch-triton where PyTorch built it.
const facts::Distribution* package_of(const facts::PythonEnvironment& environment, std::string_view name) {
  const std::string key = facts::normalized_name(name);
  const facts::Distribution* const found = environment.find(key);
  return found == nullptr && key == "triton" ? environment.find("pytorch-triton") : found;
}

/// Whether torch is NVIDIA's own build: then its companions are the image's business.
bool is_ngc_environment(const facts::PythonEnvironment& environment) {
  return is_ngc_version(torch_version(environment).value_or(""));
}

bool holds(const facts::PythonEnvironment& environment, const std::string& condition,
           std::map<std::string, std::string>& versions) {
  const auto requirement = facts::parse_requirement(condition);
  if (!requirement) return false;
  const facts::Distribution* const package = package_of(environment, requirement->name);
  if (package == nullptr || !package->version) return false;
  versions[requirement->name] = *package->version;
  return facts::version_meets(*package->version, requirement->specifiers).value_or(false);
}

std::string filled_in(std::string text, const std::map<std::string, std::string>& versions) {
  for (const auto& [name, version] : versions)
    if (const std::size_t at = text.find("{" + name + "}"); at != std::string::npos)
      text.replace(at, name.size() + 2, printable(version, 60));
  return text;
}

bool is_cured(const knowledge::Combination& combination, const facts::Software& software) {
  if (combination.unless_ngc && is_ngc_environment(*software.environment())) return true;
  if (combination.unless_variable.empty() || !software.variables) return false;
  const std::string* const value = software.variables->find(combination.unless_variable);
  return value != nullptr && !value->empty();
}

/// How one package stands to its row of the table.
enum class Drift { none, breaks_condition, pre_release, older, newer };

Drift drift_of(const std::string& installed, const knowledge::StackPackage& row) {
  const auto version = facts::parse_version(installed);
  if (!version || is_ngc_version(installed)) return Drift::none;
  // A condition is about releases: 0.17.0.dev of today is not older than 0.16.
  if (!row.constraint.empty()) {
    const auto met = facts::version_meets(installed, row.constraint);
    if (met && !*met) return Drift::breaks_condition;
  }
  const bool built_from_source = !version->local.empty() && version->local.starts_with("git");
  if (version->dev || (version->pre && !built_from_source)) return Drift::pre_release;
  const auto known_good = facts::parse_version(row.version);
  if (!known_good) return Drift::none;
  const auto head = [](const facts::Version& v) {
    return std::pair{v.release.front(), v.release.size() > 1 ? v.release[1] : 0};
  };
  if (head(*version) > head(*known_good)) return Drift::newer;
  const bool is_older = head(*version) < head(*known_good) && row.constraint.empty();
  return is_older ? Drift::older : Drift::none;
}

std::string words_of(Drift drift, const knowledge::StackPackage& row) {
  switch (drift) {
    case Drift::breaks_condition: return "must be " + row.constraint;
    case Drift::pre_release: return "a pre-release; known good is " + row.version;
    case Drift::older: return "known good is " + row.version;
    case Drift::newer: return "newer than " + row.version;
    case Drift::none: break;
  }
  return "";
}

/// What of the table is about this machine or its images, not about a package.
bool is_package_row(const knowledge::StackPackage& row) {
  return row.name != "cuda" && row.name != "nvidia-driver" && row.name.find('/') == std::string::npos;
}

/// Packages that follow torch's CUDA: their repair is that of torch, not a number.
bool follows_torch(std::string_view name) {
  return name == "torch" || name == "triton" || name == "xformers" || name == "vllm";
}

/// What repairs a drift in one command. Torch and what is tied to it is installed along with its CUDA libraries, all
/// others without their requirements, so that they cannot replace torch.
Fix drift_fix(const facts::Software& software, const std::vector<const knowledge::StackPackage*>& rows) {
  std::vector<std::string> plain, tied;
  for (const knowledge::StackPackage* const row : rows) {
    if (!facts::parse_version(row->version)) continue;
    (follows_torch(row->name) ? tied : plain).push_back(row->name + "==" + row->version);
  }
  const bool all_plain = tied.empty();
  return {.run = all_plain ? install_command(software, plain, WithDependencies::no)
                           : install_command(software, tied, WithDependencies::yes,
                                             tied.size() == 1 && tied[0].starts_with("torch==") ? k_cuda_13_index : ""),
          .instruction = all_plain ? "--no-deps keeps the torch that is there" + caution(software)
                         : plain.empty()
                             ? "the rest of the environment has to fit it: look again afterwards" + caution(software)
                             : "then, with --no-deps: " + join(plain, " ") + caution(software),
          .needs_root = false,
          .changes = "the Python environment",
          .verify = k_verify};
}

}  // namespace

std::vector<PackageProblem> known_combinations(const facts::Software& software, const knowledge::Tables& tables) {
  std::vector<PackageProblem> problems;
  for (const knowledge::Combination& combination : tables.combinations()) {
    std::map<std::string, std::string> versions;
    const bool all = std::all_of(combination.when.begin(), combination.when.end(), [&](const std::string& condition) {
      return holds(*software.environment(), condition, versions);
    });
    if (!all || is_cured(combination, software)) continue;
    PackageProblem problem;
    problem.status = combination.status == "fail" ? Status::fail : Status::warn;
    problem.headline = filled_in(combination.headline, versions);
    for (const auto& [name, version] : versions)
      problem.evidence.push_back({fmt::format("{} {}", name, printable(version, 60)), {Origin::read, {}}});
    problem.evidence.push_back(
        {"known not to go together: " + join(combination.when, ", "), {Origin::knowledge, combination.last_verified}});
    if (!combination.unless_variable.empty())
      problem.fixes.push_back({.run = "export " + combination.unless_variable + "=/usr/local/cuda/bin/ptxas",
                               .instruction = "in the shell that starts the job",
                               .needs_root = false,
                               .changes = "nothing on the disk",
                               .verify = k_verify});
    if (!combination.install.empty())
      problem.fixes.push_back({.run = install_command(software, combination.install, WithDependencies::no),
                               .instruction = "--no-deps keeps the torch that is there" + caution(software),
                               .needs_root = false,
                               .changes = "the Python environment",
                               .verify = k_verify});
    for (const auto& source : combination.sources) problem.sources.push_back(source.url);
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<PackageProblem> stack_drift(const facts::Software& software, const knowledge::Tables& tables) {
  const facts::PythonEnvironment& environment = *software.environment();
  const bool ngc = is_ngc_environment(environment);
  std::vector<const knowledge::StackPackage*> rows;
  std::vector<std::string> texts;
  std::vector<Evidence> evidence, newer;
  std::string date;
  for (const knowledge::StackPackage& row : tables.stack()) {
    const facts::Distribution* const package = is_package_row(row) ? package_of(environment, row.name) : nullptr;
    if (package == nullptr || !package->version) continue;
    const std::string name = facts::normalized_name(row.name);
    std::string version = *package->version;
    if (name == "torch") version = torch_version(environment).value_or(version);
    if (ngc && follows_torch(name)) continue;
    const Drift drift = drift_of(version, row);
    if (drift == Drift::none) continue;
    const Evidence told{
        fmt::format("{} {}: {} ({})", row.name, printable(version, 60), words_of(drift, row), row.last_verified),
        {Origin::knowledge, row.last_verified}};
    if (drift == Drift::newer) {
      newer.push_back(told);
      continue;
    }
    rows.push_back(&row);
    texts.push_back(fmt::format("{} {} ({})", row.name, printable(version, 40), words_of(drift, row)));
    evidence.push_back(told);
    date = std::max(date, row.last_verified);
  }
  std::vector<PackageProblem> problems;
  if (!rows.empty()) {
    PackageProblem problem;
    const std::vector<std::string> shown(
        texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), k_shown_in_headline)));
    problem.headline =
        fmt::format("differs from what is known to work together ({}): {}{}", date, join(shown, ", "),
                    texts.size() > shown.size() ? fmt::format(" and {} more", texts.size() - shown.size()) : "");
    problem.evidence = std::move(evidence);
    problem.fixes.push_back(drift_fix(software, rows));
    problems.push_back(std::move(problem));
  }
  if (!newer.empty())
    problems.push_back(
        {Status::info,
         fmt::format("{} newer than the stack table",
                     newer.size() == 1 ? "one package is" : fmt::format("{} packages are", newer.size())),
         std::move(newer),
         {},
         {}});
  return problems;
}

}  // namespace sparkops::verdicts
