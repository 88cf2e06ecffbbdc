#include <fmt/format.h>

#include "base/text.h"
#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_drift_not_compared = "installed packages are not compared with the stack table by this version";

Finding judge_images(const PreflightFacts& facts) {
  Finding finding;
  finding.id = "G9";
  finding.where = Where::workload;
  std::vector<std::string> images;
  std::vector<std::string> bare;
  for (const facts::Launch& launch : facts.workload->launches) {
    const std::string name = launch.name.empty() ? launch.where : launch.name;
    if (launch.image)
      images.push_back(name + ": " + *launch.image);
    else
      bare.push_back(name);
  }
  for (const std::string& image : images) finding.evidence.push_back({printable(image, 200), {Origin::read, {}}});
  for (const std::string& name : bare)
    finding.evidence.push_back({printable(name, 200) + ": no image named", {Origin::read, {}}});
  if (images.empty()) return not_applicable("G9", "the workload names no container image");
  finding.status = Status::info;
  finding.headline = fmt::format("runs in {}; {}", printable(images.front(), 120), k_drift_not_compared);
  return finding;
}

}  // namespace

Finding check_g09_container_first(const PreflightFacts& facts) {
  if (facts.judged == JudgedPlatform::gb10) {
    if (facts.workload == nullptr) return not_applicable("G9", "no workload");
    return judge_images(facts);
  }
  if (!facts.machine.container) return skipped("G9", "container: " + facts.machine.container.reason());
  const facts::Container& container = *facts.machine.container;
  Finding finding;
  finding.id = "G9";
  finding.where = Where::environment;
  for (const std::string& sign : container.signs) finding.evidence.push_back({sign, {Origin::read, {}}});
  finding.evidence.push_back({k_drift_not_compared, {Origin::read, {}}});
  if (container.cuda_version)
    finding.evidence.push_back({"CUDA of the image: " + *container.cuda_version, container.cuda_version.provenance()});

  if (!container.inside.value_or(false)) {
    finding.status = Status::info;
    finding.headline = "not known to run in a container; packages are not compared by this version";
    if (!container.inside)
      finding.evidence.push_back({"container: unknown (" + container.inside.reason() + ")", {Origin::read, {}}});
    finding.fixes.push_back({.run = "sparkops explain G9",
                             .instruction = "container first: the known images and flags",
                             .needs_root = false,
                             .changes = "",
                             .verify = ""});
    return finding;
  }
  finding.status = container.image ? Status::pass : Status::info;
  finding.headline = fmt::format("inside {} ({})", container.image.value_or("a container, image unknown"),
                                 container.runtime.value_or("runtime unknown"));
  return finding;
}

}  // namespace sparkops::verdicts
