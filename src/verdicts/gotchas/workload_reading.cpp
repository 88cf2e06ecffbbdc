#include "verdicts/gotchas/workload_reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

constexpr std::size_t k_shown = 20;
constexpr std::size_t k_longest = 200;

}  // namespace

std::vector<Evidence> reading_evidence(const facts::Workload& workload) {
  std::vector<Evidence> evidence;
  if (!workload.files.empty()) {
    std::vector<std::string> files;
    for (std::size_t i = 0; i < std::min(k_shown, workload.files.size()); ++i)
      files.push_back(printable(workload.files[i], k_longest));
    std::string text = "read: " + join(files, ", ");
    if (workload.files.size() > k_shown) text += fmt::format(" and {} more", workload.files.size() - k_shown);
    evidence.push_back({std::move(text), {Origin::read, {}}});
  }
  for (std::size_t i = 0; i < std::min(k_shown, workload.not_understood.size()); ++i)
    evidence.push_back({"not read: " + printable(workload.not_understood[i], k_longest), {Origin::read, {}}});
  if (workload.not_understood.size() > k_shown)
    evidence.push_back(
        {fmt::format("not read: {} more", workload.not_understood.size() - k_shown), {Origin::read, {}}});
  return evidence;
}

std::optional<std::string> unknown_program(const facts::Workload& workload) {
  const bool all_other = std::all_of(workload.launches.begin(), workload.launches.end(),
                                     [](const auto& launch) { return launch.role == facts::LaunchRole::other; });
  if (workload.launches.empty() || !all_other) return std::nullopt;
  return fmt::format("{} is not known to sparkops as a server or trainer",
                     printable(workload.launches.front().name, k_longest));
}

}  // namespace sparkops::verdicts
